/* SPDX-License-Identifier: Apache-2.0 */
/**
 * All of libshard. In the order in which the data flows:
 *
 * - pack.h: files into shards, indexes and a manifest
 * - reader.h: a shard from front to end
 * - index.h: where each sample of a shard lies
 * - set.h: many shards as one numbered row of samples; one sample by key or number
 * - order.h: in which order an epoch visits them
 * - loader.h: batches of decoded samples for a trainer; batch.h: what one looks like
 * - image.h: pixels of one image
 * - state.h: where a trainer stopped
 * - verify.h: every checksum of a set
 *
 * Conventions. Functions that can fail return a shard_status and take a shard_error, which the
 * caller owns and which may be NULL (status.h). Options are structs whose SHARD_..._OPTS_INIT value
 * is the default; NULL stands for it. Objects are opaque, made by ..._open, ended by ..._close,
 * which takes NULL. Text is UTF-8 or whatever bytes a file's name has. The library never writes to
 * the terminal, reads no environment, keeps no global state and ends no process.
 */
#ifndef SHARD_SHARD_H
#define SHARD_SHARD_H

#include <shard/attrs.h>
#include <shard/batch.h>
#include <shard/cancel.h>
#include <shard/codec.h>
#include <shard/cpu.h>
#include <shard/image.h>
#include <shard/index.h>
#include <shard/loader.h>
#include <shard/memory.h>
#include <shard/order.h>
#include <shard/pack.h>
#include <shard/reader.h>
#include <shard/set.h>
#include <shard/state.h>
#include <shard/status.h>
#include <shard/verify.h>
#include <shard/version.h>

#endif
