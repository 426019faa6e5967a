/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PACK_CHECK_H
#define PACK_CHECK_H

#include <shard/pack.h>

#include "core/error.h"
#include "pack/outs.h"

/* Options that contradict each other or are out of range: SHARD_EINVAL. */
shard_status pack_check_opts(const shard_pack_opts *opts, shard_error *err);

/* The same, of options and the names of outputs together. */
shard_status pack_check_outs(const shard_pack_opts *opts, const pack_outs *outs, shard_error *err);

#endif
