/* SPDX-License-Identifier: Apache-2.0 */
/* one_sample SET NUMBER: a sample out of a set of any size, by its number: what it is made of. */
#include <shard/shard.h>

#include <stdio.h>
#include <stdlib.h>

static int fail(const shard_error *err)
{
    fprintf(stderr, "%s: %s\n", err->url, err->message);
    return 1;
}

static int print_sample(const shard_set *set, uint64_t number)
{
    shard_error err;
    shard_set_place place; /* which shard, and which of its samples */
    shard_sample sample;
    if (shard_set_locate(set, number, &place, &err) != SHARD_OK ||
        shard_set_read_sample(set, place, &sample, NULL, &err) != SHARD_OK)
        return fail(&err);
    printf("%s\n", sample.key);
    for (size_t i = 0; i < sample.count; i++)
        printf("  %s: %zu bytes\n", sample.components[i].name, sample.components[i].size);
    shard_sample_free(&sample);
    return 0;
}

int main(int argc, char **argv)
{
    shard_set *set;
    shard_error err;
    if (argc != 3) {
        fprintf(stderr, "usage: one_sample SET NUMBER\n");
        return 2;
    }
    const char *names[] = {argv[1]}; /* a manifest, a shard, or a pattern of shards */
    if (shard_set_open(&set, names, 1, NULL, &err) != SHARD_OK)
        return fail(&err);
    int code = print_sample(set, strtoull(argv[2], NULL, 10));
    shard_set_close(set);
    return code;
}
