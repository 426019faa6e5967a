/* SPDX-License-Identifier: Apache-2.0 */
#include "loader/frames.h"

#include <string.h>

#include "order/permutation.h"

void loader_frames_init(loader_frames *frames, shard_budget *budget, uint64_t limit)
{
    frames->budget = budget;
    frames->limit = limit;
    pthread_mutex_init(&frames->mutex, NULL);
    pthread_cond_init(&frames->ready, NULL);
}

/* ---- the table, under the mutex ---- */

static loader_frame **bucket_of(loader_frames *frames, uint64_t shard, uint64_t number)
{
    return &frames->bucket[shard_order_mix(shard_order_mix(shard) + number) % LOADER_FRAME_BUCKETS];
}

static loader_frame *find(loader_frames *frames, uint64_t shard, uint64_t number)
{
    loader_frame *frame = *bucket_of(frames, shard, number);
    while (frame && (frame->shard != shard || frame->number != number))
        frame = frame->next_of_bucket;
    return frame;
}

static void unlink_age(loader_frames *frames, loader_frame *frame)
{
    *(frame->newer ? &frame->newer->older : &frames->newest) = frame->older;
    *(frame->older ? &frame->older->newer : &frames->oldest) = frame->newer;
}

static void make_newest(loader_frames *frames, loader_frame *frame)
{
    frame->newer = NULL;
    frame->older = frames->newest;
    *(frames->newest ? &frames->newest->newer : &frames->oldest) = frame;
    frames->newest = frame;
}

static void add(loader_frames *frames, loader_frame *frame)
{
    loader_frame **bucket = bucket_of(frames, frame->shard, frame->number);
    frame->next_of_bucket = *bucket;
    *bucket = frame;
    frames->used += frame->room;
    make_newest(frames, frame);
}

static void take_out(loader_frames *frames, loader_frame *frame)
{
    loader_frame **at = bucket_of(frames, frame->shard, frame->number);
    while (*at != frame)
        at = &(*at)->next_of_bucket;
    *at = frame->next_of_bucket;
    frames->used -= frame->room;
    unlink_age(frames, frame);
}

static void free_frame(loader_frames *frames, loader_frame *frame)
{
    fmt_alloc alloc = frames->budget->alloc;
    shard_buffer_clear(&frame->content, frames->budget);
    shard_alloc_free(&alloc, frame);
}

void loader_frames_clear(loader_frames *frames)
{
    if (!frames->budget)
        return;
    while (frames->oldest) {
        loader_frame *frame = frames->oldest;
        take_out(frames, frame);
        free_frame(frames, frame);
    }
    pthread_cond_destroy(&frames->ready);
    pthread_mutex_destroy(&frames->mutex);
    *frames = (loader_frames){0};
}

/* What a frame counts for in another's place, whose buffer it gets unless that is far too large. */
static size_t room_in(const loader_frame *place, size_t size)
{
    size_t room = shard_buffer_capacity(size);
    return place && place->content.capacity > room && place->content.capacity / 4 <= room
               ? place->content.capacity
               : room;
}

/*
 * Where a new frame of `size` bytes may go: the oldest that nobody uses gives its place, and its
 * buffer, once there are as many as may be kept. NULL when memory is short.
 */
static loader_frame *make_room(loader_frames *frames, size_t size)
{
    loader_frame *place = NULL, *newer;
    for (loader_frame *f = frames->oldest; f && frames->used + room_in(place, size) > frames->limit;
         f = newer) {
        newer = f->newer;
        if (f->pins > 0)
            continue;
        take_out(frames, f);
        if (place)
            free_frame(frames, place);
        place = f;
    }
    if (!place)
        return shard_alloc_zeroed(&frames->budget->alloc, 1, sizeof *place);
    if (place->content.capacity > room_in(place, size))
        shard_buffer_clear(&place->content, frames->budget);
    return place;
}

/* ---- decompressing ---- */

static shard_status decompress(loader_frames *frames, loader_unzip *unzip,
                               const loader_shard *shard, const shard_index_frame *at,
                               loader_frame *frame, shard_error *err)
{
    size_t stored = (size_t)(at->stored_end - at->stored_begin);
    if (!unzip->decoder)
        SHARD_TRY(shard_zstd_frame_decoder_open(&unzip->decoder, err));
    SHARD_TRY(shard_buffer_reserve(&unzip->stored, stored, frames->budget, err));
    SHARD_TRY(shard_buffer_reserve(&frame->content, frame->size, frames->budget, err));
    SHARD_TRY(
        shard_opened_read(&shard->opened, at->stored_begin, unzip->stored.bytes, stored, err));
    shard_status status = shard_zstd_decode(unzip->decoder, unzip->stored.bytes, stored,
                                            frame->content.bytes, frame->size, err);
    if (status != SHARD_OK && err) {
        strncpy(err->url, shard->opened.path, sizeof err->url - 1);
        err->offset = at->stored_begin;
    }
    return status;
}

/* Put a frame into the table and fill it, while others that want it wait. */
static shard_status load(loader_frames *frames, loader_unzip *unzip, const loader_shard *shard,
                         uint64_t number, const shard_index_frame *at, loader_frame **out,
                         shard_error *err)
{
    size_t size = (size_t)(at->tar_end - at->tar_begin);
    loader_frame *frame = make_room(frames, size);
    if (!frame)
        return shard_fail_memory(err);
    *frame = (loader_frame){.shard = shard->number,
                            .number = number,
                            .begin = at->tar_begin,
                            .size = size,
                            .room = room_in(frame, size),
                            .content = frame->content,
                            .pins = 1};
    add(frames, frame);
    pthread_mutex_unlock(&frames->mutex);
    shard_status status = decompress(frames, unzip, shard, at, frame, err);
    pthread_mutex_lock(&frames->mutex);
    frame->ready = true;
    if (status != SHARD_OK) { /* the others try for themselves */
        take_out(frames, frame);
        free_frame(frames, frame);
    }
    pthread_cond_broadcast(&frames->ready);
    *out = frame;
    return status;
}

static shard_status pin(loader_frames *frames, loader_unzip *unzip, const loader_shard *shard,
                        uint64_t number, const shard_index_frame *at, loader_frame **out,
                        shard_error *err)
{
    shard_status status = SHARD_OK;
    pthread_mutex_lock(&frames->mutex);
    loader_frame *frame = find(frames, shard->number, number);
    while (frame && !frame->ready) {
        pthread_cond_wait(&frames->ready, &frames->mutex);
        frame = find(frames, shard->number, number);
    }
    if (frame) {
        frame->pins++;
        unlink_age(frames, frame);
        make_newest(frames, frame);
    } else {
        status = load(frames, unzip, shard, number, at, &frame, err);
    }
    pthread_mutex_unlock(&frames->mutex);
    *out = frame;
    return status;
}

static void unpin(loader_frames *frames, loader_frame *frame)
{
    pthread_mutex_lock(&frames->mutex);
    frame->pins--;
    pthread_mutex_unlock(&frames->mutex);
}

shard_status loader_frames_read(loader_frames *frames, loader_unzip *unzip,
                                const loader_shard *shard, uint64_t begin, uint64_t end,
                                uint8_t *out, shard_error *err)
{
    uint64_t number;
    SHARD_TRY(shard_opened_find_frame(&shard->opened, begin, &number, err));
    for (uint64_t at = begin; at < end; number++) {
        shard_index_frame place;
        loader_frame *frame;
        SHARD_TRY(shard_index_get_frame(shard->opened.index, number, &place, err));
        if (place.tar_begin > at || (place.tar_end <= at && place.tar_end > place.tar_begin))
            return shard_opened_stale(&shard->opened, place.stored_begin,
                                      "frames stand in another order", err);
        if (place.tar_begin == place.tar_end)
            continue;
        SHARD_TRY(pin(frames, unzip, shard, number, &place, &frame, err));
        uint64_t last = place.tar_end < end ? place.tar_end : end;
        memcpy(out + (at - begin), frame->content.bytes + (at - frame->begin), (size_t)(last - at));
        unpin(frames, frame);
        at = last;
    }
    return SHARD_OK;
}

void loader_unzip_clear(loader_unzip *unzip, shard_budget *budget)
{
    shard_zstd_frame_decoder_close(unzip->decoder);
    shard_buffer_clear(&unzip->stored, budget);
    *unzip = (loader_unzip){0};
}
