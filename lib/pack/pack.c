/* SPDX-License-Identifier: Apache-2.0 */
/* From options to a manifest: open the input, plan, run the threads, and say what was made. */
#include <shard/pack.h>

#include <string.h>

#include "core/opts.h"
#include "pack/check.h"
#include "pack/packing.h"

/* ---- plan ---- */

static const char *first_source(const shard_pack_opts *opts)
{
    if (opts->table)
        return opts->table;
    return opts->files_from ? opts->files_from : opts->sources[0];
}

/* A part of the shards: all of them where there is one part. */
static void divide(pack_plan *plan, const shard_pack_opts *opts)
{
    uint64_t part = opts->parts > 0 ? opts->part - 1 : 0;
    uint64_t parts = opts->parts > 0 ? opts->parts : 1;
    plan->first_shard = part * plan->shards / parts;
    plan->last_shard = (part + 1) * plan->shards / parts;
}

/* A list goes into its shards side by side; a stream, and what is cut by size, one after the other.
 */
static shard_status make_plan(packing *p)
{
    pack_plan *plan = &p->plan;
    bool is_stream = p->input->type->next != NULL, endless = p->outs.count == FMT_PATTERN_ENDLESS;
    if (p->input->samples == 0)
        return pack_input_fail_empty(p->input, first_source(&p->opts), p->err);
    plan->samples = p->input->samples;
    plan->per_shard = p->opts.max_size > 0 ? 0 : p->opts.max_samples;
    plan->rolls = is_stream || p->opts.max_size > 0;
    plan->shards = endless ? 0 : p->outs.count;
    if (endless && plan->per_shard > 0 && plan->samples != SHARD_UNKNOWN)
        plan->shards = (plan->samples + plan->per_shard - 1) / plan->per_shard;
    divide(plan, &p->opts);
    if (plan->shards == 0)
        plan->last_shard = 1; /* at least */
    return SHARD_OK;
}

static shard_status tell_plan(packing *p)
{
    const pack_plan *plan = &p->plan;
    for (uint64_t i = plan->first_shard; p->opts.on_plan && i < plan->last_shard; i++) {
        char name[SHARD_PATH_MAX];
        uint64_t samples = plan->shards == 0
                               ? UINT64_MAX
                               : pack_plan_first(plan, i + 1) - pack_plan_first(plan, i);
        SHARD_TRY(pack_outs_name(&p->outs, i, name, p->err));
        p->opts.on_plan(p->opts.context, name, samples);
    }
    p->summary->samples = plan->samples == SHARD_UNKNOWN ? 0 : plan->samples;
    p->summary->shards = plan->shards == 0 ? 0 : plan->last_shard - plan->first_shard;
    return SHARD_OK;
}

/* ---- the whole ---- */

static void summarise(packing *p)
{
    shard_pack_summary *s = p->summary;
    s->samples = p->totals.samples;
    s->shards = p->sink.shards + s->resumed;
    s->bytes_in = p->totals.bytes_in;
    s->bytes_out = p->sink.bytes_out;
    s->skipped = p->totals.skipped + p->input->skip_count;
    s->renamed = p->totals.renamed;
    s->jpeg_baselined = p->totals.images.baselined;
    s->jpeg_resized = p->totals.images.resized;
    s->jpeg_stripped = p->totals.images.stripped;
    s->images_kept = p->totals.images.kept;
    s->labels_clustered = !p->opts.shuffle && pack_labels_clustered(&p->sink.labels);
}

static void summarise_input(packing *p)
{
    shard_pack_summary *s = p->summary;
    s->ignored_no_extension = p->input->ignored.no_extension;
    s->ignored_hidden = p->input->ignored.hidden;
    s->ignored_reserved = p->input->ignored.reserved;
    s->ignored_special = p->input->ignored.special;
    s->classes = p->input->classes;
}

static shard_status write_shards(packing *p)
{
    SHARD_TRY(pack_sink_init(&p->sink, &p->outs, &p->opts, &p->alloc, p->err));
    p->has_sink = true;
    if (!p->outs.is_stdout)
        SHARD_TRY(pack_earlier_resume(p));
    p->sink.journal = p->has_journal ? &p->journal : NULL;
    shard_status status = pack_engine_run(&p->sink, p->input, &p->plan, &p->totals, p->err);
    summarise(p);
    summarise_input(p);
    if (status != SHARD_OK || p->outs.is_stdout)
        return status;
    SHARD_TRY(pack_record_write(p));
    pack_journal_close(&p->journal, true);
    p->has_journal = false;
    return SHARD_OK;
}

static shard_status run(packing *p)
{
    bool complete;
    SHARD_TRY(pack_check_opts(&p->opts, p->err));
    SHARD_TRY(pack_outs_init(&p->outs, &p->opts, &p->alloc, p->err));
    SHARD_TRY(pack_check_outs(&p->opts, &p->outs, p->err));
    bool counted = p->outs.count > 1 && p->outs.count != FMT_PATTERN_ENDLESS;
    SHARD_TRY(pack_input_open(&p->input, &p->opts, counted, &p->alloc, p->err));
    summarise_input(p);
    SHARD_TRY(make_plan(p));
    SHARD_TRY(pack_digest_of_set(&p->opts, &p->outs, p->input, &p->plan, &p->digest, p->err));
    SHARD_TRY(pack_earlier_find_complete(p, &complete));
    if (complete)
        return SHARD_OK;
    return p->opts.dry_run ? tell_plan(p) : write_shards(p);
}

static void release(packing *p)
{
    if (p->has_sink)
        pack_sink_clear(&p->sink);
    if (p->has_journal)
        pack_journal_close(&p->journal, p->journal.lines == 0);
    fmt_json_free(p->totals.skips);
    pack_input_close(p->input);
    pack_outs_clear(&p->outs);
    shard_alloc_free(&p->alloc, p->done);
}

shard_status shard_pack(const shard_pack_opts *opts, shard_pack_summary *summary, shard_error *err)
{
    shard_pack_opts o;
    memset(summary, 0, sizeof *summary);
    SHARD_TRY(shard_opts_copy(&o, sizeof o, opts, err));
    fmt_alloc alloc = shard_alloc_from(o.allocator);
    packing *p = shard_alloc_zeroed(&alloc, 1, sizeof *p);
    if (!p)
        return shard_fail_memory(err);
    p->opts = o;
    p->alloc = alloc;
    p->summary = summary;
    p->err = err;
    shard_status status = run(p);
    release(p);
    shard_alloc_free(&alloc, p);
    return status;
}
