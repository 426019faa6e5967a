/* SPDX-License-Identifier: Apache-2.0 */
/* One run of shard_pack: what its files share. */
#ifndef PACK_PACKING_H
#define PACK_PACKING_H

#include "pack/digest.h"
#include "pack/engine/engine.h"
#include "pack/journal.h"

typedef struct {
    shard_pack_opts opts;
    shard_pack_summary *summary;
    pack_outs outs;
    pack_input *input;
    pack_plan plan;
    bool *done;
    pack_digest digest; /* of the set */
    pack_journal journal;
    bool has_journal;
    pack_sink sink;
    bool has_sink;
    pack_totals totals;
    fmt_alloc alloc;
    shard_error *err;
} packing;

/* ---- earlier.c: what an earlier run has left ---- */

/*
 * Is all done already? Jobs that are started again rely on it. SHARD_EEXIST when a manifest is
 * there, but of another set.
 */
shard_status pack_earlier_find_complete(packing *p, bool *complete);

/* Open the journal, and plan for what is left to do. Refuses to replace what it did not write. */
shard_status pack_earlier_resume(packing *p);

/* ---- record.c ---- */

/* Write the manifest of all shards in the journal. */
shard_status pack_record_write(packing *p);

#endif
