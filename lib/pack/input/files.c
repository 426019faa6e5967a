/* SPDX-License-Identifier: Apache-2.0 */
/* Input: files of trees and lists, grouped into samples by their keys. */
#include <shard/cpu.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/hash.h"
#include "core/rng.h"
#include "os/path.h"
#include "pack/input/entries.h"
#include "pack/input/file_list.h"
#include "pack/input/path_list.h"
#include "pack/input/tree.h"
#include "pack/key_set.h"

/* Neighbours in the list of files. */
typedef struct {
    uint32_t first, count;
} file_group;

typedef struct {
    pack_input head;
    const shard_pack_opts *opts;
    pack_file_list list;
    file_group *group;
    size_t groups;
    uint32_t listed_root; /* that of paths given one by one */
    bool has_listed_root;
    shard_error *err; /* of the call under way */
} files_input;

/* ---- gathering ---- */

static shard_status unreadable(void *context, const shard_error *why, shard_error *err)
{
    files_input *in = context;
    if (in->opts->on_error == SHARD_PACK_SKIP)
        return pack_input_skip(&in->head, why->url, why->message, err);
    if (err)
        *err = *why;
    return why->status;
}

static shard_status add_listed(void *context, const char *path, size_t size, shard_error *err)
{
    files_input *in = context;
    char clean[SHARD_PATH_MAX];
    if (size == 0)
        return SHARD_OK;
    const char *base = in->opts->base ? in->opts->base : path[0] == '/' ? "/" : ".";
    if (path[0] == '/' && in->opts->base)
        return shard_fail(err, SHARD_EINVAL, path, SHARD_NO_OFFSET,
                          "an absolute path cannot be relative to %s", in->opts->base);
    if (in->has_listed_root && strcmp(in->list.root[in->listed_root].path, base) != 0)
        return shard_fail(err, SHARD_EINVAL, path, SHARD_NO_OFFSET,
                          "absolute and relative paths do not go together");
    if (!in->has_listed_root)
        SHARD_TRY(pack_file_list_root(&in->list, base, &in->listed_root, err));
    in->has_listed_root = true;
    SHARD_TRY(pack_path_normalise(path, size, clean, err));
    return pack_file_list_add(&in->list, in->listed_root, clean, strlen(clean), err);
}

static shard_status add_source(files_input *in, const char *source, shard_error *err)
{
    struct stat info;
    uint32_t root;
    if (stat(source, &info) != 0)
        return shard_fail_errno(err, source, "cannot open", errno);
    if (!S_ISDIR(info.st_mode))
        return add_listed(in, source, strlen(source), err);
    pack_walk_rules rules = {.links = in->opts->links,
                             .threads =
                                 in->opts->threads > 0 ? in->opts->threads : shard_cpu_count(),
                             .cancel = in->opts->cancel,
                             .unreadable = unreadable,
                             .context = in};
    SHARD_TRY(pack_file_list_root(&in->list, source, &root, err));
    return pack_tree_walk(&in->list, root, &rules, err);
}

static shard_status gather(files_input *in, shard_error *err)
{
    for (size_t i = 0; i < in->opts->source_count; i++)
        SHARD_TRY(add_source(in, in->opts->sources[i], err));
    if (in->opts->files_from)
        SHARD_TRY(pack_path_list_read(in->opts->files_from, in->opts->files_from_nul,
                                      in->opts->cancel, add_listed, in, &in->head.alloc, err));
    pack_file_list_sort(&in->list);
    return SHARD_OK;
}

/* ---- grouping ---- */

static size_t group_end(const pack_file_list *list, size_t first)
{
    size_t end = first + 1;
    while (end < list->count && pack_file_same_key(&list->file[first], &list->file[end]))
        end++;
    return end;
}

static bool has_component(const files_input *in, const file_group *group, const char *wanted)
{
    for (uint32_t i = 0; i < group->count; i++) {
        const pack_file *file = &in->list.file[group->first + i];
        char stored[FMT_COMPONENT_MAX];
        size_t size = file->component_size;
        const char *name =
            pack_names_component(&in->head.names, file->path + file->key_size + 1, &size);
        fmt_component_write(stored, name, size);
        if (size == strlen(wanted) && memcmp(stored, wanted, size) == 0)
            return true;
    }
    return in->opts->label_from_dir && strcmp(wanted, "cls") == 0;
}

/* Is the sample whole? One that is not is an error, or left out and listed. */
static shard_status check_required(files_input *in, const file_group *group, bool *keep,
                                   shard_error *err)
{
    *keep = true;
    for (size_t i = 0; i < in->opts->require_count; i++) {
        const char *wanted = in->opts->require[i];
        if (has_component(in, group, wanted))
            continue;
        const pack_file *file = &in->list.file[group->first];
        char name[SHARD_PATH_MAX], key[FMT_KEY_MAX + 1], reason[FMT_COMPONENT_MAX + 32];
        pack_file_name(&in->list, file, name, sizeof name);
        if (in->opts->missing == SHARD_PACK_ERROR)
            return shard_fail(err, SHARD_EDATA, name, SHARD_NO_OFFSET,
                              "its sample has no component \"%s\" (--missing skip leaves it out)",
                              wanted);
        *keep = false;
        snprintf(key, sizeof key, "%.*s", (int)file->key_size, file->path);
        snprintf(reason, sizeof reason, "no component \"%s\"", wanted);
        return pack_input_skip(&in->head, key, reason, err);
    }
    return SHARD_OK;
}

static shard_status make_groups(files_input *in, shard_error *err)
{
    size_t count = 0;
    for (size_t first = 0; first < in->list.count; first = group_end(&in->list, first))
        count++;
    in->group = shard_alloc_zeroed(&in->head.alloc, count + 1, sizeof *in->group);
    if (!in->group)
        return shard_fail_memory(err);
    for (size_t first = 0; first < in->list.count;) {
        size_t end = group_end(&in->list, first);
        file_group group = {(uint32_t)first, (uint32_t)(end - first)};
        bool keep;
        SHARD_TRY(check_required(in, &group, &keep, err));
        if (keep)
            in->group[in->groups++] = group;
        first = end;
    }
    return SHARD_OK;
}

/* ---- names that collide ---- */

static bool is_renamed(const pack_file *file)
{
    char key[FMT_KEY_MAX];
    return fmt_key_write(key, file->path, file->key_size);
}

static uint64_t stored_hash(const pack_file *file)
{
    char key[FMT_KEY_MAX];
    fmt_key_write(key, file->path, file->key_size);
    return shard_hash64(key, file->key_size, 0);
}

static shard_status fail_collision(files_input *in, uint64_t hash, shard_error *err)
{
    const pack_file *first = NULL;
    char a[SHARD_PATH_MAX], b[SHARD_PATH_MAX];
    for (size_t i = 0; i < in->groups; i++) {
        const pack_file *file = &in->list.file[in->group[i].first];
        if (stored_hash(file) != hash)
            continue;
        if (!first) {
            first = file;
            continue;
        }
        pack_file_name(&in->list, first, a, sizeof a);
        pack_file_name(&in->list, file, b, sizeof b);
        return shard_fail(err, SHARD_EDATA, a, SHARD_NO_OFFSET,
                          "gets the same key as %.400s (dots in keys become '_'): rename one", b);
    }
    return SHARD_OK;
}

/* Keys differ as they stand; once dots are replaced, two may be alike. */
static shard_status check_collisions(files_input *in, shard_error *err)
{
    bool renamed = false;
    for (size_t i = 0; i < in->groups && !renamed; i++)
        renamed = is_renamed(&in->list.file[in->group[i].first]);
    if (!renamed)
        return SHARD_OK;
    pack_key_set keys;
    pack_key_set_init(&keys, &in->head.alloc);
    shard_status status = SHARD_OK;
    for (size_t i = 0; i < in->groups && status == SHARD_OK; i++) {
        uint64_t hash = stored_hash(&in->list.file[in->group[i].first]);
        bool known = false;
        if (!pack_key_set_add(&keys, hash, &known))
            status = shard_fail_memory(err);
        else if (known)
            status = fail_collision(in, hash, err);
    }
    pack_key_set_clear(&keys);
    return status;
}

/* ---- classes ---- */

static size_t class_size(const pack_file *file)
{
    const char *slash = memchr(file->path, '/', file->key_size);
    return slash ? (size_t)(slash - file->path) : 0;
}

static int compare_class(const char *class_name, const pack_file *file)
{
    size_t size = class_size(file), class_length = strlen(class_name);
    int order = memcmp(class_name, file->path, class_length < size ? class_length : size);
    return order != 0 ? order : (class_length > size) - (class_length < size);
}

static shard_status add_class(files_input *in, size_t *capacity, const pack_file *file,
                              shard_error *err)
{
    if (class_size(file) == 0) {
        char name[SHARD_PATH_MAX];
        pack_file_name(&in->list, file, name, sizeof name);
        return shard_fail(err, SHARD_EDATA, name, SHARD_NO_OFFSET,
                          "stands in no class folder, so it has no label");
    }
    if (in->head.classes > 0 && compare_class(in->head.class_name[in->head.classes - 1], file) == 0)
        return SHARD_OK;
    if (!shard_alloc_grow(&in->head.alloc, &in->head.class_name, capacity, in->head.classes + 1,
                          sizeof *in->head.class_name))
        return shard_fail_memory(err);
    const char *name = fmt_arena_text(&in->list.arena, file->path, class_size(file));
    if (!name)
        return shard_fail_memory(err);
    SHARD_TRY(pack_input_check_class(name, err));
    in->head.class_name[in->head.classes++] = name;
    return SHARD_OK;
}

static int compare_texts(const void *a, const void *b)
{
    const char *x, *y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return strcmp(x, y);
}

/* The first folders of all keys, ascending: a sample's label is the number of its own. */
static shard_status find_classes(files_input *in, shard_error *err)
{
    size_t capacity = 0;
    for (size_t i = 0; i < in->groups; i++)
        SHARD_TRY(add_class(in, &capacity, &in->list.file[in->group[i].first], err));
    if (in->head.classes == 0)
        return SHARD_OK;
    /* Keys put "a-b/x" before "a/x", but of the folders "a" comes first. */
    qsort(in->head.class_name, in->head.classes, sizeof *in->head.class_name, compare_texts);
    return SHARD_OK;
}

static size_t class_number(const files_input *in, const pack_file *file)
{
    size_t low = 0, high = in->head.classes - 1;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare_class(in->head.class_name[middle], file) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* ---- the input ---- */

static shard_status add_label(const files_input *in, const pack_file *file, pack_sample *out,
                              shard_error *err)
{
    enum { DIGITS = 20 };
    pack_component *c;
    if (!shard_alloc_grow(&out->alloc, &out->bytes, &out->bytes_capacity, DIGITS, 1))
        return shard_fail_memory(err);
    SHARD_TRY(pack_sample_add(out, "cls", 3, &c, err));
    c->size = (size_t)snprintf((char *)out->bytes, DIGITS, "%zu", class_number(in, file));
    c->data = out->bytes;
    return SHARD_OK;
}

static shard_status get(const pack_input *input, uint64_t i, pack_sample *out, shard_error *err)
{
    const files_input *in = (const files_input *)input;
    const file_group *group = &in->group[i];
    const pack_file *first = &in->list.file[group->first];
    SHARD_TRY(pack_sample_begin(out, first->path, first->key_size, err));
    for (uint32_t j = 0; j < group->count; j++) {
        const pack_file *file = &in->list.file[group->first + j];
        size_t size = file->component_size;
        const char *name =
            pack_names_component(&input->names, file->path + file->key_size + 1, &size);
        pack_component *c;
        SHARD_TRY(pack_sample_add(out, name, size, &c, err));
        c->path = file->path;
        c->folder = in->list.root[file->root].fd;
        c->folder_path = in->list.root[file->root].path;
    }
    return in->opts->label_from_dir ? add_label(in, first, out, err) : SHARD_OK;
}

/* The mean of a few samples spread over the range; a pure function of the input. */
static bool typical_size(const pack_input *input, uint64_t first, uint64_t last, uint64_t *out)
{
    enum { LOOKS = 16 };
    const files_input *in = (const files_input *)input;
    uint64_t looks = last - first < LOOKS ? last - first : LOOKS, total = 0;
    for (uint64_t i = 0; i < looks; i++) {
        const file_group *group = &in->group[first + i * (last - first) / looks];
        for (uint32_t j = 0; j < group->count; j++) {
            const pack_file *file = &in->list.file[group->first + j];
            struct stat info;
            if (fstatat(in->list.root[file->root].fd, file->path, &info, 0) == 0)
                total += (uint64_t)info.st_size;
        }
    }
    *out = looks > 0 ? total / looks : 0;
    return true;
}

static void identify(const pack_input *input, shard_hash *hash)
{
    const files_input *in = (const files_input *)input;
    for (size_t i = 0; i < in->groups; i++)
        for (uint32_t j = 0; j < in->group[i].count; j++) {
            const pack_file *file = &in->list.file[in->group[i].first + j];
            shard_hash_add(hash, file->path, strlen(file->path) + 1);
        }
}

static void close_files(pack_input *input)
{
    files_input *in = (files_input *)input;
    pack_file_list_clear(&in->list);
    shard_alloc_free(&input->alloc, in->group);
    shard_alloc_free(&input->alloc, input->class_name);
}

static const pack_input_type files_type = {
    .get = get, .typical_size = typical_size, .identify = identify, .close = close_files};

static shard_status prepare(files_input *in, shard_error *err)
{
    SHARD_TRY(gather(in, err));
    SHARD_TRY(make_groups(in, err));
    SHARD_TRY(check_collisions(in, err));
    if (in->opts->label_from_dir)
        SHARD_TRY(find_classes(in, err));
    if (in->opts->shuffle)
        shard_rng_shuffle(in->group, in->groups, sizeof *in->group, in->opts->seed);
    in->head.samples = in->groups;
    return SHARD_OK;
}

shard_status pack_files_open(pack_input **out, const shard_pack_opts *opts, const fmt_alloc *alloc,
                             shard_error *err)
{
    pack_input *input;
    SHARD_TRY(pack_input_new(&input, sizeof(files_input), &files_type, opts, alloc, err));
    files_input *in = (files_input *)input;
    in->opts = opts;
    pack_file_list_init(&in->list, &input->names, &input->ignored, alloc);
    shard_status status = prepare(in, err);
    if (status != SHARD_OK)
        pack_input_close(input);
    else
        *out = input;
    return status;
}
