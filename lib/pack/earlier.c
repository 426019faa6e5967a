/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pack/packing.h"
#include "shardset/manifest_file.h"
#include "shardset/set.h"

/* ---- all of it ---- */

static shard_status other_set(const packing *p)
{
    return shard_fail(p->err, SHARD_EEXIST, p->outs.manifest, SHARD_NO_OFFSET,
                      "cannot resume: is of other shards, or from other files or options (--force "
                      "packs anew)");
}

static shard_status check_names(const packing *p, const fmt_manifest *m)
{
    char name[SHARD_PATH_MAX];
    for (size_t i = 0; i < m->shards; i++) {
        SHARD_TRY(pack_outs_name(&p->outs, p->plan.first_shard + i, name, p->err));
        if (strcmp(shard_path_base(name), m->shard[i].name) != 0)
            return other_set(p);
    }
    return SHARD_OK;
}

static shard_status check_manifest(const packing *p, const fmt_manifest *m)
{
    bool same_part = m->part == (p->opts.parts > 0 ? p->opts.part : 0) && m->parts == p->opts.parts;
    if (!same_part || !m->pack_digest || strcmp(m->pack_digest, p->digest.text) != 0)
        return other_set(p);
    if (!p->plan.rolls && m->shards != p->plan.last_shard - p->plan.first_shard)
        return other_set(p);
    return check_names(p, m);
}

static void report(const packing *p, const fmt_manifest *m)
{
    shard_pack_summary *s = p->summary;
    s->samples = m->samples;
    s->shards = s->resumed = m->shards;
    s->bytes_out = m->bytes;
    s->skipped = m->skips;
    snprintf(s->manifest, sizeof s->manifest, "%s", p->outs.manifest);
}

static shard_status load_and_check(packing *p, fmt_manifest *m)
{
    SHARD_TRY(shard_manifest_load(m, p->outs.manifest, p->err));
    return check_manifest(p, m);
}

/*
 * Beside a manifest, a journal was left by a pack that was killed just before its last step, or
 * just after the first one of replacing a set: then the manifest is that of the earlier set.
 */
static shard_status check_journal(packing *p, uint64_t shards, bool *complete)
{
    pack_digest digest;
    pack_journal journal;
    *complete = true;
    if (access(p->outs.journal, F_OK) != 0)
        return SHARD_OK;
    SHARD_TRY(pack_digest_of_run(&p->opts, &p->digest, &digest, p->err));
    SHARD_TRY(pack_journal_open(&journal, p->outs.journal, digest.text, true, &p->alloc, p->err));
    *complete = journal.lines >= shards;
    pack_journal_close(&journal, *complete);
    return SHARD_OK;
}

shard_status pack_earlier_find_complete(packing *p, bool *complete)
{
    fmt_manifest manifest;
    *complete = p->opts.resume && access(p->outs.manifest, F_OK) == 0;
    if (!*complete)
        return SHARD_OK;
    fmt_manifest_init(&manifest, &p->alloc);
    shard_status status = load_and_check(p, &manifest);
    if (status == SHARD_OK)
        status = check_journal(p, manifest.shards, complete);
    if (status == SHARD_OK && *complete)
        report(p, &manifest);
    fmt_manifest_clear(&manifest);
    return status;
}

/* ---- some of it ---- */

static shard_status check_absent(packing *p)
{
    char name[SHARD_PATH_MAX];
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

shard_status pack_earlier_resume(packing *p)
{
    pack_digest digest;
    bool resume = p->opts.resume && access(p->outs.journal, F_OK) == 0;
    if (!p->opts.force && !resume)
        SHARD_TRY(check_absent(p));
    p->sink.may_replace = p->opts.force || resume;
    SHARD_TRY(pack_digest_of_run(&p->opts, &p->digest, &digest, p->err));
    SHARD_TRY(
        pack_journal_open(&p->journal, p->outs.journal, digest.text, resume, &p->alloc, p->err));
    p->has_journal = true;
    if (p->sink.may_replace)
        unlink(p->outs.manifest); /* what it describes is about to go */
    if (!p->plan.rolls)
        return mark_done(p);
    find_start(p);
    return SHARD_OK;
}
