/* SPDX-License-Identifier: Apache-2.0 */
#include "loader/inflow.h"

#include <string.h>

#include "core/crc32c.h"

static void close_shard(loader_inflow *in)
{
    if (in->scan)
        shard_index_scan_close(in->scan);
    else
        shard_reader_close(in->reader);
    in->scan = NULL;
    in->reader = NULL;
}

/* ---- memory of samples ---- */

static loader_held *take(loader_inflow *in)
{
    loader_held *sample = in->unused;
    if (sample)
        in->unused = sample->next;
    else
        sample = shard_alloc_zeroed(&in->budget->alloc, 1, sizeof *sample);
    return sample;
}

void loader_inflow_give(loader_inflow *in, loader_held *sample)
{
    sample->next = in->unused;
    in->unused = sample;
}

void loader_inflow_clear(loader_inflow *in)
{
    if (!in->budget)
        return;
    close_shard(in);
    while (in->unused) {
        loader_held *sample = take(in);
        shard_buffer_clear(&sample->bytes, in->budget);
        shard_buffer_clear(&sample->key, in->budget);
        shard_buffer_clear(&sample->parts, in->budget);
        shard_alloc_free(&in->budget->alloc, sample);
    }
    shard_alloc_free(&in->budget->alloc, in->anchor);
    *in = (loader_inflow){0};
}

/* ---- shards ---- */

void loader_inflow_begin(loader_inflow *in, uint64_t round, loader_anchor from)
{
    shard_permutation_init(&in->permutation, in->set->shards, in->seed, round, SHARD_KEY_SHARDS);
    close_shard(in);
    in->has_member = in->over = false;
    in->next_shard = from.shard > 0 ? from.shard : in->rank;
    in->arrivals = from.first;
    in->anchors = 0;
}

static shard_status add_anchor(loader_inflow *in, shard_error *err)
{
    if (!shard_alloc_grow(&in->budget->alloc, &in->anchor, &in->anchor_capacity, in->anchors + 1,
                          sizeof *in->anchor))
        return shard_fail_memory(err);
    in->anchor[in->anchors++] = (loader_anchor){in->next_shard, in->arrivals};
    return SHARD_OK;
}

loader_anchor loader_inflow_anchor(loader_inflow *in, uint64_t i)
{
    size_t keep = 0;
    while (keep + 1 < in->anchors && in->anchor[keep + 1].first <= i)
        keep++;
    if (in->anchors == 0)
        return (loader_anchor){in->next_shard, in->arrivals};
    memmove(in->anchor, in->anchor + keep, (in->anchors - keep) * sizeof *in->anchor);
    in->anchors -= keep;
    return in->anchor[0];
}

/* A file that has no index is read so that it gets one; what is no file cannot have any. */
static bool wants_index(const loader_inflow *in, const shard_set_shard *shard)
{
    return in->keeps_indexes && shard->samples == SHARD_UNKNOWN && shard->bytes != SHARD_UNKNOWN;
}

static shard_status open_scan(loader_inflow *in, const char *url, const shard_reader_opts *opts,
                              shard_error *err)
{
    SHARD_TRY(shard_path_append(url, SHARD_INDEX_SUFFIX, in->index_path, err));
    SHARD_TRY(
        shard_index_scan_open(&in->scan, url, in->index_path, true, opts, &in->budget->alloc, err));
    in->reader = shard_index_scan_reader(in->scan);
    in->is_scan_whole = true;
    return SHARD_OK;
}

static shard_status open_next_shard(loader_inflow *in, shard_error *err)
{
    shard_reader_opts opts = SHARD_READER_OPTS_INIT;
    fmt_alloc alloc = in->budget->alloc;
    shard_allocator allocator = {alloc.realloc, alloc.free, alloc.context};
    opts.allocator = &allocator;
    opts.cancel = in->shards->cancel;
    if (in->next_shard >= in->set->shards) {
        in->over = true;
        return SHARD_OK;
    }
    uint64_t number = in->shuffles_shards ? shard_permutation_at(&in->permutation, in->next_shard)
                                          : in->next_shard;
    const shard_set_shard *shard = &in->set->shard[number];
    SHARD_TRY(add_anchor(in, err));
    in->next_shard += in->world_size;
    if (wants_index(in, shard))
        return open_scan(in, shard->path, &opts, err);
    return shard_reader_open(&in->reader, shard->path, &opts, err);
}

static shard_status end_shard(loader_inflow *in, shard_error *err)
{
    shard_status status =
        in->scan && in->is_scan_whole ? shard_index_scan_save(in->scan, false, err) : SHARD_OK;
    close_shard(in);
    return status;
}

/* Make in->member the next component, of this shard or another, unless the round is over. */
static shard_status look_ahead(loader_inflow *in, shard_error *err)
{
    while (!in->has_member && !in->over) {
        if (!in->reader) {
            SHARD_TRY(open_next_shard(in, err));
            continue;
        }
        shard_status status = shard_reader_next(in->reader, &in->member, err);
        if (status == SHARD_END)
            SHARD_TRY(end_shard(in, err));
        else if (status != SHARD_OK)
            return status;
        else
            in->has_member = in->member.is_component;
    }
    return SHARD_OK;
}

/* ---- samples ---- */

/* The payload, behind what the sample has (NULL: nowhere), and into the index. */
static shard_status read_payload(loader_inflow *in, loader_held *sample, shard_error *err)
{
    const void *data;
    size_t n;
    uint32_t crc = 0;
    do {
        SHARD_TRY(shard_reader_payload(in->reader, &data, &n, err));
        if (sample && n > 0)
            memcpy(sample->bytes.bytes + sample->size, data, n);
        if (sample)
            sample->size += n;
        crc = in->scan ? shard_crc32c(crc, data, n) : 0;
    } while (n > 0);
    return in->scan ? shard_index_scan_add(in->scan, &in->member, crc, err) : SHARD_OK;
}

static shard_status add_part(loader_inflow *in, loader_held *sample, shard_error *err)
{
    size_t size = (size_t)in->member.payload_size;
    if (!shard_wanted_has(in->wanted, in->member.component))
        return in->scan ? read_payload(in, NULL, err) : SHARD_OK;
    const char *name = loader_shards_name(in->shards, in->member.component);
    if (!name)
        return shard_fail_memory(err);
    SHARD_TRY(shard_buffer_reserve(&sample->parts, (sample->part_count + 1) * sizeof(loader_part),
                                   in->budget, err));
    loader_part *part = (loader_part *)(void *)sample->parts.bytes + sample->part_count++;
    *part = (loader_part){name, sample->size, size};
    SHARD_TRY(shard_buffer_reserve(&sample->bytes, sample->size + size, in->budget, err));
    return read_payload(in, sample, err);
}

static shard_status copy_key(loader_inflow *in, loader_held *sample, shard_error *err)
{
    sample->size = 0;
    sample->part_count = 0;
    sample->key_size = in->member.key_size;
    SHARD_TRY(shard_buffer_reserve(&sample->key, sample->key_size + 1, in->budget, err));
    memcpy(sample->key.bytes, in->member.path, sample->key_size);
    sample->key.bytes[sample->key_size] = 0;
    return SHARD_OK;
}

/* The members of one sample; what follows it is then in->member. NULL: without their bytes. */
static shard_status read_sample(loader_inflow *in, loader_held *sample, shard_error *err)
{
    in->arrivals++; /* so that a shard that is met on the way begins behind it */
    if (!sample)
        in->is_scan_whole = false;
    else
        SHARD_TRY(copy_key(in, sample, err));
    do {
        if (sample)
            SHARD_TRY(add_part(in, sample, err));
        in->has_member = false;
        SHARD_TRY(look_ahead(in, err));
    } while (in->has_member && !in->member.begins_sample);
    return SHARD_OK;
}

shard_status loader_inflow_next(loader_inflow *in, loader_held **out, shard_error *err)
{
    *out = NULL;
    SHARD_TRY(look_ahead(in, err));
    if (in->over)
        return SHARD_OK;
    loader_held *sample = take(in);
    if (!sample)
        return shard_fail_memory(err);
    shard_status status = read_sample(in, sample, err);
    if (status != SHARD_OK) {
        loader_inflow_give(in, sample);
        return status;
    }
    *out = sample;
    return SHARD_OK;
}

shard_status loader_inflow_skip(loader_inflow *in, shard_error *err)
{
    SHARD_TRY(look_ahead(in, err));
    if (in->over)
        return SHARD_OK;
    return read_sample(in, NULL, err);
}
