/* SPDX-License-Identifier: Apache-2.0 */
/* Which kind of source a URL asks for. */
#include <string.h>

#include "source/source.h"

typedef shard_status (*open_source)(shard_source **out, const char *url, const shard_cancel *cancel,
                                    const fmt_alloc *alloc, shard_error *err);

static const struct {
    const char *scheme;
    open_source open;
} schemes[] = {
    {"file://", shard_source_open_file},
};

static bool has_scheme(const char *url)
{
    const char *colon = strstr(url, "://");
    return colon && colon > url && strcspn(url, "/") > (size_t)(colon - url);
}

static shard_status open_scheme(shard_source **out, const char *url, const shard_cancel *cancel,
                                const fmt_alloc *alloc, shard_error *err)
{
    if (!has_scheme(url))
        return shard_source_open_file(out, url, cancel, alloc, err);
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++)
        if (strncmp(url, schemes[i].scheme, strlen(schemes[i].scheme)) == 0)
            return schemes[i].open(out, url + strlen(schemes[i].scheme), cancel, alloc, err);
    return shard_fail(err, SHARD_EUNSUPPORTED, url, SHARD_NO_OFFSET, "unknown URL scheme");
}

shard_status shard_source_open(shard_source **out, const char *url, const shard_cancel *cancel,
                               const fmt_alloc *alloc, shard_error *err)
{
    *out = NULL;
    shard_status status = open_scheme(out, url, cancel, alloc, err);
    if (status == SHARD_OK)
        (*out)->cancel = cancel;
    return status;
}
