/* SPDX-License-Identifier: Apache-2.0 */
#include "pack/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/lock.h"
#include "os/map.h"

enum { VERSION = 1 };

/* ---- lines ---- */

static shard_status add_line(pack_journal *j, uint64_t shard, uint64_t next, fmt_json *skips,
                             shard_error *err)
{
    if (!shard_alloc_grow(&j->alloc, &j->line, &j->capacity, j->lines + 1, sizeof *j->line)) {
        fmt_json_free(skips);
        return shard_fail_memory(err);
    }
    j->line[j->lines++] = (pack_journal_line){shard, next, skips};
    return SHARD_OK;
}

static fmt_json *head_line(const char *digest)
{
    fmt_json *line = fmt_json_new_object();
    if (line && fmt_json_set(line, "journal", fmt_json_new_integer(VERSION)) == FMT_OK &&
        fmt_json_set(line, "digest", fmt_json_new_string(digest, strlen(digest))) == FMT_OK)
        return line;
    fmt_json_free(line);
    return NULL;
}

typedef struct {
    char *text;
    size_t size, capacity;
    const fmt_alloc *alloc;
} line_text;

static bool put(void *context, const char *text, size_t size)
{
    line_text *line = context;
    if (!shard_alloc_grow(line->alloc, &line->text, &line->capacity, line->size + size, 1))
        return false;
    memcpy(line->text + line->size, text, size);
    line->size += size;
    return true;
}

static shard_status write_at(const pack_journal *j, const char *text, size_t size, shard_error *err)
{
    ssize_t written = pwrite(j->fd, text, size, (off_t)j->size);
    if (written == (ssize_t)size)
        return SHARD_OK;
    return shard_fail_errno(err, j->path, "cannot write", written < 0 ? errno : ENOSPC);
}

/* One write, so that a kill leaves all of a line or a piece of it, at the end. */
static shard_status append(pack_journal *j, const fmt_json *value, shard_error *err)
{
    line_text line = {.alloc = &j->alloc};
    shard_status status = SHARD_OK;
    if (!value || fmt_json_write(value, put, &line) != FMT_OK || !put(&line, "\n", 1))
        status = shard_fail_memory(err);
    else
        status = write_at(j, line.text, line.size, err);
    if (status == SHARD_OK)
        j->size += line.size;
    shard_alloc_free(&j->alloc, line.text);
    return status;
}

shard_status pack_journal_add(pack_journal *journal, uint64_t shard, uint64_t next, fmt_json *skips,
                              shard_error *err)
{
    fmt_json *line = fmt_json_new_object();
    bool ok = line && fmt_json_set(line, "shard", fmt_json_new_integer((int64_t)shard)) == FMT_OK &&
              fmt_json_set(line, "next", fmt_json_new_integer((int64_t)next)) == FMT_OK;
    if (ok && skips)
        ok = fmt_json_set(line, "skipped", fmt_json_share(skips)) == FMT_OK;
    shard_status status = ok ? append(journal, line, err) : shard_fail_memory(err);
    fmt_json_free(line);
    if (status == SHARD_OK)
        return add_line(journal, shard, next, skips, err);
    fmt_json_free(skips);
    return status;
}

/* ---- resuming ---- */

static shard_status check_head(const fmt_json *line, const pack_journal *j, const char *digest,
                               shard_error *err)
{
    fmt_span known = fmt_json_string(fmt_json_get(line, "digest"));
    if (fmt_json_integer(fmt_json_get(line, "journal")) != VERSION || !known.data)
        return shard_fail(err, SHARD_EFORMAT, j->path, 0, "not a journal of shardtool pack");
    if (known.size != strlen(digest) || memcmp(known.data, digest, known.size) != 0)
        return shard_fail(
            err, SHARD_EDATA, j->path, SHARD_NO_OFFSET,
            "cannot resume: the input's names or the options are not those with which "
            "the shards were begun (--force packs anew)");
    return SHARD_OK;
}

static bool get_number(const fmt_json *line, const char *key, uint64_t *out)
{
    const fmt_json *value = fmt_json_get(line, key);
    *out = (uint64_t)fmt_json_integer(value);
    return fmt_json_kind_of(value) == FMT_JSON_INTEGER && fmt_json_integer(value) >= 0;
}

static shard_status read_shard(pack_journal *j, const fmt_json *line, shard_error *err)
{
    uint64_t shard, next;
    fmt_json *skips = fmt_json_get(line, "skipped");
    if (!get_number(line, "shard", &shard) || !get_number(line, "next", &next))
        return shard_fail(err, SHARD_EFORMAT, j->path, j->size, "not a line about a shard");
    return add_line(j, shard, next, skips ? fmt_json_share(skips) : NULL, err);
}

static shard_status read_line(pack_journal *j, fmt_span text, const char *digest, bool first,
                              shard_error *err)
{
    fmt_json *line;
    fmt_fault fault;
    fmt_status parsed = fmt_json_parse(&line, text, &fault);
    if (parsed != FMT_OK)
        return shard_fail_fmt(err, parsed, &fault, j->path, j->size);
    shard_status status;
    if (first) {
        status = check_head(line, j, digest, err);
    } else {
        status = read_shard(j, line, err);
    }
    fmt_json_free(line);
    return status;
}

/* All whole lines; what a kill left of the last one is written over. */
static shard_status read_lines(pack_journal *j, fmt_span text, const char *digest, shard_error *err)
{
    while (text.size > 0) {
        const uint8_t *end = memchr(text.data, '\n', text.size);
        if (!end)
            break;
        size_t size = (size_t)(end - text.data);
        SHARD_TRY(read_line(j, (fmt_span){text.data, size}, digest, j->size == 0, err));
        j->size += size + 1;
        text.data += size + 1;
        text.size -= size + 1;
    }
    return SHARD_OK;
}

static shard_status read_file(pack_journal *j, const char *digest, shard_error *err)
{
    shard_map map;
    SHARD_TRY(shard_map_open(&map, j->path, err));
    shard_status status = read_lines(j, (fmt_span){map.data, map.size}, digest, err);
    shard_map_close(&map);
    return status;
}

static shard_status begin(pack_journal *j, const char *digest, bool resume, shard_error *err)
{
    SHARD_TRY(shard_lock(j->fd, j->path, "another pack is writing these shards", err));
    if (resume)
        SHARD_TRY(read_file(j, digest, err));
    if (ftruncate(j->fd, (off_t)j->size) != 0)
        return shard_fail_errno(err, j->path, "cannot truncate", errno);
    if (j->size > 0)
        return SHARD_OK;
    fmt_json *head = head_line(digest);
    shard_status status = append(j, head, err);
    fmt_json_free(head);
    if (status != SHARD_OK)
        unlink(j->path); /* it says nothing */
    return status;
}

shard_status pack_journal_open(pack_journal *journal, const char *path, const char *digest,
                               bool resume, const fmt_alloc *alloc, shard_error *err)
{
    *journal = (pack_journal){.path = path, .alloc = *alloc};
    journal->fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (journal->fd < 0)
        return shard_fail_errno(err, path, "cannot create", errno);
    shard_status status = begin(journal, digest, resume, err);
    if (status != SHARD_OK)
        pack_journal_close(journal, false);
    return status;
}

void pack_journal_close(pack_journal *journal, bool remove)
{
    if (remove)
        unlink(journal->path);
    if (journal->fd >= 0)
        close(journal->fd);
    for (size_t i = 0; i < journal->lines; i++)
        fmt_json_free(journal->line[i].skips);
    shard_alloc_free(&journal->alloc, journal->line);
    *journal = (pack_journal){.fd = -1};
}
