/* SPDX-License-Identifier: Apache-2.0 */
/* Count the samples of a set: the least that a user of the installed library writes. */
#include <shard/shard.h>

#include <stdio.h>

int main(int argc, char **argv)
{
    shard_error err;
    shard_set *set;
    shard_set_info info;
    const char *const *names = (const char *const *)argv + 1;
    if (shard_set_open(&set, names, (size_t)argc - 1, NULL, &err) != SHARD_OK) {
        fprintf(stderr, "%s\n", err.message);
        return 1;
    }
    shard_set_get_info(set, &info);
    printf("%llu samples\n", (unsigned long long)info.samples);
    shard_set_close(set);
    shard_image_decoder_close(NULL); /* what stands on most libraries links too */
    return 0;
}
