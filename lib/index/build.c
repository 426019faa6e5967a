/* SPDX-License-Identifier: Apache-2.0 */
/* The index of a shard that exists, by reading it. */
#include <shard/index.h>

#include <string.h>

#include "container/reader.h"
#include "core/crc32c.h"
#include "core/opts.h"
#include "index/builder.h"
#include "index/from_dali.h"
#include "os/path.h"

typedef struct {
    shard_index_builder builder;
    shard_reader *reader;
    shard_hash *hash;
    bool checksums;
    uint64_t last_frame; /* where the last one ended, in the tar */
    shard_error *err;
} scan;

static shard_status payload_crc(shard_reader *reader, uint32_t *crc, shard_error *err)
{
    const void *data;
    size_t size;
    *crc = 0;
    do {
        SHARD_TRY(shard_reader_payload(reader, &data, &size, err));
        *crc = shard_crc32c(*crc, data, size);
    } while (size > 0);
    return SHARD_OK;
}

static shard_status add_component(scan *s, const shard_member *member)
{
    uint32_t crc = 0;
    if (member->begins_sample)
        SHARD_TRY(shard_index_builder_sample(&s->builder, member->path, member->key_size,
                                             member->header_offset, s->err));
    if (s->checksums)
        SHARD_TRY(payload_crc(s->reader, &crc, s->err));
    return shard_index_builder_component(&s->builder, member->component, strlen(member->component),
                                         member->payload_offset, member->payload_size, crc, s->err);
}

/* A frame without content, such as the seek table, is no place to read from. */
static shard_status add_frame(void *context, uint64_t stored, uint64_t tar)
{
    scan *s = context;
    if (tar == s->last_frame)
        return SHARD_OK;
    s->last_frame = tar;
    return shard_index_builder_frame(&s->builder, stored, tar, s->err);
}

static shard_status read_all(scan *s)
{
    shard_member member;
    shard_status status;
    shard_reader_on_frame(s->reader, add_frame, s);
    while ((status = shard_reader_next(s->reader, &member, s->err)) == SHARD_OK)
        if (member.is_component)
            SHARD_TRY(add_component(s, &member));
    return status == SHARD_END ? SHARD_OK : status;
}

static shard_status save(scan *s, const char *path, bool sync)
{
    uint8_t hash[SHARD_HASH_SIZE];
    shard_index_facts facts = {.shard_size = shard_reader_stored_size(s->reader),
                               .tar_size = shard_reader_tar_size(s->reader),
                               .codec = shard_reader_codec(s->reader)};
    if (s->hash) {
        shard_hash_get(s->hash, hash);
        facts.hash = hash;
    }
    return shard_index_builder_save(&s->builder, &facts, path, sync, s->err);
}

static shard_status scan_source(scan *s, shard_source *source, const char *path,
                                const shard_index_build_opts *opts)
{
    shard_reader_opts reader_opts = SHARD_READER_OPTS_INIT;
    reader_opts.cancel = opts->cancel;
    reader_opts.missing_end_ok = opts->missing_end_ok;
    s->hash = s->checksums ? shard_hash_new() : NULL;
    if (s->checksums && !s->hash) {
        shard_source_close(source);
        return shard_fail_memory(s->err);
    }
    SHARD_TRY(shard_reader_open_source(&s->reader, source, s->hash, &reader_opts, s->err));
    SHARD_TRY(read_all(s));
    return save(s, path, opts->sync);
}

shard_status shard_index_build(const char *url, const char *path,
                               const shard_index_build_opts *opts, shard_error *err)
{
    shard_index_build_opts o;
    shard_source *source;
    char folder[SHARD_PATH_MAX];
    SHARD_TRY(shard_opts_copy(&o, sizeof o, opts, err));
    SHARD_TRY(shard_path_folder(path, folder, err));
    fmt_alloc alloc = shard_alloc_from(o.allocator);
    if (o.dali_index)
        return shard_index_from_dali(url, o.dali_index, path, folder, o.sync, &alloc, err);
    SHARD_TRY(shard_source_open(&source, url, o.cancel, &alloc, err));
    scan *s = shard_alloc_zeroed(&alloc, 1, sizeof *s);
    if (!s) {
        shard_source_close(source);
        return shard_fail_memory(err);
    }
    s->checksums = !o.no_checksums;
    s->err = err;
    shard_index_builder_init(&s->builder, url, folder, s->checksums, &alloc);
    shard_status status = scan_source(s, source, path, &o);
    shard_reader_close(s->reader);
    shard_hash_free(s->hash);
    shard_index_builder_clear(&s->builder);
    shard_alloc_free(&alloc, s);
    return status;
}
