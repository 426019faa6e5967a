/* SPDX-License-Identifier: Apache-2.0 */
#include "set.h"

#include <unistd.h>

int set_open(const cli *c, int count, char **operands, shard_set **out)
{
    shard_error err;
    if (count == 0)
        return cli_usage(c->verb->name, "SET is missing");
    if (count == 1 && operands[0][0] == '-' && operands[0][1] == 0 && isatty(STDIN_FILENO))
        return cli_usage(c->verb->name, "- reads a shard from standard input, which is a terminal");
    shard_status status =
        shard_set_open(out, (const char *const *)operands, (size_t)count, NULL, &err);
    return status == SHARD_OK ? EXIT_OK : cli_error(c, &err);
}

int set_each_sample(const cli *c, shard_index *index, set_sample_fn each, void *context)
{
    shard_index_info info;
    shard_error err;
    shard_index_get_info(index, &info);
    for (uint64_t i = 0; i < info.samples; i++) {
        shard_index_sample sample;
        if (shard_cancel_is_set(c->cancel))
            return cli_error(c, &(shard_error){.status = SHARD_ECANCEL});
        if (shard_index_get_sample(index, i, &sample, &err) != SHARD_OK)
            return cli_error(c, &err);
        int code = each(context, index, &sample);
        if (code != EXIT_OK)
            return code;
    }
    return EXIT_OK;
}
