/* SPDX-License-Identifier: Apache-2.0 */
#include "index/from_dali.h"

#include <string.h>

#include "dali/dali_idx.h"
#include "index/builder.h"
#include "os/map.h"
#include "source/source.h"
#include "tar/tar_reader.h"

typedef struct {
    shard_index_builder builder;
    shard_source *source;
    const char *url, *dali_path;
    fmt_tar_reader tar; /* of the headers on the way */
    shard_error *err;
} import;

/* The header that stands next behind what was read; it may have pax and GNU headers before it. */
static shard_status next_member(import *m)
{
    for (;;) {
        uint8_t block[FMT_TAR_BLOCK];
        size_t got;
        uint64_t offset = m->tar.offset;
        SHARD_TRY(shard_source_read(m->source, offset, block, sizeof block, &got, m->err));
        if (got < sizeof block)
            return shard_fail(m->err, SHARD_ESTALE, m->url, offset,
                              "%s points behind the shard's end", m->dali_path);
        fmt_span in = {block, sizeof block};
        fmt_status status = fmt_tar_reader_push(&m->tar, &in);
        if (status == FMT_OK)
            return SHARD_OK;
        if (status != FMT_NEED_MORE)
            return shard_fail_fmt(m->err, status, &m->tar.fault, m->url, 0);
    }
}

static bool is_component(const fmt_tar_member *member)
{
    fmt_name name;
    return member->kind == FMT_TAR_FILE &&
           fmt_name_split(member->path, member->path_size, &name) == FMT_NAME_COMPONENT;
}

/* The member whose payload it is must be that very file, and none may be left out before it. */
static shard_status find_member(import *m, const fmt_dali_component *c)
{
    const fmt_tar_member *member = &m->tar.member;
    do {
        SHARD_TRY(next_member(m));
        fmt_tar_reader_skip(&m->tar);
    } while (member->payload_offset < c->offset && !is_component(member));
    if (member->path_size != c->name.size || memcmp(member->path, c->name.data, c->name.size) != 0)
        return shard_fail(m->err, SHARD_ESTALE, m->url, member->header_offset,
                          "%s has another name here (expected %.*s, got %s)", m->dali_path,
                          (int)c->name.size, (const char *)c->name.data, member->path);
    if (member->payload_offset != c->offset)
        return shard_fail(m->err, SHARD_ESTALE, m->url, member->header_offset,
                          "%s has another offset here (expected %llu, got %llu)", m->dali_path,
                          (unsigned long long)c->offset,
                          (unsigned long long)member->payload_offset);
    if (member->size == c->size)
        return SHARD_OK;
    return shard_fail(m->err, SHARD_ESTALE, m->url, member->header_offset,
                      "%s has another size here (expected %llu, got %llu)", m->dali_path,
                      (unsigned long long)c->size, (unsigned long long)member->size);
}

static shard_status add_component(import *m, const fmt_dali_component *c)
{
    fmt_name name;
    char component[FMT_COMPONENT_MAX];
    const char *path = (const char *)c->name.data;
    if (fmt_name_split(path, c->name.size, &name) != FMT_NAME_COMPONENT)
        return shard_fail(m->err, SHARD_EDATA, m->dali_path, SHARD_NO_OFFSET,
                          "not a component's name: %.*s", (int)c->name.size, path);
    SHARD_TRY(find_member(m, c));
    if (c->begins_sample)
        SHARD_TRY(shard_index_builder_sample(&m->builder, path, name.key_size,
                                             m->tar.member.header_offset, m->err));
    fmt_component_copy(component, path + name.key_size + 1, name.component_size);
    return shard_index_builder_component(&m->builder, component, name.component_size, c->offset,
                                         c->size, 0, m->err);
}

static shard_status read_all(import *m, fmt_span text)
{
    fmt_dali_reader reader;
    fmt_dali_component component;
    fmt_fault fault;
    fmt_status status = fmt_dali_open(&reader, text, &fault);
    while (status == FMT_OK && (status = fmt_dali_next(&reader, &component, &fault)) == FMT_OK)
        SHARD_TRY(add_component(m, &component));
    return status == FMT_END ? SHARD_OK : shard_fail_fmt(m->err, status, &fault, m->dali_path, 0);
}

static shard_status import_index(import *m, const char *path, bool sync)
{
    shard_map map;
    if (!m->source->seekable)
        return shard_fail(m->err, SHARD_EUNSUPPORTED, m->url, SHARD_NO_OFFSET,
                          "a DALI index needs a shard that is a file");
    SHARD_TRY(shard_map_open(&map, m->dali_path, m->err));
    shard_status status = read_all(m, (fmt_span){map.data, map.size});
    shard_map_close(&map);
    if (status != SHARD_OK)
        return status;
    shard_index_facts facts = {.shard_size = m->source->size, .tar_size = m->source->size};
    return shard_index_builder_save(&m->builder, &facts, path, sync, m->err);
}

shard_status shard_index_from_dali(const char *url, const char *dali_path, const char *path,
                                   const char *folder, bool sync, const fmt_alloc *alloc,
                                   shard_error *err)
{
    import *m = shard_alloc_zeroed(alloc, 1, sizeof *m);
    if (!m)
        return shard_fail_memory(err);
    m->url = url;
    m->dali_path = dali_path;
    m->err = err;
    fmt_tar_reader_init(&m->tar, 0);
    shard_index_builder_init(&m->builder, url, folder, false, alloc);
    shard_status status = shard_source_open(&m->source, url, NULL, alloc, err);
    if (status == SHARD_OK)
        status = import_index(m, path, sync);
    shard_source_close(m->source);
    shard_index_builder_clear(&m->builder);
    shard_alloc_free(alloc, m);
    return status;
}
