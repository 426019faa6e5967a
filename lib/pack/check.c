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

/* ---- digest ---- */

static void add_number(shard_hash *hash, uint64_t value)
{
    uint8_t bytes[8];
    fmt_store64(bytes, value);
    shard_hash_add(hash, bytes, sizeof bytes);
}

static void add_text(shard_hash *hash, const char *text)
{
    const char *known = text ? text : "";
    shard_hash_add(hash, known, strlen(known) + 1);
}

static void add_texts(shard_hash *hash, const char *const *texts, size_t count)
{
    add_number(hash, count);
    for (size_t i = 0; i < count; i++)
        add_text(hash, texts[i]);
}

static void add_opts(shard_hash *hash, const shard_pack_opts *o)
{
    add_text(hash, o->table_key);
    add_texts(hash, o->table_files, o->table_file_count);
    add_texts(hash, o->table_fields, o->table_field_count);
    add_number(hash, o->key_last_dot);
    add_texts(hash, o->renames, o->rename_count);
    add_number(hash, o->links);
    add_number(hash, o->label_from_dir);
    add_texts(hash, o->require, o->require_count);
    add_number(hash, o->missing);
    add_number(hash, o->shuffle);
    add_number(hash, o->seed);
    add_number(hash, o->jpeg_baseline);
    add_number(hash, o->resize_shorter);
    add_number(hash, o->quality);
    add_number(hash, o->strip);
    add_texts(hash, o->outs, o->out_count);
    add_number(hash, o->has_codec);
    add_number(hash, o->codec);
    add_number(hash, (uint64_t)o->level);
    add_number(hash, o->max_size);
    add_number(hash, o->max_samples);
    add_number(hash, o->mtime);
    add_number(hash, o->part);
    add_number(hash, o->parts);
    add_number(hash, o->on_error);
}

shard_status pack_digest(const shard_pack_opts *opts, const pack_input *input, char *out,
                         size_t capacity, shard_error *err)
{
    uint8_t digest[SHARD_HASH_SIZE];
    shard_hash *hash = shard_hash_new();
    if (!hash)
        return shard_fail_memory(err);
    add_opts(hash, opts);
    add_number(hash, input->samples);
    input->type->identify(input, hash);
    shard_hash_get(hash, digest);
    shard_hash_free(hash);
    for (size_t i = 0; i < sizeof digest; i++)
        snprintf(out + 2 * i, capacity - 2 * i, "%02x", digest[i]);
    return SHARD_OK;
}
