/* SPDX-License-Identifier: Apache-2.0 */
#include "pack/check.h"

#include <stdio.h>
#include <string.h>

static shard_status invalid(shard_error *err, const char *what)
{
    return shard_fail(err, SHARD_EINVAL, NULL, SHARD_NO_OFFSET, "%s", what);
}

shard_status pack_check_opts(const shard_pack_opts *opts, shard_error *err)
{
    if (opts->parts > 0 && (opts->part < 1 || opts->part > opts->parts))
        return invalid(err, "part is not between 1 and the number of parts");
    if (opts->quality > 100)
        return invalid(err, "quality is between 1 and 100");
    if (opts->quality > 0 && opts->resize_shorter == 0)
        return invalid(err, "quality is that of resized images: set a size (--resize-shorter)");
    if (opts->resume && opts->force)
        return invalid(err, "resume goes on with what is there, force replaces it: not both");
    if (opts->mtime >> 33)
        return invalid(err, "the time is past what a tar header can say");
    if (opts->level < 0 || opts->level > 19)
        return invalid(err, "no such compression level");
    return SHARD_OK;
}

shard_status pack_check_outs(const shard_pack_opts *opts, const pack_outs *outs, shard_error *err)
{
    bool counter = outs->count == FMT_PATTERN_ENDLESS;
    bool limits = opts->max_size > 0 || opts->max_samples > 0;
    if (counter && !limits)
        return invalid(err, "a counter in the shards' names needs a limit: --max-size or "
                            "--max-samples");
    if (!counter && limits)
        return invalid(err, "a limit (--max-size, --max-samples) needs a counter in the shards' "
                            "names, as in out-%06d.tar");
    if (opts->parts > 0 && (outs->is_stdout || (counter && opts->max_size > 0)))
        return invalid(err, "parts need to know the number of shards: use a range of names "
                            "(out-{000..099}.tar) or --max-samples");
    if (outs->is_stdout && (opts->resume || opts->manifest))
        return invalid(err, "standard output gets a tar alone, without manifest or resume");
    if (outs->codec == SHARD_CODEC_GZIP && opts->level > 9)
        return invalid(err, "gzip has levels 1 to 9");
    return SHARD_OK;
}
