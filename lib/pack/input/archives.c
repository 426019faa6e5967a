/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Input: archives, streamed from front to end without being unpacked. Samples come in the archives'
 * order, so the files of each must be neighbours there.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "arena.h"
#include "core/hash.h"
#include "os/path.h"
#include "pack/input/entries.h"
#include "pack/input/input.h"
#include "pack/key_set.h"

typedef struct {
    pack_input head;
    const shard_pack_opts *opts;
    pack_entries entries;
    pack_entry entry; /* the one that was read last */
    fmt_name name;    /* of it */
    bool pending;     /* it begins the next sample */
    bool names_only;  /* counting: contents are passed over */
    bool delivered;   /* a sample, at least */
    pack_key_set keys;
    fmt_arena arena; /* of class names */
    size_t class_capacity;
    char folder[SHARD_PATH_MAX]; /* of temporary files */
} archives_input;

static void count_ignored(pack_ignored *ignored, fmt_name_kind kind)
{
    ignored->hidden += kind == FMT_NAME_HIDDEN;
    ignored->reserved += kind == FMT_NAME_RESERVED;
    ignored->no_extension += kind == FMT_NAME_NO_EXTENSION || kind == FMT_NAME_TOO_LONG;
}

/* Go to the next file that is a component. */
static shard_status next_component(archives_input *in, shard_error *err)
{
    for (;;) {
        SHARD_TRY(pack_entries_next(&in->entries, &in->entry, err));
        if (in->entry.is_link && in->opts->links == SHARD_PACK_LINKS_ERROR)
            return shard_fail(err, SHARD_EDATA, in->entries.url, SHARD_NO_OFFSET,
                              "link in the archive: %s", in->entry.path);
        if (!in->entry.is_file) {
            in->head.ignored.special += !in->entry.is_folder;
            continue;
        }
        fmt_name_kind kind =
            pack_names_split(&in->head.names, in->entry.path, in->entry.path_size, &in->name);
        if (kind == FMT_NAME_COMPONENT)
            return SHARD_OK;
        count_ignored(&in->head.ignored, kind);
    }
}

/* ---- contents ---- */

static shard_status write_all(int fd, const uint8_t *bytes, size_t size, const char *folder,
                              shard_error *err)
{
    while (size > 0) {
        ssize_t n = write(fd, bytes, size);
        if (n < 0 && errno != EINTR)
            return shard_fail_errno(err, folder, "cannot write a temporary file", errno);
        bytes += n > 0 ? n : 0;
        size -= n > 0 ? (size_t)n : 0;
    }
    return SHARD_OK;
}

/* What did not fit memory: the part that was read, and all that follows, into a nameless file. */
static shard_status spill(archives_input *in, pack_component *c, pack_sample *out, shard_error *err)
{
    enum { PIECE = 1 << 20 };
    char path[SHARD_PATH_MAX + 32];
    snprintf(path, sizeof path, "%s/.shard-entry-XXXXXX", in->folder);
    c->file = mkstemp(path);
    if (c->file < 0)
        return shard_fail_errno(err, path, "cannot create a temporary file", errno);
    unlink(path);
    SHARD_TRY(write_all(c->file, out->bytes + c->offset, c->size, in->folder, err));
    out->bytes_size = c->offset;
    if (!shard_alloc_grow(&out->alloc, &out->bytes, &out->bytes_capacity, c->offset + PIECE, 1))
        return shard_fail_memory(err);
    for (;;) {
        size_t got;
        SHARD_TRY(pack_entries_read(&in->entries, out->bytes + c->offset, PIECE, &got, err));
        if (got == 0)
            break;
        SHARD_TRY(write_all(c->file, out->bytes + c->offset, got, in->folder, err));
        c->size += got;
    }
    c->in_bytes = false;
    return SHARD_OK;
}

static shard_status read_content(archives_input *in, pack_component *c, pack_sample *out,
                                 uint64_t memory_max, shard_error *err)
{
    enum { PIECE = 64 << 10 };
    c->in_bytes = true;
    c->offset = out->bytes_size;
    size_t expected =
        in->entry.has_size && in->entry.size < memory_max ? (size_t)in->entry.size : 0;
    for (;;) {
        size_t wanted = c->size < expected ? expected - c->size : PIECE, got;
        if (!shard_alloc_grow(&out->alloc, &out->bytes, &out->bytes_capacity,
                              c->offset + c->size + wanted, 1))
            return shard_fail_memory(err);
        SHARD_TRY(
            pack_entries_read(&in->entries, out->bytes + c->offset + c->size, wanted, &got, err));
        if (got == 0)
            break;
        c->size += got;
        if (c->size > memory_max)
            return spill(in, c, out, err);
    }
    out->bytes_size = c->offset + c->size;
    if (in->entry.has_size && c->size != in->entry.size)
        return shard_fail(err, SHARD_ETRUNCATED, in->entries.url, SHARD_NO_OFFSET,
                          "%s: expected %llu bytes, got %zu", in->entry.path,
                          (unsigned long long)in->entry.size, c->size);
    return SHARD_OK;
}

/* ---- samples ---- */

/* A sample knows neither the archive nor the entry's own name. */
static shard_status fail_entry(const archives_input *in, const shard_error *why, shard_error *err)
{
    return shard_fail(err, why->status, in->entries.url, SHARD_NO_OFFSET, "entry \"%.200s\": %s",
                      in->entry.path, why->message);
}

static shard_status add_component(archives_input *in, pack_sample *out, uint64_t memory_max,
                                  shard_error *err)
{
    size_t size = in->name.component_size;
    const char *name =
        pack_names_component(&in->head.names, in->entry.path + in->name.key_size + 1, &size);
    pack_component *c;
    shard_error why;
    if (pack_sample_add(out, name, size, &c, &why) != SHARD_OK)
        return fail_entry(in, &why, err);
    return in->names_only ? SHARD_OK : read_content(in, c, out, memory_max, err);
}

static shard_status check_new_key(archives_input *in, const pack_sample *out, shard_error *err)
{
    bool known;
    if (!pack_key_set_add(&in->keys, shard_hash64(out->key, out->key_size, 0), &known))
        return shard_fail_memory(err);
    if (!known)
        return SHARD_OK;
    return shard_fail(err, SHARD_EDATA, in->entries.url, SHARD_NO_OFFSET,
                      "files of sample \"%.400s\" are not neighbours in the archive: unpack it and "
                      "pack the files",
                      out->key);
}

static bool same_key(const archives_input *in, const char *key, size_t key_size)
{
    return in->name.key_size == key_size && memcmp(in->entry.path, key, key_size) == 0;
}

/* All neighbours that share a key. */
static shard_status gather(archives_input *in, pack_sample *out, uint64_t memory_max,
                           shard_error *err)
{
    char key[FMT_KEY_MAX];
    shard_error why;
    shard_status status = in->pending ? SHARD_OK : next_component(in, err);
    if (status != SHARD_OK)
        return status;
    size_t key_size = in->name.key_size < sizeof key ? in->name.key_size : sizeof key;
    memcpy(key, in->entry.path, key_size);
    if (pack_sample_begin(out, key, key_size, &why) != SHARD_OK)
        return fail_entry(in, &why, err);
    SHARD_TRY(check_new_key(in, out, err));
    do {
        SHARD_TRY(add_component(in, out, memory_max, err));
        in->pending = false;
        status = next_component(in, err);
    } while (status == SHARD_OK && same_key(in, key, key_size));
    in->pending = status == SHARD_OK;
    return status == SHARD_END ? SHARD_OK : status;
}

static size_t class_size(const pack_sample *sample)
{
    const char *slash = memchr(sample->key, '/', sample->key_size);
    return slash ? (size_t)(slash - sample->key) : 0;
}

/* Where a class stands among those known, or belongs. */
static size_t place_of(const pack_input *input, const char *name, size_t size, bool *known)
{
    size_t low = 0, high = input->classes;
    *known = false;
    while (low < high) {
        size_t middle = low + (high - low) / 2, length = strlen(input->class_name[middle]);
        int order = memcmp(input->class_name[middle], name, length < size ? length : size);
        if (order == 0)
            order = (length > size) - (length < size);
        if (order == 0) {
            *known = true;
            return middle;
        }
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static shard_status learn_class(archives_input *in, const pack_sample *sample, shard_error *err)
{
    pack_input *input = &in->head;
    bool known;
    if (class_size(sample) == 0)
        return pack_sample_fail(sample, SHARD_EDATA, err, "stands in no class folder");
    size_t at = place_of(input, sample->key, class_size(sample), &known);
    if (known)
        return SHARD_OK;
    const char *name = fmt_arena_text(&in->arena, sample->key, class_size(sample));
    if (!name || !shard_alloc_grow(&input->alloc, &input->class_name, &in->class_capacity,
                                   input->classes + 1, sizeof *input->class_name))
        return shard_fail_memory(err);
    SHARD_TRY(pack_input_check_class(name, err));
    memmove(input->class_name + at + 1, input->class_name + at,
            (input->classes - at) * sizeof *input->class_name);
    input->class_name[at] = name;
    input->classes++;
    return SHARD_OK;
}

static shard_status add_label(archives_input *in, pack_sample *out, shard_error *err)
{
    enum { DIGITS = 20 };
    bool known;
    pack_component *c;
    if (!shard_alloc_grow(&out->alloc, &out->bytes, &out->bytes_capacity, out->bytes_size + DIGITS,
                          1))
        return shard_fail_memory(err);
    SHARD_TRY(pack_sample_add(out, "cls", 3, &c, err));
    size_t number = place_of(&in->head, out->key, class_size(out), &known);
    c->in_bytes = true;
    c->offset = out->bytes_size;
    c->size = (size_t)snprintf((char *)out->bytes + c->offset, DIGITS, "%zu", number);
    out->bytes_size += c->size;
    return SHARD_OK;
}

/* The first required component that a sample lacks, or NULL. */
static const char *lacks(const archives_input *in, const pack_sample *sample)
{
    for (size_t i = 0; i < in->opts->require_count; i++) {
        bool is_label = in->opts->label_from_dir && strcmp(in->opts->require[i], "cls") == 0;
        if (!is_label && !pack_sample_find(sample, in->opts->require[i]))
            return in->opts->require[i];
    }
    return NULL;
}

static shard_status next(pack_input *input, pack_sample *out, uint64_t memory_max, shard_error *err)
{
    archives_input *in = (archives_input *)input;
    for (;;) {
        shard_status status = gather(in, out, memory_max, err);
        if (status == SHARD_END && !in->delivered)
            return pack_input_fail_empty(input, in->opts->sources[0], err);
        if (status != SHARD_OK)
            return status;
        const char *wanted = lacks(in, out);
        if (!wanted)
            break;
        if (in->opts->missing == SHARD_PACK_ERROR)
            return pack_sample_fail(out, SHARD_EDATA, err,
                                    "has no component \"%s\" (--missing skip leaves it out)",
                                    wanted);
        char reason[FMT_COMPONENT_MAX + 32];
        snprintf(reason, sizeof reason, "no component \"%.*s\"", FMT_COMPONENT_MAX, wanted);
        if (!in->names_only) /* listed once, not while counting */
            SHARD_TRY(pack_input_skip(input, out->key, reason, err));
    }
    if (in->opts->label_from_dir && in->names_only)
        SHARD_TRY(learn_class(in, out, err));
    if (in->opts->label_from_dir && !in->names_only)
        SHARD_TRY(add_label(in, out, err));
    pack_sample_settle(out);
    in->delivered = true;
    return SHARD_OK;
}

/* ---- the input ---- */

static void rewind_archives(archives_input *in)
{
    pack_entries_close(&in->entries);
    pack_entries_init(&in->entries, in->opts->sources, in->opts->source_count, in->opts->cancel,
                      &in->head.alloc);
    pack_key_set_clear(&in->keys);
    in->pending = in->delivered = false;
    in->head.ignored = (pack_ignored){0};
}

/* Read names only, to know how many samples and which classes there are. */
static shard_status count(archives_input *in, shard_error *err)
{
    pack_sample sample;
    uint64_t samples = 0;
    for (size_t i = 0; i < in->opts->source_count; i++)
        if (strcmp(in->opts->sources[i], "-") == 0)
            return shard_fail(err, SHARD_EINVAL, "(stdin)", SHARD_NO_OFFSET,
                              "how many samples come is not known before: use a counter in the "
                              "shards' names (out-%%06d.tar), and no labels from folders");
    pack_sample_init(&sample, &in->head.alloc);
    in->names_only = true;
    shard_status status;
    while ((status = next(&in->head, &sample, 0, err)) == SHARD_OK)
        samples++;
    in->names_only = false;
    pack_sample_clear(&sample);
    in->head.samples = samples;
    rewind_archives(in);
    return status == SHARD_END ? SHARD_OK : status;
}

static void identify(const pack_input *input, shard_hash *hash)
{
    const archives_input *in = (const archives_input *)input;
    for (size_t i = 0; i < in->opts->source_count; i++)
        shard_hash_add(hash, shard_path_base(in->opts->sources[i]),
                       strlen(shard_path_base(in->opts->sources[i])) + 1);
}

static void close_archives(pack_input *input)
{
    archives_input *in = (archives_input *)input;
    pack_entries_close(&in->entries);
    pack_key_set_clear(&in->keys);
    fmt_arena_clear(&in->arena);
    shard_alloc_free(&input->alloc, input->class_name);
}

static const pack_input_type archives_type = {
    .next = next, .identify = identify, .close = close_archives};

static shard_status prepare(archives_input *in, bool counted, shard_error *err)
{
    if (in->opts->shuffle)
        return shard_fail(err, SHARD_EINVAL, in->opts->sources[0], SHARD_NO_OFFSET,
                          "an archive is read from front to end and cannot be shuffled: unpack it "
                          "and pack the files");
    if (in->opts->parts > 0)
        return shard_fail(err, SHARD_EINVAL, in->opts->sources[0], SHARD_NO_OFFSET,
                          "an archive is read from front to end and cannot be packed in parts: "
                          "unpack it and pack the files");
    const char *out = in->opts->out_count > 0 ? in->opts->outs[0] : "-";
    SHARD_TRY(shard_path_folder(out, in->folder, err));
    return counted || in->opts->label_from_dir ? count(in, err) : SHARD_OK;
}

shard_status pack_archives_open(pack_input **out, const shard_pack_opts *opts, bool counted,
                                const fmt_alloc *alloc, shard_error *err)
{
    pack_input *input;
    SHARD_TRY(pack_input_new(&input, sizeof(archives_input), &archives_type, opts, alloc, err));
    archives_input *in = (archives_input *)input;
    in->opts = opts;
    fmt_arena_init(&in->arena, &input->alloc);
    pack_key_set_init(&in->keys, &input->alloc);
    rewind_archives(in);
    shard_status status = prepare(in, counted, err);
    if (status != SHARD_OK)
        pack_input_close(input);
    else
        *out = input;
    return status;
}
