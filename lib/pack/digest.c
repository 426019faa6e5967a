/* SPDX-License-Identifier: Apache-2.0 */
#include "pack/digest.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "pack/input/entries.h"

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
    add_number(hash, (uint64_t)o->level);
    add_number(hash, o->max_size);
    add_number(hash, o->max_samples);
    add_number(hash, o->mtime);
    add_number(hash, o->on_error);
}

/* An archive's names are not known before it is read: another one of its name must not go on. */
static void add_archives(shard_hash *hash, const shard_pack_opts *o)
{
    for (size_t i = 0; i < o->source_count; i++) {
        struct stat info;
        if (pack_archive_kind_of(o->sources[i]) == PACK_NO_ARCHIVE ||
            stat(o->sources[i], &info) != 0)
            continue;
        add_number(hash, (uint64_t)info.st_size);
        add_number(hash, (uint64_t)info.st_mtim.tv_sec);
        add_number(hash, (uint64_t)info.st_mtim.tv_nsec);
    }
}

static void add_run(shard_hash *hash, const shard_pack_opts *o)
{
    add_text(hash, o->base);
    add_texts(hash, o->sources, o->source_count);
    add_archives(hash, o);
    add_text(hash, o->files_from);
    add_text(hash, o->table);
    add_texts(hash, o->outs, o->out_count);
    add_number(hash, o->part);
    add_number(hash, o->parts);
}

static void print(shard_hash *hash, pack_digest *out)
{
    uint8_t bytes[SHARD_HASH_SIZE];
    shard_hash_get(hash, bytes);
    for (size_t i = 0; i < sizeof bytes; i++)
        snprintf(out->text + 2 * i, sizeof out->text - 2 * i, "%02x", bytes[i]);
}

shard_status pack_digest_of_set(const shard_pack_opts *opts, const pack_outs *outs,
                                const pack_input *input, const pack_plan *plan, pack_digest *out,
                                shard_error *err)
{
    shard_hash *hash = shard_hash_new();
    if (!hash)
        return shard_fail_memory(err);
    add_opts(hash, opts);
    add_number(hash, outs->codec);
    add_number(hash, plan->shards);
    add_number(hash, input->samples);
    input->type->identify(input, hash);
    print(hash, out);
    shard_hash_free(hash);
    return SHARD_OK;
}

shard_status pack_digest_of_run(const shard_pack_opts *opts, const pack_digest *set,
                                pack_digest *out, shard_error *err)
{
    shard_hash *hash = shard_hash_new();
    if (!hash)
        return shard_fail_memory(err);
    add_text(hash, set->text);
    add_run(hash, opts);
    print(hash, out);
    shard_hash_free(hash);
    return SHARD_OK;
}
