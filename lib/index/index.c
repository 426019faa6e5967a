/* SPDX-License-Identifier: Apache-2.0 */
#include <shard/index.h>

#include <string.h>

#include "core/alloc.h"
#include "core/crc32c.h"
#include "os/map.h"
#include "sidx/sidx.h"

struct shard_index {
    char *path;
    shard_map map;
    fmt_sidx sidx;
    const char **name; /* by id */
    fmt_alloc alloc;
};

_Static_assert(sizeof(uint64_t[4]) == sizeof(((shard_index_sample *)0)->private_state),
               "a sample carries row_begin, row_end and the cursor");

static shard_status fail(const shard_index *index, fmt_status status, const fmt_fault *fault,
                         shard_error *err)
{
    return shard_fail_fmt(err, status, fault, index->path, 0);
}

static shard_status read_names(shard_index *index, shard_error *err)
{
    index->name =
        shard_alloc_zeroed(&index->alloc, (size_t)index->sidx.names + 1, sizeof *index->name);
    if (!index->name)
        return shard_fail_memory(err);
    const char *name = NULL;
    for (uint32_t id = 0; id < index->sidx.names; id++)
        index->name[id] = name = fmt_sidx_next_name(&index->sidx, name);
    return SHARD_OK;
}

static shard_status open_index(shard_index *index, const char *path, shard_error *err)
{
    fmt_fault fault;
    index->path = shard_alloc_text(&index->alloc, path);
    if (!index->path)
        return shard_fail_memory(err);
    SHARD_TRY(shard_map_open(&index->map, path, err));
    fmt_span bytes = {index->map.data, index->map.size};
    fmt_status status = fmt_sidx_open(&index->sidx, bytes, shard_crc32c, &fault);
    if (status != FMT_OK)
        return fail(index, status, &fault, err);
    return read_names(index, err);
}

shard_status shard_index_open(shard_index **out, const char *path, const shard_allocator *allocator,
                              shard_error *err)
{
    fmt_alloc alloc = shard_alloc_from(allocator);
    shard_index *index = shard_alloc_zeroed(&alloc, 1, sizeof *index);
    *out = NULL;
    if (!index)
        return shard_fail_memory(err);
    index->alloc = alloc;
    shard_status status = open_index(index, path, err);
    if (status != SHARD_OK)
        shard_index_close(index);
    else
        *out = index;
    return status;
}

void shard_index_close(shard_index *index)
{
    if (!index)
        return;
    fmt_alloc alloc = index->alloc;
    shard_map_close(&index->map);
    shard_alloc_free(&alloc, index->name);
    shard_alloc_free(&alloc, index->path);
    shard_alloc_free(&alloc, index);
}

void shard_index_get_info(const shard_index *index, shard_index_info *out)
{
    const fmt_sidx *sidx = &index->sidx;
    uint64_t ends = sidx->column[FMT_SIDX_FRAMES].count;
    *out = (shard_index_info){.samples = sidx->info.samples,
                              .components = sidx->info.rows,
                              .shard_size = sidx->info.shard_size,
                              .tar_size = sidx->info.tar_size,
                              .frames = ends > 0 ? ends - 1 : 0,
                              .file_size = index->map.size,
                              .component_names = sidx->names,
                              .codec = (shard_codec)sidx->info.codec,
                              .keys_sorted = sidx->info.keys_sorted,
                              .has_checksums = sidx->column[FMT_SIDX_CRC].data != NULL,
                              .has_hash = sidx->column[FMT_SIDX_HASH].data != NULL};
    const uint8_t *hash = sidx->column[FMT_SIDX_HASH].data;
    if (hash)
        memcpy(out->hash, hash, sizeof out->hash);
}

const char *shard_index_component_name(const shard_index *index, uint32_t id)
{
    return id < index->sidx.names ? index->name[id] : NULL;
}

static shard_status past_the_last(const shard_index *index, const char *what, uint64_t i,
                                  uint64_t count, shard_error *err)
{
    return shard_fail(err, SHARD_ENOTFOUND, index->path, SHARD_NO_OFFSET, "no %s %llu of %llu",
                      what, (unsigned long long)i, (unsigned long long)count);
}

/* The two forms of a sample: what callers see, and what the format's functions take. */
static fmt_sidx_sample to_fmt(const shard_index_sample *sample)
{
    return (fmt_sidx_sample){.key = {(const uint8_t *)sample->key, sample->key_size},
                             .first_offset = sample->first_offset,
                             .end_offset = sample->end_offset,
                             .row_begin = sample->private_state[0],
                             .row_end = sample->private_state[1],
                             .cursor_row = sample->private_state[2],
                             .cursor_offset = sample->private_state[3]};
}

static void from_fmt(shard_index_sample *out, const fmt_sidx_sample *sample)
{
    *out = (shard_index_sample){.key = (const char *)sample->key.data,
                                .key_size = sample->key.size,
                                .first_offset = sample->first_offset,
                                .end_offset = sample->end_offset,
                                .components = (uint32_t)(sample->row_end - sample->row_begin),
                                .private_state = {sample->row_begin, sample->row_end,
                                                  sample->cursor_row, sample->cursor_offset}};
}

shard_status shard_index_get_sample(const shard_index *index, uint64_t i, shard_index_sample *out,
                                    shard_error *err)
{
    fmt_fault fault;
    fmt_sidx_sample sample;
    if (i >= index->sidx.info.samples)
        return past_the_last(index, "sample", i, index->sidx.info.samples, err);
    fmt_status status = fmt_sidx_get_sample(&index->sidx, i, &sample, &fault);
    if (status != FMT_OK)
        return fail(index, status, &fault, err);
    from_fmt(out, &sample);
    return SHARD_OK;
}

shard_status shard_index_get_component(const shard_index *index, shard_index_sample *sample,
                                       uint32_t j, shard_index_component *out, shard_error *err)
{
    fmt_fault fault;
    fmt_sidx_component component;
    if (j >= sample->components)
        return past_the_last(index, "component", j, sample->components, err);
    fmt_sidx_sample walk = to_fmt(sample);
    fmt_status status =
        fmt_sidx_get_component(&index->sidx, &walk, walk.row_begin + j, &component, &fault);
    if (status != FMT_OK)
        return fail(index, status, &fault, err);
    from_fmt(sample, &walk);
    *out = (shard_index_component){.name = index->name[component.id],
                                   .id = component.id,
                                   .crc32c = component.crc,
                                   .payload_offset = component.payload_offset,
                                   .payload_size = component.size};
    return SHARD_OK;
}

static shard_status get_key(const shard_index *index, uint64_t i, fmt_span *out, shard_error *err)
{
    fmt_fault fault;
    fmt_status status = fmt_sidx_get_key(&index->sidx, i, out, &fault);
    return status == FMT_OK ? SHARD_OK : fail(index, status, &fault, err);
}

static int compare(fmt_span a, const char *key, size_t size)
{
    int order = memcmp(a.data, key, a.size < size ? a.size : size);
    return order != 0 ? order : (a.size > size) - (a.size < size);
}

static shard_status no_such_key(const shard_index *index, const char *key, size_t size,
                                shard_error *err)
{
    return shard_fail(err, SHARD_ENOTFOUND, index->path, SHARD_NO_OFFSET, "no sample \"%.*s\"",
                      (int)(size < 200 ? size : 200), key);
}

static shard_status find_sorted(const shard_index *index, const char *key, size_t size,
                                uint64_t *out, shard_error *err)
{
    uint64_t low = 0, high = index->sidx.info.samples;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        fmt_span found;
        SHARD_TRY(get_key(index, middle, &found, err));
        int order = compare(found, key, size);
        *out = middle;
        if (order == 0)
            return SHARD_OK;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return no_such_key(index, key, size, err);
}

shard_status shard_index_find(const shard_index *index, const char *key, size_t key_size,
                              uint64_t *out, shard_error *err)
{
    if (index->sidx.info.keys_sorted)
        return find_sorted(index, key, key_size, out, err);
    for (uint64_t i = 0; i < index->sidx.info.samples; i++) {
        fmt_span found;
        SHARD_TRY(get_key(index, i, &found, err));
        *out = i;
        if (found.size == key_size && memcmp(found.data, key, key_size) == 0)
            return SHARD_OK;
    }
    return no_such_key(index, key, key_size, err);
}

shard_status shard_index_get_frame(const shard_index *index, uint64_t i, shard_index_frame *out,
                                   shard_error *err)
{
    fmt_fault fault;
    fmt_sidx_frame frame;
    uint64_t ends = index->sidx.column[FMT_SIDX_FRAMES].count;
    if (i + 1 >= ends)
        return past_the_last(index, "frame", i, ends > 0 ? ends - 1 : 0, err);
    fmt_status status = fmt_sidx_get_frame(&index->sidx, i, &frame, &fault);
    if (status != FMT_OK)
        return fail(index, status, &fault, err);
    *out =
        (shard_index_frame){frame.stored_begin, frame.stored_end, frame.tar_begin, frame.tar_end};
    return SHARD_OK;
}

shard_status shard_index_check(const shard_index *index, shard_error *err)
{
    fmt_fault fault;
    fmt_status status = fmt_sidx_check(&index->sidx, shard_crc32c, &fault);
    return status == FMT_OK ? SHARD_OK : fail(index, status, &fault, err);
}
