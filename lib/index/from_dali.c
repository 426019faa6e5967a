/* SPDX-License-Identifier: Apache-2.0 */
#include "index/from_dali.h"

#include <string.h>

#include "dali/dali_idx.h"
#include "index/builder.h"
#include "os/map.h"
#include "source/source.h"
#include "tar/tar_header.h"

typedef struct {
    shard_index_builder builder;
    shard_source *source;
    const char *url, *dali_path;
    shard_error *err;
} import;

/* Read the header block before a payload; it must be that of this very file. */
static shard_status check_header(import *m, const fmt_dali_component *c)
{
    uint8_t block[FMT_TAR_BLOCK];
    uint64_t offset = c->offset - FMT_TAR_BLOCK;
    fmt_tar_header header;
    fmt_fault fault;
    size_t got;
    SHARD_TRY(shard_source_read(m->source, offset, block, sizeof block, &got, m->err));
    if (got < sizeof block)
        return shard_fail(m->err, SHARD_ESTALE, m->url, offset, "%s points behind the shard's end",
                          m->dali_path);
    fmt_status status = fmt_tar_header_parse(block, offset, &header, &fault);
    if (status != FMT_OK)
        return shard_fail_fmt(m->err, status, &fault, m->url, 0);
    if (header.kind != FMT_TAR_FILE || header.size != c->size)
        return shard_fail(m->err, SHARD_ESTALE, m->url, offset,
                          "%s has another size here (expected %llu, got %llu)", m->dali_path,
                          (unsigned long long)c->size, (unsigned long long)header.size);
    /* A name longer than the header's field is cut there, and whole in a header before it. */
    size_t compared = c->name.size < 100 ? c->name.size : 100;
    if ((c->name.size <= 100 && header.path_size != c->name.size) ||
        memcmp(header.path, c->name.data, compared) != 0)
        return shard_fail(m->err, SHARD_ESTALE, m->url, offset, "%s has another name here: %.*s",
                          m->dali_path, (int)c->name.size, (const char *)c->name.data);
    return SHARD_OK;
}

static shard_status add_component(import *m, const fmt_dali_component *c)
{
    fmt_name name;
    char component[FMT_COMPONENT_MAX];
    const char *path = (const char *)c->name.data;
    if (fmt_name_split(path, c->name.size, &name) != FMT_NAME_COMPONENT)
        return shard_fail(m->err, SHARD_EDATA, m->dali_path, SHARD_NO_OFFSET,
                          "not a component's name: %.*s", (int)c->name.size, path);
    SHARD_TRY(check_header(m, c));
    if (c->begins_sample)
        SHARD_TRY(shard_index_builder_sample(&m->builder, path, name.key_size,
                                             c->offset - FMT_TAR_BLOCK, m->err));
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
    shard_index_builder_init(&m->builder, url, folder, false, alloc);
    shard_status status = shard_source_open(&m->source, url, NULL, alloc, err);
    if (status == SHARD_OK)
        status = import_index(m, path, sync);
    shard_source_close(m->source);
    shard_index_builder_clear(&m->builder);
    shard_alloc_free(alloc, m);
    return status;
}
