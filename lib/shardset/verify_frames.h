/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The frames of a .tar.zst as they are read, against what its seek table and its index say of them:
 * both lead readers into the middle of the shard.
 */
#ifndef SHARDSET_VERIFY_FRAMES_H
#define SHARDSET_VERIFY_FRAMES_H

#include <shard/index.h>

#include "os/map.h"
#include "shardset/problems.h"
#include "zstd_seek/seek_table.h"

typedef struct {
    shard_problems *problems;
    const shard_index *index; /* NULL: none */
    uint64_t indexed, frame;  /* frames of the index, and how many of them have been read */
    shard_map map;            /* of the shard, for its seek table */
    fmt_seek_table table;
    const uint8_t *table_bytes; /* NULL: there is none, or it is damaged */
    uint32_t entry;             /* of the seek table; the next one */
    uint64_t stored, tar;       /* where the last frame ended */
} shard_verify_frames;

/* `seekable`: the shard is a file whose end can be looked at first. A struct of zeros is closed. */
void shard_verify_frames_open(shard_verify_frames *f, bool seekable, const shard_index *index,
                              shard_problems *problems);
void shard_verify_frames_close(shard_verify_frames *f);

/* A frame ended: a shard_frame_fn whose context is the shard_verify_frames. */
shard_status shard_verify_frames_next(void *frames, uint64_t stored, uint64_t tar);

/* The shard ended. */
void shard_verify_frames_end(shard_verify_frames *f);

#endif
