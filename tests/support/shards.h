/* SPDX-License-Identifier: Apache-2.0 */
/* Shards with indexes in the test's folder, for what stands on them. All die when they fail. */
#ifndef TEST_SHARDS_H
#define TEST_SHARDS_H

#include <shard/set.h>

#include "tar_bytes.h"

/*
 * Write a tar as shard `name` of the test's folder, compressed as that ends: ".zst" in frames that
 * hold 1000 bytes each (and so cut samples apart), ".gz" as one gzip member. Its index stands
 * beside it, unless `indexed` is false.
 */
void test_write_shard(const char *name, const tar_bytes *tar, bool indexed);

/* Make its index anew. */
void test_index_shard(const char *name, bool checksums);

/* A shard of samples "k0000" and so on from number `first`, each of a .cls and a .txt. */
void test_make_shard(const char *name, int first, int count);
void test_add_sample(tar_bytes *tar, int number);

/* Open a set of these files of the test's folder; the list ends with NULL. */
shard_set *test_open_set(const char *const *names, const shard_set_opts *opts);

/* Write manifest `name` of these shards. */
void test_make_manifest(const char *name, const char *const *shards);

/* A set of which there is only a manifest: so many samples of 1 KiB in each of its shards. */
shard_set *test_counted_set(const uint64_t *samples, size_t shards);

#endif
