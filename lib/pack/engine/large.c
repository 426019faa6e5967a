/* SPDX-License-Identifier: Apache-2.0 */
#include "pack/engine/large.h"

#include <string.h>

#include "core/crc32c.h"
#include "tar/tar_header.h"

/* A frame row that is told to the index when the sample is complete. */
typedef struct {
    uint64_t stored, tar;
} frame_end;

typedef struct {
    pack_lane *lane;
    const pack_sample *sample;
    pack_filler *filler;
    const shard_encoders *encoders;
    uint64_t mtime;
    uint8_t **image; /* what images became, held; NULL: no image to be worked on */
    uint64_t held;   /* bytes of them */
    int *fd;         /* of each component */
    uint64_t *size;  /* and its bytes */
    uint32_t *crc;
    uint64_t *payload_offset;

    uint8_t *piece; /* tar bytes on their way: PACK_FRAME_MOST of them */
    size_t piece_size;
    uint8_t *packed;
    frame_end *frame;
    size_t frames, frame_capacity;
    shard_writer_mark mark;
    bool fatal; /* the shard cannot be written */
    fmt_alloc alloc;
    shard_error *err;
} large;

/* A call on the writing side: when it fails, that is nothing that leaving out the sample would
 * mend. */
static shard_status fatal(large *l, shard_status status)
{
    l->fatal = l->fatal || status != SHARD_OK;
    return status;
}

/* ---- pieces ---- */

static shard_status append(large *l, const shard_segment *segment)
{
    shard_writer *writer = &l->lane->writer;
    SHARD_TRY(fatal(l, shard_writer_append(writer, segment, l->err)));
    if (writer->codec != SHARD_CODEC_ZSTD)
        return SHARD_OK;
    if (!shard_alloc_grow(&l->alloc, &l->frame, &l->frame_capacity, l->frames + 1,
                          sizeof *l->frame))
        return shard_fail_memory(l->err);
    l->frame[l->frames++] = (frame_end){writer->out.size, writer->tar_size};
    return SHARD_OK;
}

static shard_status flush(large *l)
{
    shard_segment segment = {l->piece, l->piece_size, l->piece_size, 0};
    shard_codec codec = l->lane->writer.codec;
    if (l->piece_size == 0)
        return SHARD_OK;
    if (codec != SHARD_CODEC_PLAIN) {
        segment.stored = l->packed;
        SHARD_TRY(pack_compress(codec, l->encoders, l->piece, l->piece_size, l->packed,
                                &segment.stored_size, &segment.crc, l->err));
    }
    l->piece_size = 0;
    return append(l, &segment);
}

/* Room for `least` bytes in the piece; how many there are. */
static shard_status room(large *l, size_t least, size_t *size)
{
    if (PACK_FRAME_MOST - l->piece_size < least)
        SHARD_TRY(flush(l));
    *size = PACK_FRAME_MOST - l->piece_size;
    return SHARD_OK;
}

static uint64_t tar_position(const large *l)
{
    return l->lane->writer.tar_size + l->piece_size;
}

/* ---- members ---- */

static shard_status write_header(large *l, const pack_component *c, uint64_t size)
{
    char path[FMT_TAR_PATH_MAX];
    size_t name = strlen(c->name), key = l->sample->key_size, unused;
    if (key + 1 + name > sizeof path)
        return pack_sample_fail(l->sample, SHARD_ELIMIT, l->err, "has a path of more than %d bytes",
                                FMT_TAR_PATH_MAX);
    memcpy(path, l->sample->key, key);
    path[key] = '.';
    memcpy(path + key + 1, c->name, name);
    SHARD_TRY(room(l, FMT_TAR_HEADERS_MAX, &unused));
    l->piece_size +=
        fmt_tar_header_write(l->piece + l->piece_size, path, key + 1 + name, size, l->mtime);
    return SHARD_OK;
}

static const uint8_t *in_memory(const large *l, size_t i)
{
    return l->image[i] ? l->image[i] : l->sample->component[i].data;
}

static shard_status read_piece(large *l, size_t i, uint8_t *to, size_t size, uint64_t offset)
{
    const uint8_t *data = in_memory(l, i);
    if (!data)
        return pack_component_read(&l->sample->component[i], l->fd[i], to, size, offset, l->err);
    memcpy(to, data + offset, size);
    return SHARD_OK;
}

static shard_status write_payload(large *l, size_t i)
{
    uint64_t size = l->size[i];
    uint32_t *crc = &l->crc[i];
    for (uint64_t done = 0; done < size;) {
        size_t piece;
        SHARD_TRY(room(l, 1, &piece));
        if (piece > size - done)
            piece = (size_t)(size - done);
        uint8_t *to = l->piece + l->piece_size;
        SHARD_TRY(read_piece(l, i, to, piece, done));
        *crc = shard_crc32c(*crc, to, piece);
        l->piece_size += piece;
        done += piece;
        if (shard_cancel_is_set(l->lane->sink->opts->cancel))
            return shard_fail(l->err, SHARD_ECANCEL, NULL, SHARD_NO_OFFSET, "cancelled");
    }
    if (!in_memory(l, i))
        SHARD_TRY(pack_component_end(&l->sample->component[i], l->fd[i], size, l->err));
    size_t padding = fmt_tar_padding(size), unused;
    SHARD_TRY(room(l, padding, &unused));
    memset(l->piece + l->piece_size, 0, padding);
    l->piece_size += padding;
    return SHARD_OK;
}

static shard_status write_components(large *l)
{
    for (size_t i = 0; i < l->sample->components; i++) {
        SHARD_TRY(write_header(l, &l->sample->component[i], l->size[i]));
        l->payload_offset[i] = tar_position(l);
        SHARD_TRY(write_payload(l, i));
    }
    return flush(l);
}

/* ---- the index ---- */

static shard_status tell(large *l, uint64_t first_offset)
{
    shard_index_builder *builder = &l->lane->builder;
    for (size_t i = 0; i < l->frames; i++)
        SHARD_TRY(shard_index_builder_frame(builder, l->frame[i].stored, l->frame[i].tar, l->err));
    SHARD_TRY(shard_index_builder_sample(builder, l->sample->key, l->sample->key_size, first_offset,
                                         l->err));
    for (size_t i = 0; i < l->sample->components; i++) {
        const char *name = l->sample->component[i].name;
        SHARD_TRY(shard_index_builder_component(builder, name, strlen(name), l->payload_offset[i],
                                                l->size[i], l->crc[i], l->err));
    }
    return SHARD_OK;
}

/* ---- the sample ---- */

/* Work on an image and hold what it became: its size must be known before the sample begins. */
static shard_status hold_image(large *l, size_t i, uint64_t *bytes_in)
{
    fmt_span result;
    SHARD_TRY(pack_fill_image(l->filler, &l->sample->component[i], &result, bytes_in, l->err));
    if (l->held + result.size > l->filler->memory)
        return pack_sample_fail(l->sample, SHARD_ELIMIT, l->err,
                                "has more bytes of images than a thread may hold (--memory)");
    l->image[i] = shard_alloc_zeroed(&l->alloc, result.size + 1, 1);
    if (!l->image[i])
        return shard_fail_memory(l->err);
    memcpy(l->image[i], result.data, result.size);
    l->held += result.size;
    l->size[i] = result.size;
    return SHARD_OK;
}

static shard_status open_one(large *l, size_t i, uint64_t *bytes_in)
{
    const pack_component *c = &l->sample->component[i];
    if (pack_transform_wants(l->filler->transform, c->name))
        return hold_image(l, i, bytes_in);
    l->size[i] = c->size;
    if (!c->data)
        SHARD_TRY(pack_component_open(c, &l->fd[i], &l->size[i], l->err));
    *bytes_in = l->size[i];
    return SHARD_OK;
}

/* Open all files first: then the sample's size is known, and what cannot be read has done no harm.
 */
static shard_status open_all(large *l, uint64_t *tar_size, uint64_t *bytes_in)
{
    *tar_size = *bytes_in = 0;
    for (size_t i = 0; i < l->sample->components; i++) {
        uint64_t bytes;
        SHARD_TRY(open_one(l, i, &bytes));
        *tar_size += FMT_TAR_HEADERS_MAX + l->size[i] + FMT_TAR_BLOCK;
        *bytes_in += bytes;
    }
    return SHARD_OK;
}

static shard_status write_sample(large *l)
{
    uint64_t tar_size, bytes;
    pack_lane *lane = l->lane;
    SHARD_TRY(open_all(l, &tar_size, &bytes));
    SHARD_TRY(fatal(l, pack_lane_make_room(lane, tar_size, 1, l->encoders, l->err)));
    SHARD_TRY(fatal(l, shard_writer_set_mark(&lane->writer, &l->mark, l->err)));
    shard_status status = write_components(l);
    if (status != SHARD_OK) {
        fatal(l, shard_writer_go_back(&lane->writer, &l->mark, NULL));
        return status;
    }
    SHARD_TRY(fatal(l, tell(l, l->mark.tar_size)));
    pack_lane_count(lane, pack_label_of(l->sample));
    lane->next++;
    l->filler->bytes_in += bytes;
    return SHARD_OK;
}

static shard_status allocate(large *l)
{
    size_t count = l->sample->components;
    l->image = shard_alloc_zeroed(&l->alloc, count, sizeof *l->image);
    l->fd = shard_alloc_zeroed(&l->alloc, count, sizeof *l->fd);
    l->size = shard_alloc_zeroed(&l->alloc, count, sizeof *l->size);
    l->crc = shard_alloc_zeroed(&l->alloc, count, sizeof *l->crc);
    l->payload_offset = shard_alloc_zeroed(&l->alloc, count, sizeof *l->payload_offset);
    l->piece = shard_alloc_zeroed(&l->alloc, PACK_FRAME_MOST, 1);
    if (l->lane->sink->outs->codec != SHARD_CODEC_PLAIN)
        l->packed = shard_alloc_zeroed(
            &l->alloc, pack_packed_bound(l->lane->sink->outs->codec, PACK_FRAME_MOST), 1);
    if (!l->image || !l->fd || !l->size || !l->crc || !l->payload_offset || !l->piece ||
        (!l->packed && l->lane->sink->outs->codec != SHARD_CODEC_PLAIN))
        return shard_fail_memory(l->err);
    for (size_t i = 0; i < count; i++)
        l->fd[i] = -1;
    return SHARD_OK;
}

static void release(large *l)
{
    for (size_t i = 0; l->fd && i < l->sample->components; i++)
        pack_component_close(&l->sample->component[i], l->fd[i]);
    for (size_t i = 0; l->image && i < l->sample->components; i++)
        shard_alloc_free(&l->alloc, l->image[i]);
    shard_alloc_free(&l->alloc, l->image);
    shard_alloc_free(&l->alloc, l->fd);
    shard_alloc_free(&l->alloc, l->size);
    shard_alloc_free(&l->alloc, l->crc);
    shard_alloc_free(&l->alloc, l->payload_offset);
    shard_alloc_free(&l->alloc, l->piece);
    shard_alloc_free(&l->alloc, l->packed);
    shard_alloc_free(&l->alloc, l->frame);
    shard_hash_free(l->mark.hash);
}

shard_status pack_large_write(pack_lane *lane, const pack_sample *sample, pack_filler *filler,
                              const shard_encoders *encoders, uint64_t mtime, bool *fatal_out,
                              shard_error *err)
{
    large l = {.lane = lane,
               .sample = sample,
               .filler = filler,
               .encoders = encoders,
               .mtime = mtime,
               .alloc = lane->sink->alloc,
               .err = err};
    pack_transform_counts counts;
    pack_transform_get_counts(filler->transform, &counts);
    shard_status status = allocate(&l);
    if (status == SHARD_OK)
        status = write_sample(&l);
    if (status != SHARD_OK)
        pack_transform_set_counts(filler->transform, &counts);
    *fatal_out = l.fatal;
    release(&l);
    return status;
}
