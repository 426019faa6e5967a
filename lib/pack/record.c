/* SPDX-License-Identifier: Apache-2.0 */
/* The manifest of what was packed: from the indexes of the shards, and the journal. */
#include <stdio.h>

#include "pack/packing.h"
#include "shardset/manifest_builder.h"
#include "shardset/set.h"

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
    shard_status status = shard_manifest_builder_add(b, shard_path_base(name), index, p->err);
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

static shard_status fill(packing *p, shard_manifest_builder *b)
{
    bool first_part = p->opts.parts == 0 || p->opts.part == 1;
    SHARD_TRY(shard_manifest_builder_digest(b, p->digest.text, p->err));
    SHARD_TRY(shard_manifest_builder_classes(b, p->input->class_name, p->input->classes, p->err));
    for (size_t i = 0; first_part && i < p->input->skip_count; i++)
        SHARD_TRY(shard_manifest_builder_skip(b, p->input->skips[i].name, p->input->skips[i].reason,
                                              p->err));
    SHARD_TRY(add_shards(p, b));
    return add_skips(p, b, p->totals.skips);
}

shard_status pack_record_write(packing *p)
{
    shard_manifest_builder b;
    shard_manifest_builder_init(&b, &p->alloc);
    shard_status status = fill(p, &b);
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
