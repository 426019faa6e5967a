/* SPDX-License-Identifier: Apache-2.0 */
#include "core/opts.h"

#include <string.h>

shard_status shard_opts_copy(void *out, size_t size, const void *opts, shard_error *err)
{
    memset(out, 0, size);
    if (!opts)
        return SHARD_OK;
    size_t given;
    memcpy(&given, opts, sizeof given);
    if (given < sizeof given)
        return shard_fail(err, SHARD_EINVAL, NULL, SHARD_NO_OFFSET,
                          "options without their size (use the _INIT macro)");
    memcpy(out, opts, given < size ? given : size);
    for (size_t i = size; i < given; i++)
        if (((const unsigned char *)opts)[i] != 0)
            return shard_fail(err, SHARD_EUNSUPPORTED, NULL, SHARD_NO_OFFSET,
                              "an option that this version of the library does not know");
    return SHARD_OK;
}
