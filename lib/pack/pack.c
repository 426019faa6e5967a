/* SPDX-License-Identifier: Apache-2.0 */
/* From options to a manifest: open the input, plan, run the threads, and say what was made. */
#include <shard/pack.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/opts.h"
#include "pack/check.h"
#include "pack/engine.h"
#include "pack/journal.h"
#include "shardset/manifest_builder.h"
#include "shardset/set.h"

typedef struct {
    shard_pack_opts opts;
    shard_pack_summary *summary;
    pack_outs outs;
    pack_input *input;
    pack_plan plan;
    bool *done;
    pack_journal journal;
    bool has_journal;
    pack_sink sink;
    bool has_sink;
    pack_totals totals;
    fmt_alloc alloc;
    shard_error *err;
} packing;

/* ---- plan ---- */

/* One lane that finds out on the way how many shards it needs, or one for each of a known number?
 */
static bool must_roll(const packing *p)
{
    if (p->input->type->next && (p->outs.count == 1 || p->outs.count == FMT_PATTERN_ENDLESS))
        return true;
    return p->outs.count == FMT_PATTERN_ENDLESS && p->opts.max_size > 0;
}

static shard_status check_samples(const packing *p)
{
    const pack_ignored *ignored = &p->input->ignored;
    if (p->input->samples > 0)
        return SHARD_OK;
    return shard_fail(
        p->err, SHARD_EDATA, NULL, SHARD_NO_OFFSET,
        "no samples found (files without extension: %llu, hidden: %llu, with reserved "
        "names: %llu; samples left out: %zu)",
        (unsigned long long)ignored->no_extension, (unsigned long long)ignored->hidden,
        (unsigned long long)ignored->reserved, p->input->skip_count);
}

static shard_status make_plan(packing *p)
{
    pack_plan *plan = &p->plan;
    SHARD_TRY(check_samples(p));
    plan->samples = p->input->samples;
    plan->rolls = must_roll(p);
    if (plan->rolls) {
        plan->last_shard = 1;
        return SHARD_OK;
    }
    plan->shards = p->outs.count;
    if (p->outs.count == FMT_PATTERN_ENDLESS) {
        plan->per_shard = p->opts.max_samples;
        plan->shards = (plan->samples + plan->per_shard - 1) / plan->per_shard;
    }
    uint64_t part = p->opts.parts > 0 ? p->opts.part - 1 : 0;
    uint64_t parts = p->opts.parts > 0 ? p->opts.parts : 1;
    plan->first_shard = part * plan->shards / parts;
    plan->last_shard = (part + 1) * plan->shards / parts;
    return SHARD_OK;
}

static shard_status tell_plan(packing *p)
{
    const pack_plan *plan = &p->plan;
    for (uint64_t i = plan->first_shard; p->opts.on_plan && i < plan->last_shard; i++) {
        char name[SHARD_PATH_MAX];
        uint64_t samples =
            plan->rolls ? UINT64_MAX : pack_plan_first(plan, i + 1) - pack_plan_first(plan, i);
        SHARD_TRY(pack_outs_name(&p->outs, i, name, p->err));
        p->opts.on_plan(p->opts.context, name, samples);
    }
    p->summary->samples = plan->samples == SHARD_UNKNOWN ? 0 : plan->samples;
    p->summary->shards = plan->rolls ? 0 : plan->last_shard - plan->first_shard;
    return SHARD_OK;
}

/* ---- what is there already ---- */

static shard_status check_outputs(packing *p)
{
    char name[SHARD_PATH_MAX];
    if (p->opts.force || p->opts.resume)
        return SHARD_OK;
    SHARD_TRY(pack_outs_absent(p->outs.manifest, p->err));
    for (uint64_t i = p->plan.first_shard; i < p->plan.last_shard; i++) {
        SHARD_TRY(pack_outs_name(&p->outs, i, name, p->err));
        SHARD_TRY(pack_outs_absent(name, p->err));
    }
    return SHARD_OK;
}

/* Does the shard stand under its name, with its index? */
static bool is_written(packing *p, uint64_t shard)
{
    char name[SHARD_PATH_MAX];
    struct stat info;
    shard_index *index;
    if (pack_outs_name(&p->outs, shard, name, NULL) != SHARD_OK || stat(name, &info) != 0)
        return false;
    if (shard_set_index_of(name, (uint64_t)info.st_size, &index, &p->alloc, NULL) != SHARD_OK)
        return false;
    shard_index_close(index);
    return true;
}

/* Shards that the journal knows and that are there need not be written again. */
static shard_status mark_done(packing *p)
{
    pack_plan *plan = &p->plan;
    uint64_t shards = plan->last_shard - plan->first_shard;
    p->done = shard_alloc_zeroed(&p->alloc, (size_t)shards + 1, sizeof *p->done);
    if (!p->done)
        return shard_fail_memory(p->err);
    for (size_t i = 0; i < p->journal.lines; i++) {
        uint64_t shard = p->journal.line[i].shard;
        if (shard < plan->first_shard || shard >= plan->last_shard || !is_written(p, shard))
            continue;
        p->summary->resumed += !p->done[shard - plan->first_shard];
        p->done[shard - plan->first_shard] = true;
    }
    plan->done = p->done;
    return SHARD_OK;
}

/* Go on behind the last shard of an unbroken row. */
static void find_start(packing *p)
{
    pack_plan *plan = &p->plan;
    for (size_t i = 0; i < p->journal.lines; i++) {
        const pack_journal_line *line = &p->journal.line[i];
        if (line->shard != plan->start_shard || !is_written(p, line->shard))
            break;
        plan->start_shard++;
        plan->start_sample = line->next;
    }
    p->summary->resumed = plan->start_shard;
}

static shard_status open_journal(packing *p)
{
    char digest[PACK_DIGEST_TEXT];
    SHARD_TRY(pack_digest(&p->opts, p->input, digest, sizeof digest, p->err));
    SHARD_TRY(
        pack_journal_open(&p->journal, p->outs.journal, digest, p->opts.resume, &p->alloc, p->err));
    p->has_journal = true;
    if (p->opts.force)
        unlink(p->outs.manifest); /* what it describes is about to go */
    if (!p->plan.rolls)
        return mark_done(p);
    find_start(p);
    return SHARD_OK;
}

/* ---- manifest ---- */

static shard_status add_skips(packing *p, shard_manifest_builder *b, const fmt_json *skips)
{
    for (size_t i = 0; skips && i < fmt_json_size(skips); i++) {
        const fmt_json *skip = fmt_json_at(skips, i);
        fmt_span name = fmt_json_string(fmt_json_get(skip, "name"));
        fmt_span reason = fmt_json_string(fmt_json_get(skip, "reason"));
        SHARD_TRY(shard_manifest_builder_skip(b, (const char *)name.data, (const char *)reason.data,
                                              p->err));
    }
    return SHARD_OK;
}

static shard_status add_shard(packing *p, shard_manifest_builder *b, const pack_journal_line *line)
{
    char name[SHARD_PATH_MAX];
    shard_index *index;
    SHARD_TRY(pack_outs_name(&p->outs, line->shard, name, p->err));
    SHARD_TRY(shard_set_index_of(name, SHARD_UNKNOWN, &index, &p->alloc, p->err));
    shard_status status = shard_manifest_builder_add(b, pack_outs_base(name), index, p->err);
    shard_index_close(index);
    return status == SHARD_OK ? add_skips(p, b, line->skips) : status;
}

/* The journal's lines by shard; the last line of a shard counts. */
static shard_status add_shards(packing *p, shard_manifest_builder *b)
{
    uint64_t first = p->plan.rolls ? 0 : p->plan.first_shard, count = 0;
    for (size_t i = 0; i < p->journal.lines; i++)
        if (p->journal.line[i].shard >= first + count)
            count = p->journal.line[i].shard - first + 1;
    const pack_journal_line **line = shard_alloc_zeroed(&p->alloc, (size_t)count + 1, sizeof *line);
    if (!line)
        return shard_fail_memory(p->err);
    for (size_t i = 0; i < p->journal.lines; i++)
        line[p->journal.line[i].shard - first] = &p->journal.line[i];
    shard_status status = SHARD_OK;
    for (uint64_t i = 0; i < count && status == SHARD_OK; i++)
        status = add_shard(p, b, line[i]);
    shard_alloc_free(&p->alloc, line);
    return status;
}

static shard_status fill_manifest(packing *p, shard_manifest_builder *b)
{
    bool first_part = p->opts.parts == 0 || p->opts.part == 1;
    SHARD_TRY(shard_manifest_builder_classes(b, p->input->class_name, p->input->classes, p->err));
    for (size_t i = 0; first_part && i < p->input->skip_count; i++)
        SHARD_TRY(shard_manifest_builder_skip(b, p->input->skips[i].name, p->input->skips[i].reason,
                                              p->err));
    SHARD_TRY(add_shards(p, b));
    return add_skips(p, b, p->totals.skips);
}

static shard_status write_manifest(packing *p)
{
    shard_manifest_builder b;
    shard_manifest_builder_init(&b, &p->alloc);
    shard_status status = fill_manifest(p, &b);
    if (status == SHARD_OK)
        status = shard_manifest_builder_save(&b, p->outs.manifest, p->opts.part, p->opts.parts,
                                             p->opts.sync, p->err);
    if (status == SHARD_OK) {
        p->summary->samples = b.manifest.samples;
        p->summary->shards = b.manifest.shards;
        p->summary->bytes_out = b.manifest.bytes;
        p->summary->skipped = b.manifest.skips;
        snprintf(p->summary->manifest, sizeof p->summary->manifest, "%s", p->outs.manifest);
    }
    shard_manifest_builder_clear(&b);
    return status;
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
    if (!p->outs.is_stdout) {
        SHARD_TRY(check_outputs(p));
        SHARD_TRY(open_journal(p));
    }
    SHARD_TRY(pack_sink_init(&p->sink, &p->outs, &p->opts, p->has_journal ? &p->journal : NULL,
                             &p->alloc));
    p->has_sink = true;
    shard_status status = pack_engine_run(&p->sink, p->input, &p->plan, &p->totals, p->err);
    summarise(p);
    summarise_input(p);
    if (status != SHARD_OK || p->outs.is_stdout)
        return status;
    SHARD_TRY(write_manifest(p));
    pack_journal_close(&p->journal, true);
    p->has_journal = false;
    return SHARD_OK;
}

/* A finished pack, asked to resume, has nothing to do: jobs that are started again rely on it. */
static shard_status report_complete(packing *p)
{
    const char *manifest = p->outs.manifest;
    shard_set *set;
    shard_set_info info;
    SHARD_TRY(shard_set_open(&set, &manifest, 1, NULL, p->err));
    shard_set_get_info(set, &info);
    p->summary->samples = info.samples;
    p->summary->shards = p->summary->resumed = info.shards;
    p->summary->bytes_out = info.bytes;
    p->summary->skipped = info.skip_count;
    snprintf(p->summary->manifest, sizeof p->summary->manifest, "%s", manifest);
    shard_set_close(set);
    return SHARD_OK;
}

static shard_status run(packing *p)
{
    SHARD_TRY(pack_check_opts(&p->opts, p->err));
    SHARD_TRY(pack_outs_init(&p->outs, &p->opts, &p->alloc, p->err));
    SHARD_TRY(pack_check_outs(&p->opts, &p->outs, p->err));
    if (p->opts.resume && access(p->outs.manifest, F_OK) == 0)
        return report_complete(p);
    bool counted = p->outs.count > 1 && p->outs.count != FMT_PATTERN_ENDLESS;
    SHARD_TRY(pack_input_open(&p->input, &p->opts, counted, &p->alloc, p->err));
    summarise_input(p);
    SHARD_TRY(make_plan(p));
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
