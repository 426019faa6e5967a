/* SPDX-License-Identifier: Apache-2.0 */
#include "pack/input/entries.h"

#include <string.h>
#include <strings.h>

void pack_entries_init(pack_entries *entries, const char *const *urls, size_t count,
                       const shard_cancel *cancel, const fmt_alloc *alloc)
{
    *entries = (pack_entries){.urls = urls, .count = count, .cancel = cancel, .alloc = *alloc};
}

static void close_archive(pack_entries *e)
{
    shard_reader_close(e->reader);
    shard_archive_close(e->archive);
    shard_stream_close(&e->stream);
    shard_source_close(e->source);
    e->reader = NULL;
    e->archive = NULL;
    e->source = NULL;
    e->piece = (fmt_span){NULL, 0};
}

void pack_entries_close(pack_entries *entries)
{
    close_archive(entries);
}

static bool has_suffix(const char *path, const char *suffix)
{
    size_t size = strlen(path), suffix_size = strlen(suffix);
    return size > suffix_size && strcasecmp(path + size - suffix_size, suffix) == 0;
}

pack_archive_kind pack_archive_kind_of(const char *url)
{
    static const char *tars[] = {".tar",    ".tar.gz", ".tgz",     ".tar.zst", ".tzst",
                                 ".tar.xz", ".txz",    ".tar.bz2", ".tbz2",    ".tar.lz4"};
    static const char *foreign[] = {".zip", ".7z", ".cpio", ".cpio.gz"};
    if (strcmp(url, "-") == 0)
        return PACK_TAR;
    for (size_t i = 0; i < sizeof tars / sizeof *tars; i++)
        if (has_suffix(url, tars[i]))
            return PACK_TAR;
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++)
        if (has_suffix(url, foreign[i]))
            return PACK_FOREIGN_ARCHIVE;
    return PACK_NO_ARCHIVE;
}

static shard_status open_next(pack_entries *e, shard_error *err)
{
    shard_reader_opts opts = SHARD_READER_OPTS_INIT;
    shard_allocator allocator = {e->alloc.realloc, e->alloc.free, e->alloc.context};
    e->url = e->urls[e->next_url++];
    opts.cancel = e->cancel;
    opts.allocator = &allocator;
    if (pack_archive_kind_of(e->url) == PACK_TAR)
        return shard_reader_open(&e->reader, e->url, &opts, err);
    SHARD_TRY(shard_source_open(&e->source, e->url, e->cancel, &e->alloc, err));
    SHARD_TRY(shard_stream_open(&e->stream, e->source, NULL, &e->alloc, err));
    return shard_archive_open(&e->archive, &e->stream.raw, e->stream.decoder, &e->alloc, err);
}

shard_status pack_path_normalise(const char *path, size_t size, char out[SHARD_PATH_MAX],
                                 shard_error *err)
{
    size_t n = 0;
    for (size_t at = 0; at < size;) {
        const char *slash = memchr(path + at, '/', size - at);
        size_t end = slash ? (size_t)(slash - path) : size, part = end - at;
        if (part == 2 && memcmp(path + at, "..", 2) == 0)
            return shard_fail(err, SHARD_EDATA, path, SHARD_NO_OFFSET,
                              "\"..\" in a path cannot be part of a key");
        if (part > 0 && !(part == 1 && path[at] == '.')) {
            if (n + part + 2 > SHARD_PATH_MAX)
                return shard_fail(err, SHARD_EDATA, path, SHARD_NO_OFFSET, "path is too long");
            if (n > 0)
                out[n++] = '/';
            memcpy(out + n, path + at, part);
            n += part;
        }
        at = end + 1;
    }
    out[n] = 0;
    return SHARD_OK;
}

/* An entry's path as a key can have it. */
static shard_status take_path(const pack_entries *e, const char *path, size_t size, pack_entry *out,
                              shard_error *err)
{
    shard_error why;
    if (pack_path_normalise(path, size, out->path, &why) == SHARD_OK)
        return SHARD_OK;
    return shard_fail(err, SHARD_EDATA, e->url, SHARD_NO_OFFSET, "entry \"%.200s\": %s", path,
                      why.message);
}

static shard_status next_member(pack_entries *e, pack_entry *out, shard_error *err)
{
    shard_member m;
    SHARD_TRY(shard_reader_next(e->reader, &m, err));
    e->piece = (fmt_span){NULL, 0};
    out->is_file = m.kind == SHARD_MEMBER_FILE;
    out->is_folder = m.kind == SHARD_MEMBER_DIRECTORY;
    out->is_link = m.kind == SHARD_MEMBER_HARD_LINK || m.kind == SHARD_MEMBER_SYMBOLIC_LINK;
    out->has_size = true;
    out->size = m.payload_size;
    return take_path(e, m.path, m.path_size, out, err);
}

static shard_status next_foreign(pack_entries *e, pack_entry *out, shard_error *err)
{
    shard_archive_entry entry;
    if (shard_cancel_is_set(e->cancel))
        return shard_fail(err, SHARD_ECANCEL, NULL, SHARD_NO_OFFSET, "cancelled");
    SHARD_TRY(shard_archive_next(e->archive, &entry, err));
    out->is_file = entry.is_file;
    out->is_folder = entry.is_folder;
    out->is_link = !entry.is_file && !entry.is_folder;
    out->has_size = entry.has_size;
    out->size = entry.size;
    return take_path(e, entry.path, strlen(entry.path), out, err);
}

shard_status pack_entries_next(pack_entries *e, pack_entry *out, shard_error *err)
{
    for (;;) {
        shard_status status = SHARD_END;
        if (e->reader)
            status = next_member(e, out, err);
        else if (e->archive)
            status = next_foreign(e, out, err);
        if (status != SHARD_END) {
            out->path_size = status == SHARD_OK ? strlen(out->path) : 0;
            return status;
        }
        close_archive(e);
        if (e->next_url == e->count)
            return SHARD_END;
        SHARD_TRY(open_next(e, err));
    }
}

static shard_status read_member(pack_entries *e, void *buffer, size_t size, size_t *got,
                                shard_error *err)
{
    if (e->piece.size == 0) {
        const void *data;
        SHARD_TRY(shard_reader_payload(e->reader, &data, &e->piece.size, err));
        e->piece.data = data;
    }
    *got = e->piece.size < size ? e->piece.size : size;
    if (*got > 0)
        memcpy(buffer, e->piece.data, *got);
    e->piece.data += *got;
    e->piece.size -= *got;
    return SHARD_OK;
}

shard_status pack_entries_read(pack_entries *e, void *buffer, size_t size, size_t *got,
                               shard_error *err)
{
    if (e->reader)
        return read_member(e, buffer, size, got, err);
    return shard_archive_read(e->archive, buffer, size, got, err);
}
