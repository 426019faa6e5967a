/* SPDX-License-Identifier: Apache-2.0 */
/* libarchive, twice: whole archives as pack's input, and xz, bzip2, lz4 shards as streams of bytes.
 */
#include "container/archive.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <locale.h>
#include <string.h>

#include "container/decoder.h"

/* What libarchive calls back with. */
typedef struct {
    shard_raw *raw;
    shard_decoder *decoder; /* of what is compressed as a whole; NULL: read raw */
    size_t lent;            /* bytes of the raw buffer that libarchive is looking at */
    shard_error *err;       /* of the call under way */
    bool failed;            /* the source did; err is filled */
} feed;

static void take_back(feed *f)
{
    shard_raw_consume(f->raw, f->lent);
    f->lent = 0;
}

static shard_status next_bytes(feed *f, fmt_span *out, shard_error *err)
{
    if (f->decoder)
        return f->decoder->type->next(f->decoder, out, err);
    SHARD_TRY(shard_raw_next(f->raw, out, err));
    f->lent = out->size;
    return SHARD_OK;
}

static la_ssize_t feed_read(struct archive *archive, void *context, const void **bytes)
{
    feed *f = context;
    fmt_span span;
    take_back(f);
    if (next_bytes(f, &span, f->err) != SHARD_OK) {
        f->failed = true;
        archive_set_error(archive, EIO, "read failed");
        return ARCHIVE_FATAL;
    }
    *bytes = span.data;
    return (la_ssize_t)span.size;
}

static la_int64_t feed_skip(struct archive *archive, void *context, la_int64_t request)
{
    feed *f = context;
    (void)archive;
    take_back(f);
    uint64_t left = f->raw->source->size - f->raw->offset;
    uint64_t skip = (uint64_t)request < left ? (uint64_t)request : left;
    shard_raw_seek(f->raw, f->raw->offset + skip);
    return (la_int64_t)skip;
}

static la_int64_t feed_seek(struct archive *archive, void *context, la_int64_t offset, int whence)
{
    feed *f = context;
    (void)archive;
    take_back(f);
    int64_t base = whence == SEEK_SET   ? 0
                   : whence == SEEK_CUR ? (int64_t)f->raw->offset
                                        : (int64_t)f->raw->source->size;
    if (base + offset < 0)
        return ARCHIVE_FATAL;
    shard_raw_seek(f->raw, (uint64_t)(base + offset));
    return base + offset;
}

static shard_status fail(struct archive *archive, const feed *f, shard_error *err)
{
    if (f->failed)
        return err ? err->status : SHARD_EIO;
    const char *why = archive_error_string(archive);
    shard_status status = archive_errno(archive) == ENOMEM ? SHARD_ENOMEM : SHARD_EFORMAT;
    if (why && strncmp(why, "Truncated", 9) == 0)
        status = SHARD_ETRUNCATED;
    return shard_fail(err, status, f->raw->source->url, SHARD_NO_OFFSET, "%s",
                      why ? why : "not a readable archive");
}

static shard_status open_feed(struct archive *archive, feed *f, shard_error *err)
{
    f->err = err;
    archive_read_set_read_callback(archive, feed_read);
    if (f->raw->source->seekable && !f->raw->hash && !f->decoder) {
        archive_read_set_skip_callback(archive, feed_skip);
        archive_read_set_seek_callback(archive, feed_seek);
    }
    archive_read_set_callback_data(archive, f);
    return archive_read_open1(archive) == ARCHIVE_OK ? SHARD_OK : fail(archive, f, err);
}

/* ---- archives ---- */

struct shard_archive {
    struct archive *archive;
    locale_t utf8; /* in which libarchive gives names as UTF-8; 0: the system has none */
    fmt_alloc alloc;
    feed feed;
};

/* A zip is read by its directory alone: without one, what was cut off would not be missed. */
static shard_status open_archive(shard_archive *a, shard_error *err)
{
    a->archive = archive_read_new();
    if (!a->archive)
        return shard_fail_memory(err);
    archive_read_support_format_zip_seekable(a->archive);
    archive_read_support_format_cpio(a->archive);
    archive_read_support_format_7zip(a->archive);
    return open_feed(a->archive, &a->feed, err);
}

shard_status shard_archive_open(shard_archive **out, shard_raw *raw, shard_decoder *decoder,
                                const fmt_alloc *alloc, shard_error *err)
{
    shard_archive *a = shard_alloc_zeroed(alloc, 1, sizeof *a);
    *out = NULL;
    if (!a)
        return shard_fail_memory(err);
    a->alloc = *alloc;
    a->feed.raw = raw;
    a->feed.decoder = decoder;
    a->utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
    shard_status status = open_archive(a, err);
    if (status != SHARD_OK)
        shard_archive_close(a);
    else
        *out = a;
    return status;
}

void shard_archive_close(shard_archive *archive)
{
    if (!archive)
        return;
    fmt_alloc alloc = archive->alloc;
    archive_read_free(archive->archive);
    if (archive->utf8)
        freelocale(archive->utf8);
    shard_alloc_free(&alloc, archive);
}

/* Behind the last entry comes what tells whether all before it was whole: gzip's checksum. */
static shard_status drain(feed *f, shard_error *err)
{
    fmt_span span = {NULL, 1};
    while (f->decoder && span.size > 0)
        SHARD_TRY(next_bytes(f, &span, err));
    return SHARD_END;
}

static shard_status read_entry(shard_archive *archive, shard_archive_entry *out, shard_error *err)
{
    struct archive_entry *entry;
    int answer = archive_read_next_header(archive->archive, &entry);
    if (answer == ARCHIVE_EOF)
        return drain(&archive->feed, err);
    if (answer != ARCHIVE_OK && answer != ARCHIVE_WARN) /* a RETRY means that entries were lost */
        return fail(archive->archive, &archive->feed, err);
    out->path = archive_entry_pathname(entry);
    if (!out->path)
        return shard_fail(err, SHARD_EFORMAT, archive->feed.raw->source->url, SHARD_NO_OFFSET,
                          "an entry has no name, or one that is not UTF-8");
    out->is_file = archive_entry_filetype(entry) == AE_IFREG && !archive_entry_hardlink(entry);
    out->is_folder = archive_entry_filetype(entry) == AE_IFDIR;
    out->has_size = archive_entry_size_is_set(entry);
    out->size = out->has_size ? (uint64_t)archive_entry_size(entry) : 0;
    return SHARD_OK;
}

/* libarchive gives names in the thread's character set, which must not depend on the user's. */
shard_status shard_archive_next(shard_archive *archive, shard_archive_entry *out, shard_error *err)
{
    locale_t before = archive->utf8 ? uselocale(archive->utf8) : (locale_t)0;
    archive->feed.err = err;
    shard_status status = read_entry(archive, out, err);
    if (before)
        uselocale(before);
    return status;
}

shard_status shard_archive_read(shard_archive *archive, void *buffer, size_t size, size_t *got,
                                shard_error *err)
{
    archive->feed.err = err;
    la_ssize_t n = archive_read_data(archive->archive, buffer, size);
    if (n < 0)
        return fail(archive->archive, &archive->feed, err);
    *got = (size_t)n;
    return SHARD_OK;
}

/* ---- compressed bytes ---- */

typedef struct {
    shard_decoder head;
    struct archive *archive;
    bool at_end;
    feed feed;
} archive_decoder;

static shard_status next(shard_decoder *decoder, fmt_span *out, shard_error *err)
{
    archive_decoder *d = (archive_decoder *)decoder;
    const void *bytes = NULL;
    size_t size = 0;
    la_int64_t offset;
    *out = (fmt_span){NULL, 0};
    d->feed.err = err;
    while (size == 0 && !d->at_end) {
        int answer = archive_read_data_block(d->archive, &bytes, &size, &offset);
        d->at_end = answer == ARCHIVE_EOF;
        if (answer != ARCHIVE_OK && answer != ARCHIVE_EOF)
            return fail(d->archive, &d->feed, err);
    }
    if (!d->at_end)
        *out = (fmt_span){bytes, size};
    return SHARD_OK;
}

static void close_decoder(shard_decoder *decoder)
{
    archive_decoder *d = (archive_decoder *)decoder;
    fmt_alloc alloc = d->head.alloc;
    archive_read_free(d->archive);
    shard_alloc_free(&alloc, d);
}

static const shard_decoder_type archive_decoder_type = {next, close_decoder};

static shard_status open_decoder(archive_decoder *d, shard_error *err)
{
    struct archive_entry *entry;
    d->archive = archive_read_new();
    if (!d->archive)
        return shard_fail_memory(err);
    archive_read_support_format_raw(d->archive);
    archive_read_support_filter_bzip2(d->archive);
    archive_read_support_filter_xz(d->archive);
    archive_read_support_filter_lz4(d->archive);
    archive_read_support_filter_lzip(d->archive);
    SHARD_TRY(open_feed(d->archive, &d->feed, err));
    int answer = archive_read_next_header(d->archive, &entry);
    return answer == ARCHIVE_OK ? SHARD_OK : fail(d->archive, &d->feed, err);
}

shard_status shard_archive_decoder_open(shard_decoder **out, shard_raw *raw, const fmt_alloc *alloc,
                                        shard_error *err)
{
    archive_decoder *d = shard_alloc_zeroed(alloc, 1, sizeof *d);
    if (!d)
        return shard_fail_memory(err);
    d->head = (shard_decoder){.type = &archive_decoder_type, .raw = raw, .alloc = *alloc};
    d->feed.raw = raw;
    shard_status status = open_decoder(d, err);
    if (status != SHARD_OK)
        close_decoder(&d->head);
    else
        *out = &d->head;
    return status;
}
