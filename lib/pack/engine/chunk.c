/* SPDX-License-Identifier: Apache-2.0 */
#include "pack/engine/chunk.h"

#include <string.h>

#include "tar/tar_header.h"

void pack_chunk_init(pack_chunk *chunk, shard_codec codec, uint64_t mtime, const fmt_alloc *alloc)
{
    *chunk = (pack_chunk){.codec = codec, .mtime = mtime, .shard = SHARD_UNKNOWN, .alloc = *alloc};
    pack_chunk_limit(chunk, 0, 0);
}

void pack_chunk_limit(pack_chunk *chunk, uint64_t size_max, uint64_t samples_max)
{
    chunk->frame_size_max = size_max > FMT_TAR_END_SIZE ? size_max - FMT_TAR_END_SIZE : UINT64_MAX;
    chunk->frame_samples_max =
        samples_max > 0 && samples_max < UINT32_MAX ? (uint32_t)samples_max : UINT32_MAX;
}

void pack_chunk_free(pack_chunk *chunk)
{
    fmt_alloc alloc = chunk->alloc;
    shard_alloc_free(&alloc, chunk->tar.data);
    shard_alloc_free(&alloc, chunk->packed.data);
    shard_alloc_free(&alloc, chunk->text.data);
    shard_alloc_free(&alloc, chunk->segment);
    shard_alloc_free(&alloc, chunk->sample);
    shard_alloc_free(&alloc, chunk->component);
    shard_alloc_free(&alloc, chunk->skip);
    pack_chunk_init(chunk, chunk->codec, chunk->mtime, &alloc);
}

void pack_chunk_reset(pack_chunk *chunk)
{
    chunk->tar.size = chunk->packed.size = chunk->text.size = 0;
    chunk->tar_begin = 0;
    chunk->segment_begin = 0;
    chunk->open_samples = 0;
    chunk->segments = chunk->samples = chunk->components = chunk->skips = 0;
    chunk->consumed = 0;
    chunk->shard = SHARD_UNKNOWN;
}

static bool reserve(pack_chunk *chunk, pack_bytes *bytes, size_t size)
{
    return shard_alloc_grow(&chunk->alloc, &bytes->data, &bytes->capacity, bytes->size + size, 1);
}

/* A copy in the chunk's text; its place goes to `*at`. */
static bool add_text(pack_chunk *chunk, const char *text, size_t size, uint32_t *at)
{
    if (!reserve(chunk, &chunk->text, size))
        return false;
    memcpy(chunk->text.data + chunk->text.size, text, size);
    *at = (uint32_t)chunk->text.size;
    chunk->text.size += size;
    return true;
}

/* ---- adding a sample ---- */

shard_status pack_chunk_begin_sample(pack_chunk *chunk, const pack_sample *sample, shard_error *err)
{
    chunk->mark.tar_size = chunk->tar.size;
    chunk->mark.components = chunk->components;
    chunk->mark.text_size = chunk->text.size;
    if (!shard_alloc_grow(&chunk->alloc, &chunk->sample, &chunk->sample_capacity,
                          chunk->samples + 1, sizeof *chunk->sample))
        return shard_fail_memory(err);
    pack_chunk_sample *row = &chunk->sample[chunk->samples];
    *row = (pack_chunk_sample){.tar_offset = chunk->tar_begin + chunk->tar.size,
                               .key_size = (uint32_t)sample->key_size};
    return add_text(chunk, sample->key, sample->key_size, &row->key) ? SHARD_OK
                                                                     : shard_fail_memory(err);
}

/* The member's header blocks, behind what is there; its path is the key, a dot and the name. */
static shard_status add_header(pack_chunk *chunk, const pack_sample *sample, const char *name,
                               size_t name_size, uint64_t size, shard_error *err)
{
    char path[FMT_TAR_PATH_MAX];
    size_t path_size = sample->key_size + 1 + name_size;
    if (path_size > sizeof path)
        return pack_sample_fail(sample, SHARD_ELIMIT, err, "has a path of more than %d bytes",
                                FMT_TAR_PATH_MAX);
    memcpy(path, sample->key, sample->key_size);
    path[sample->key_size] = '.';
    memcpy(path + sample->key_size + 1, name, name_size);
    if (!reserve(chunk, &chunk->tar, FMT_TAR_HEADERS_MAX))
        return shard_fail_memory(err);
    chunk->tar.size += fmt_tar_header_write(chunk->tar.data + chunk->tar.size, path, path_size,
                                            size, chunk->mtime);
    return SHARD_OK;
}

shard_status pack_chunk_begin_component(pack_chunk *chunk, const pack_sample *sample,
                                        const char *name, uint64_t size, uint8_t **payload,
                                        shard_error *err)
{
    size_t name_size = strlen(name);
    SHARD_TRY(add_header(chunk, sample, name, name_size, size, err));
    if (!reserve(chunk, &chunk->tar, (size_t)size + 1 + FMT_TAR_BLOCK) ||
        !shard_alloc_grow(&chunk->alloc, &chunk->component, &chunk->component_capacity,
                          chunk->components + 1, sizeof *chunk->component))
        return shard_fail_memory(err);
    pack_chunk_component *row = &chunk->component[chunk->components];
    *row = (pack_chunk_component){.payload_offset = chunk->tar_begin + chunk->tar.size,
                                  .size = size,
                                  .name_size = (uint32_t)name_size};
    if (!add_text(chunk, name, name_size, &row->name))
        return shard_fail_memory(err);
    *payload = chunk->tar.data + chunk->tar.size;
    return SHARD_OK;
}

void pack_chunk_end_component(pack_chunk *chunk, uint32_t crc)
{
    pack_chunk_component *row = &chunk->component[chunk->components++];
    size_t padding = fmt_tar_padding(row->size);
    chunk->tar.size += (size_t)row->size;
    memset(chunk->tar.data + chunk->tar.size, 0, padding);
    chunk->tar.size += padding;
    row->crc = crc;
}

void pack_chunk_drop_sample(pack_chunk *chunk)
{
    chunk->tar.size = chunk->mark.tar_size;
    chunk->components = chunk->mark.components;
    chunk->text.size = chunk->mark.text_size;
}

shard_status pack_chunk_skip_sample(pack_chunk *chunk, const char *name, const char *reason,
                                    shard_error *err)
{
    if (!shard_alloc_grow(&chunk->alloc, &chunk->skip, &chunk->skip_capacity, chunk->skips + 1,
                          sizeof *chunk->skip))
        return shard_fail_memory(err);
    pack_chunk_skip *skip = &chunk->skip[chunk->skips];
    if (!add_text(chunk, name, strlen(name) + 1, &skip->name) ||
        !add_text(chunk, reason, strlen(reason) + 1, &skip->reason))
        return shard_fail_memory(err);
    skip->consumed = ++chunk->consumed;
    chunk->skips++;
    return SHARD_OK;
}

/* ---- segments ---- */

size_t pack_packed_bound(shard_codec codec, size_t size)
{
    return codec == SHARD_CODEC_ZSTD ? shard_zstd_bound(size) : shard_gzip_bound(size);
}

shard_status pack_compress(shard_codec codec, const shard_encoders *encoders, const void *bytes,
                           size_t size, void *out, size_t *out_size, uint32_t *crc,
                           shard_error *err)
{
    *crc = 0;
    if (codec == SHARD_CODEC_ZSTD)
        return shard_zstd_encode(encoders->zstd, bytes, size, out, out_size, err);
    return shard_gzip_encode(encoders->gzip, bytes, size, out, out_size, crc, err);
}

/* The first `size` bytes of the open frame; what follows them begins the next one. */
static shard_status compress_segment(pack_chunk *chunk, pack_chunk_segment *segment, size_t size,
                                     shard_error *err)
{
    pack_bytes *packed = &chunk->packed;
    if (!reserve(chunk, packed, pack_packed_bound(chunk->codec, size)))
        return shard_fail_memory(err);
    segment->offset = packed->size;
    SHARD_TRY(pack_compress(chunk->codec, chunk->encoders, chunk->tar.data, size,
                            packed->data + packed->size, &segment->size, &segment->crc, err));
    packed->size += segment->size;
    chunk->tar_begin += size;
    chunk->tar.size -= size;
    memmove(chunk->tar.data, chunk->tar.data + size, chunk->tar.size);
    return SHARD_OK;
}

/* Close the open frame at `end` in `tar`, which is the end of its last complete sample. */
static shard_status close_at(pack_chunk *chunk, size_t end, shard_error *err)
{
    if (chunk->open_samples == 0)
        return SHARD_OK;
    if (!shard_alloc_grow(&chunk->alloc, &chunk->segment, &chunk->segment_capacity,
                          chunk->segments + 1, sizeof *chunk->segment))
        return shard_fail_memory(err);
    size_t size = end - chunk->segment_begin;
    pack_chunk_segment *segment = &chunk->segment[chunk->segments];
    *segment = (pack_chunk_segment){.offset = chunk->segment_begin,
                                    .size = size,
                                    .tar_size = size,
                                    .samples = chunk->open_samples};
    if (chunk->codec == SHARD_CODEC_PLAIN)
        chunk->segment_begin = end;
    else
        SHARD_TRY(compress_segment(chunk, segment, size, err));
    chunk->segments++;
    chunk->open_samples = 0;
    return SHARD_OK;
}

shard_status pack_chunk_close(pack_chunk *chunk, shard_error *err)
{
    return close_at(chunk, chunk->tar.size, err);
}

shard_status pack_chunk_end_sample(pack_chunk *chunk, uint32_t label, shard_error *err)
{
    pack_chunk_sample *row = &chunk->sample[chunk->samples++];
    row->components = (uint32_t)(chunk->components - chunk->mark.components);
    row->label = label;
    row->consumed = ++chunk->consumed;
    if (chunk->tar.size - chunk->segment_begin > chunk->frame_size_max)
        SHARD_TRY(close_at(chunk, chunk->mark.tar_size, err));
    chunk->open_samples++;
    bool frame_full = chunk->codec == SHARD_CODEC_PLAIN ||
                      chunk->tar.size - chunk->segment_begin >= PACK_FRAME_LEAST ||
                      chunk->open_samples >= chunk->frame_samples_max;
    return frame_full ? pack_chunk_close(chunk, err) : SHARD_OK;
}

/* ---- what is in it ---- */

shard_status pack_chunk_tell(const pack_chunk *chunk, size_t first, size_t first_component,
                             size_t count, uint64_t tar, shard_index_builder *builder,
                             shard_error *err)
{
    const char *text = (const char *)chunk->text.data;
    const pack_chunk_component *c = &chunk->component[first_component];
    for (size_t i = first; i < first + count; i++) {
        const pack_chunk_sample *sample = &chunk->sample[i];
        SHARD_TRY(shard_index_builder_sample(builder, text + sample->key, sample->key_size,
                                             tar + sample->tar_offset, err));
        for (uint32_t j = 0; j < sample->components; j++, c++)
            SHARD_TRY(shard_index_builder_component(builder, text + c->name, c->name_size,
                                                    tar + c->payload_offset, c->size, c->crc, err));
    }
    return SHARD_OK;
}
