/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is packed: one vtable, a file for each kind. Lists (trees, tables) give any sample by
 * number, to several threads at once; streams (archives) give the next one, to one thread at a
 * time.
 */
#ifndef PACK_INPUT_H
#define PACK_INPUT_H

#include <shard/set.h>

#include "core/hash.h"
#include "pack/input/names.h"
#include "pack/sample.h"

typedef struct pack_input pack_input;

typedef struct {
    /* Lists: fill in sample number `i`. */
    shard_status (*get)(const pack_input *input, uint64_t i, pack_sample *out, shard_error *err);
    /*
     * Streams: the next sample; SHARD_END behind the last. Components larger than `memory_max` are
     * in temporary files, the others in memory.
     */
    shard_status (*next)(pack_input *input, pack_sample *out, uint64_t memory_max,
                         shard_error *err);
    /* Hash what the input is: names, not contents. */
    void (*identify)(const pack_input *input, shard_hash *hash);
    /* Lists: typical bytes of the samples from `first` to `last`, told by looking at some; false
     * when memory is short. */
    bool (*typical_size)(const pack_input *input, uint64_t first, uint64_t last, uint64_t *out);
    void (*close)(pack_input *input);
} pack_input_type;

/* Files that are not part of any sample, by reason. */
typedef struct {
    uint64_t no_extension, hidden, reserved, special;
} pack_ignored;

/* Each kind's struct begins with this one. */
struct pack_input {
    const pack_input_type *type;
    uint64_t samples; /* SHARD_UNKNOWN for a stream that was not counted */
    pack_names names;
    pack_ignored ignored;
    fmt_alloc alloc;

    /* Class folders, ascending, where labels come from them; else NULL. Owned by the input's arena.
     */
    const char **class_name;
    size_t classes;

    /* Samples left out before the work begins, for want of a component. */
    shard_set_skip *skips;
    size_t skip_count, skip_capacity;
};

void pack_input_close(pack_input *input); /* NULL allowed */

/* ---- for the kinds ---- */

/* A zeroed struct of `size` bytes with its head filled in. */
shard_status pack_input_new(pack_input **out, size_t size, const pack_input_type *type,
                            const shard_pack_opts *opts, const fmt_alloc *alloc, shard_error *err);

/* Something is left out, for a reason. */
shard_status pack_input_skip(pack_input *input, const char *name, const char *reason,
                             shard_error *err);

/* Fail because nothing of `source` (the first, where there are more) is a sample. */
shard_status pack_input_fail_empty(const pack_input *input, const char *source, shard_error *err);

/* The manifest can name this class: SHARD_EDATA where it is not UTF-8. */
shard_status pack_input_check_class(const char *name, shard_error *err);

/* ---- the kinds ---- */

/* Trees and lists of files. */
shard_status pack_files_open(pack_input **out, const shard_pack_opts *opts, const fmt_alloc *alloc,
                             shard_error *err);
/* Tables, JSONL or CSV. */
shard_status pack_table_open(pack_input **out, const shard_pack_opts *opts, const fmt_alloc *alloc,
                             shard_error *err);
/* Archives; `counted`: how many samples there are must be known, so read their names first. */
shard_status pack_archives_open(pack_input **out, const shard_pack_opts *opts, bool counted,
                                const fmt_alloc *alloc, shard_error *err);

/* Open whichever the options ask for. */
shard_status pack_input_open(pack_input **out, const shard_pack_opts *opts, bool counted,
                             const fmt_alloc *alloc, shard_error *err);

#endif
