/* SPDX-License-Identifier: Apache-2.0 */
/*
 * all_samples SHARD...: read shards from front to end, compressed or not, with or without an index,
 * in memory that does not depend on their size: how many samples and bytes there are.
 */
#include <shard/shard.h>

#include <inttypes.h>
#include <stdio.h>

typedef struct {
    uint64_t samples, bytes;
} counts;

static shard_status add_payload(shard_reader *reader, counts *all, shard_error *err)
{
    for (;;) {
        const void *data; /* in place, valid until the next call */
        size_t size;
        shard_status status = shard_reader_payload(reader, &data, &size, err);
        if (status != SHARD_OK || size == 0)
            return status;
        all->bytes += size;
    }
}

static shard_status add_shard(const char *path, counts *all, shard_error *err)
{
    shard_reader *reader;
    shard_member member;
    shard_status status = shard_reader_open(&reader, path, NULL, err);
    if (status != SHARD_OK)
        return status;
    while ((status = shard_reader_next(reader, &member, err)) == SHARD_OK) {
        if (!member.is_component)
            continue;
        all->samples += member.begins_sample;
        status = add_payload(reader, all, err);
        if (status != SHARD_OK)
            break;
    }
    shard_reader_close(reader);
    return status == SHARD_END ? SHARD_OK
                               : status; /* the shard is whole, or an error says why not */
}

int main(int argc, char **argv)
{
    counts all = {0, 0};
    for (int i = 1; i < argc; i++) {
        shard_error err;
        if (add_shard(argv[i], &all, &err) == SHARD_OK)
            continue;
        fprintf(stderr, "%s: %s\n", err.url, err.message);
        return 1;
    }
    printf("%" PRIu64 " samples, %" PRIu64 " bytes\n", all.samples, all.bytes);
    return 0;
}
