/* SPDX-License-Identifier: Apache-2.0 */
#include "shardset/extent.h"

#include <string.h>

#include "core/crc32c.h"
#include "naming/sample_name.h"

bool shard_wanted_has(const shard_wanted *wanted, const char *component)
{
    for (size_t i = 0; i < wanted->count; i++)
        if (strcmp(wanted->name[i], component) == 0)
            return true;
    return wanted->count == 0;
}

/* ---- which bytes ---- */

/* From the payload before the first wanted component to the end of the last. */
shard_status shard_extent_find(const shard_opened *shard, uint64_t number,
                               const shard_wanted *wanted, shard_extent *out, shard_error *err)
{
    out->number = number;
    out->components = 0;
    SHARD_TRY(shard_index_get_sample(shard->index, number, &out->sample, err));
    uint64_t end = out->begin = out->end = out->sample.first_offset;
    for (uint32_t j = 0; j < out->sample.components; j++) {
        shard_index_component c;
        SHARD_TRY(shard_index_get_component(shard->index, &out->sample, j, &c, err));
        uint64_t begin = end;
        if (c.payload_offset < begin + FMT_TAR_BLOCK) /* or the extent would not hold them all */
            return shard_opened_stale(shard, c.payload_offset, "payloads stand in another order",
                                      err);
        end = c.payload_offset + c.payload_size + fmt_tar_padding(c.payload_size);
        if (!shard_wanted_has(wanted, c.name))
            continue;
        if (out->components++ == 0)
            out->begin = begin;
        out->end = end;
    }
    return SHARD_OK;
}

/* ---- what they say ---- */

typedef struct {
    const shard_opened *shard;
    const shard_extent *extent;
    const uint8_t *bytes;
    bool unchecked;
    fmt_tar_reader *tar;
    shard_error *err;
} matching;

static bool is_name_of(const matching *m, const char *component)
{
    char lower[FMT_COMPONENT_MAX];
    const fmt_tar_member *member = &m->tar->member;
    size_t key = m->extent->sample.key_size, size = strlen(component);
    if (member->path_size != key + 1 + size ||
        memcmp(member->path, m->extent->sample.key, key) != 0)
        return false;
    fmt_component_copy(lower, member->path + key + 1, size);
    return member->path[key] == '.' && memcmp(lower, component, size) == 0;
}

/* The component of the index that this member is; it must be there and be as the index says. */
static shard_status check_member(const matching *m, const shard_index_component *c,
                                 shard_sample_component *out)
{
    const fmt_tar_member *member = &m->tar->member;
    if (!is_name_of(m, c->name) || member->payload_offset != c->payload_offset ||
        member->size != c->payload_size)
        return shard_opened_stale(m->shard, member->header_offset, "another member stands here",
                                  m->err);
    const uint8_t *data = m->bytes + (member->payload_offset - m->extent->begin);
    if (m->shard->info.has_checksums && !m->unchecked) {
        uint32_t crc = shard_crc32c(0, data, (size_t)member->size);
        if (crc != c->crc32c)
            return shard_fail(m->err, SHARD_ECHECKSUM, m->shard->path, member->payload_offset,
                              "crc32c of \"%s\" (expected %08x, got %08x)", member->path, c->crc32c,
                              crc);
    }
    out->name = m->shard->names ? m->shard->names[c->id] : c->name;
    out->data = data;
    out->size = (size_t)member->size;
    return SHARD_OK;
}

/* The next regular file of the extent. */
static shard_status next_file(const matching *m, fmt_span *in)
{
    for (;;) {
        fmt_status status = fmt_tar_reader_push(m->tar, in);
        if (status == FMT_NEED_MORE)
            return shard_opened_stale(m->shard, m->tar->offset, "less stands here", m->err);
        if (status != FMT_OK)
            return shard_fail_fmt(m->err, status, &m->tar->fault, m->shard->path, 0);
        if (m->tar->event == FMT_TAR_MEMBER && m->tar->member.kind == FMT_TAR_FILE)
            return SHARD_OK;
    }
}

shard_status shard_extent_match(const shard_opened *shard, const shard_extent *extent,
                                const shard_wanted *wanted, const uint8_t *bytes, bool unchecked,
                                fmt_tar_reader *tar, shard_sample_component *out, shard_error *err)
{
    matching m = {shard, extent, bytes, unchecked, tar, err};
    fmt_span in = {bytes, (size_t)(extent->end - extent->begin)};
    shard_index_sample sample = extent->sample; /* a walk moves its cursor */
    fmt_tar_reader_init(tar, extent->begin);
    for (uint32_t j = 0, done = 0; j < sample.components && done < extent->components; j++) {
        shard_index_component c;
        SHARD_TRY(shard_index_get_component(shard->index, &sample, j, &c, err));
        if (!shard_wanted_has(wanted, c.name))
            continue;
        do /* names that are no components stand between them */
            SHARD_TRY(next_file(&m, &in));
        while (tar->member.payload_offset < c.payload_offset);
        SHARD_TRY(check_member(&m, &c, &out[done++]));
    }
    return SHARD_OK;
}
