/* SPDX-License-Identifier: Apache-2.0 */
#include "index/builder.h"

#include <string.h>

#include "sidx/sidx.h"
#include "tar/tar_header.h"

void shard_index_builder_init(shard_index_builder *b, const char *url, const char *folder,
                              bool has_checksums, const fmt_alloc *alloc)
{
    b->url = url;
    b->has_checksums = has_checksums;
    b->alloc = *alloc;
    shard_names_init(&b->names, alloc);
    shard_spool_init(&b->samples, sizeof(shard_sample_row), folder, alloc);
    shard_spool_init(&b->components, sizeof(shard_component_row), folder, alloc);
    shard_spool_init(&b->keys, 1, folder, alloc);
    shard_spool_init(&b->frames, sizeof(shard_frame_row), folder, alloc);
    b->in_sample = false;
    b->keys_sorted = b->canonical = b->same_list = true;
    b->wide_sizes = false;
    b->last_key_size = 0;
    b->list = NULL;
    b->list_size = b->list_capacity = 0;
}

void shard_index_builder_clear(shard_index_builder *b)
{
    shard_names_clear(&b->names);
    shard_spool_clear(&b->samples);
    shard_spool_clear(&b->components);
    shard_spool_clear(&b->keys);
    shard_spool_clear(&b->frames);
    shard_alloc_free(&b->alloc, b->list);
    b->list = NULL;
    b->list_size = b->list_capacity = 0;
}

shard_status shard_index_builder_end(shard_index_builder *b, shard_error *err)
{
    if (!b->in_sample)
        return SHARD_OK;
    b->in_sample = false;
    if (b->sample.components != b->list_size)
        b->same_list = false;
    return shard_spool_append(&b->samples, &b->sample, 1, err);
}

static bool key_ascends(const shard_index_builder *b, const char *key, size_t size)
{
    size_t common = size < b->last_key_size ? size : b->last_key_size;
    int order = memcmp(b->last_key, key, common);
    return order < 0 || (order == 0 && b->last_key_size < size);
}

shard_status shard_index_builder_sample(shard_index_builder *b, const char *key, size_t key_size,
                                        uint64_t offset, shard_error *err)
{
    SHARD_TRY(shard_index_builder_end(b, err));
    if (key_size > FMT_KEY_MAX)
        return shard_fail(err, SHARD_ELIMIT, b->url, offset, "key is too long (%zu bytes)",
                          key_size);
    if (b->samples.rows == UINT32_MAX || b->keys.rows + key_size > UINT32_MAX)
        return shard_fail(err, SHARD_ELIMIT, b->url, offset, "too many samples for one index");
    if (b->samples.rows > 0 && !key_ascends(b, key, key_size))
        b->keys_sorted = false;
    memcpy(b->last_key, key, key_size);
    b->last_key_size = key_size;
    b->sample = (shard_sample_row){.first_offset = offset, .key_size = (uint32_t)key_size};
    b->in_sample = true;
    b->next_payload = offset + FMT_TAR_BLOCK;
    return shard_spool_append(&b->keys, key, key_size, err);
}

/* Does the sample go on as the first one did? */
static shard_status follow_list(shard_index_builder *b, uint32_t id, shard_error *err)
{
    uint32_t place = b->sample.components;
    if (b->samples.rows == 0) {
        if (!shard_alloc_grow(&b->alloc, &b->list, &b->list_capacity, b->list_size + 1,
                              sizeof *b->list))
            return shard_fail_memory(err);
        b->list[b->list_size++] = id;
    } else if (place >= b->list_size || b->list[place] != id) {
        b->same_list = false;
    }
    return SHARD_OK;
}

shard_status shard_index_builder_component(shard_index_builder *b, const char *name,
                                           size_t name_size, uint64_t payload_offset, uint64_t size,
                                           uint32_t crc, shard_error *err)
{
    uint32_t id;
    if (!shard_names_number(&b->names, name, name_size, &id))
        return shard_fail_memory(err);
    if (b->names.count > FMT_SIDX_NAMES_MAX || b->components.rows == UINT32_MAX)
        return shard_fail(err, SHARD_ELIMIT, b->url, payload_offset,
                          "too many components for one index");
    uint64_t sample = b->samples.rows + 1;
    if (b->names.name[id].last_sample == sample)
        return shard_fail(err, SHARD_EDATA, b->url, payload_offset,
                          "component \"%.*s\" stands twice in sample \"%.*s\"", (int)name_size,
                          name, (int)b->last_key_size, b->last_key);
    b->names.name[id].last_sample = sample;
    SHARD_TRY(follow_list(b, id, err));
    if (payload_offset != b->next_payload)
        b->canonical = false;
    if (size > UINT32_MAX)
        b->wide_sizes = true;
    b->next_payload = payload_offset + size + fmt_tar_padding(size) + FMT_TAR_BLOCK;
    b->sample.components++;
    shard_component_row row = {
        .payload_offset = payload_offset, .size = size, .id = id, .crc = crc};
    return shard_spool_append(&b->components, &row, 1, err);
}

shard_status shard_index_builder_frame(shard_index_builder *b, uint64_t stored, uint64_t tar,
                                       shard_error *err)
{
    shard_frame_row row = {.stored = stored, .tar = tar};
    return shard_spool_append(&b->frames, &row, 1, err);
}
