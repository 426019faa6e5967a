/* SPDX-License-Identifier: Apache-2.0 */
#include "pack/outs.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/hash.h"
#include "manifest/manifest.h"
#include "pack/key_set.h"
#include "utf8.h"

/* ---- shards ---- */

static shard_status parse_patterns(pack_outs *outs, const shard_pack_opts *opts, shard_error *err)
{
    outs->pattern = shard_alloc_zeroed(&outs->alloc, opts->out_count, sizeof *outs->pattern);
    if (!outs->pattern)
        return shard_fail_memory(err);
    for (size_t i = 0; i < opts->out_count; i++) {
        fmt_fault fault;
        fmt_pattern *pattern = &outs->pattern[outs->patterns++];
        fmt_status status =
            fmt_pattern_parse(pattern, opts->outs[i], strlen(opts->outs[i]), true, &fault);
        if (status != FMT_OK)
            return shard_fail_fmt(err, status, &fault, opts->outs[i], 0);
        if (pattern->count == FMT_PATTERN_ENDLESS && opts->out_count > 1)
            return shard_fail(err, SHARD_EINVAL, opts->outs[i], SHARD_NO_OFFSET,
                              "a name with a counter stands alone");
        outs->count = pattern->count == FMT_PATTERN_ENDLESS ? FMT_PATTERN_ENDLESS
                                                            : outs->count + pattern->count;
    }
    return SHARD_OK;
}

shard_status pack_outs_name(const pack_outs *outs, uint64_t i, char out[SHARD_PATH_MAX],
                            shard_error *err)
{
    size_t p = 0;
    while (outs->pattern[p].count != FMT_PATTERN_ENDLESS && i >= outs->pattern[p].count)
        i -= outs->pattern[p++].count;
    if (fmt_pattern_name(&outs->pattern[p], i, out, SHARD_PATH_MAX) == FMT_OK)
        return SHARD_OK;
    return shard_fail(err, SHARD_EINVAL, NULL, SHARD_NO_OFFSET,
                      "the name of shard %llu is too long", (unsigned long long)i);
}

/* Names of one range of numbers are different; others are looked at. */
static bool may_repeat(const pack_outs *outs)
{
    int ranges = 0;
    const fmt_pattern *pattern = &outs->pattern[0];
    for (int i = 0; i < pattern->parts; i++) {
        ranges += pattern->part[i].kind != FMT_PART_LITERAL;
        if (pattern->part[i].kind == FMT_PART_CHOICE)
            return true;
    }
    return outs->patterns > 1 || ranges > 1;
}

static shard_status find_repeated(const pack_outs *outs, pack_key_set *seen, shard_error *err)
{
    for (uint64_t i = 0; i < outs->count; i++) {
        char name[SHARD_PATH_MAX];
        bool known;
        SHARD_TRY(pack_outs_name(outs, i, name, err));
        if (!pack_key_set_add(seen, shard_hash64(name, strlen(name), 0), &known))
            return shard_fail_memory(err);
        if (known)
            return shard_fail(err, SHARD_EINVAL, name, SHARD_NO_OFFSET,
                              "two shards would have this name");
    }
    return SHARD_OK;
}

static shard_status check_repeated(const pack_outs *outs, shard_error *err)
{
    pack_key_set seen;
    if (outs->count == FMT_PATTERN_ENDLESS || !may_repeat(outs))
        return SHARD_OK;
    pack_key_set_init(&seen, &outs->alloc);
    shard_status status = find_repeated(outs, &seen, err);
    pack_key_set_clear(&seen);
    return status;
}

shard_status pack_outs_absent(const char *path, shard_error *err)
{
    if (access(path, F_OK) != 0)
        return SHARD_OK;
    return shard_fail(err, SHARD_EEXIST, path, SHARD_NO_OFFSET,
                      "exists (--force replaces, --resume goes on with an interrupted pack)");
}

/* ---- codec ---- */

static const struct {
    const char *suffix;
    shard_codec codec;
} suffixes[] = {
    {".tar", SHARD_CODEC_PLAIN},   {".tar.zst", SHARD_CODEC_ZSTD}, {".tzst", SHARD_CODEC_ZSTD},
    {".tar.gz", SHARD_CODEC_GZIP}, {".tgz", SHARD_CODEC_GZIP},
};

/* The suffix of a name, or NULL where it is not that of a shard. */
static const char *find_suffix(const char *name, shard_codec *codec)
{
    size_t size = strlen(name);
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        size_t suffix = strlen(suffixes[i].suffix);
        if (size < suffix || strcmp(name + size - suffix, suffixes[i].suffix) != 0)
            continue;
        *codec = suffixes[i].codec;
        return name + size - suffix;
    }
    return NULL;
}

static shard_status choose_codec(pack_outs *outs, const shard_pack_opts *opts, shard_error *err)
{
    for (size_t i = 0; i < opts->out_count; i++) {
        shard_codec codec = SHARD_CODEC_PLAIN;
        if (!opts->has_codec && !outs->is_stdout && !find_suffix(opts->outs[i], &codec))
            return shard_fail(err, SHARD_EINVAL, opts->outs[i], SHARD_NO_OFFSET,
                              "a shard's name ends in .tar, .tar.zst or .tar.gz");
        if (i > 0 && codec != outs->codec)
            return shard_fail(err, SHARD_EINVAL, opts->outs[i], SHARD_NO_OFFSET,
                              "all shards of a set are compressed alike");
        outs->codec = codec;
    }
    if (opts->has_codec)
        outs->codec = opts->codec;
    if (outs->codec == SHARD_CODEC_OTHER)
        return shard_fail(err, SHARD_EINVAL, NULL, SHARD_NO_OFFSET, "cannot write this codec");
    return SHARD_OK;
}

/* ---- manifest ---- */

/* What the names have in common before their first range: "out" of "out-{000..099}.tar". */
static size_t stem_size(const pack_outs *outs, const char *name)
{
    shard_codec codec;
    size_t size = strlen(name);
    const fmt_pattern *pattern = &outs->pattern[0];
    if (pattern->parts > 1 || (pattern->parts == 1 && pattern->part[0].kind != FMT_PART_LITERAL)) {
        size = pattern->part[0].kind == FMT_PART_LITERAL ? pattern->part[0].text.size : 0;
    } else if (outs->patterns > 1) { /* expanded by the shell: cut the digits off */
        const char *suffix = find_suffix(name, &codec);
        size = suffix ? (size_t)(suffix - name) : size;
        while (size > 0 && name[size - 1] >= '0' && name[size - 1] <= '9')
            size--;
    } else {
        const char *suffix = find_suffix(name, &codec);
        size = suffix ? (size_t)(suffix - name) : size;
    }
    while (size > 0 && strchr("-_.", name[size - 1]))
        size--;
    return size;
}

/* Where the number of a part goes into a manifest's name: before what says that it is one. */
static size_t part_place(const char *name)
{
    static const char suffix[] = ".shards.json";
    size_t size = strlen(name);
    if (size > sizeof suffix - 1 && strcmp(name + size - (sizeof suffix - 1), suffix) == 0)
        return size - (sizeof suffix - 1);
    const char *dot = strrchr(shard_path_base(name), '.');
    return dot ? (size_t)(dot - name) : size;
}

static shard_status name_manifest(pack_outs *outs, const shard_pack_opts *opts, shard_error *err)
{
    char part[64] = "";
    int size;
    if (opts->parts > 0)
        snprintf(part, sizeof part, ".part-%05u-of-%05u", opts->part, opts->parts);
    if (opts->manifest) {
        size_t place = part_place(opts->manifest);
        size = snprintf(outs->manifest, SHARD_PATH_MAX, "%.*s%s%s", (int)place, opts->manifest,
                        part, opts->manifest + place);
    } else {
        const char *name = opts->outs[0];
        size_t stem = stem_size(outs, name);
        const char *base = stem == 0 || name[stem - 1] == '/' ? "set" : "";
        size = snprintf(outs->manifest, SHARD_PATH_MAX, "%.*s%s%s.shards.json", (int)stem, name,
                        base, part);
    }
    if (size >= SHARD_PATH_MAX)
        return shard_fail(err, SHARD_EINVAL, opts->outs[0], SHARD_NO_OFFSET, "name is too long");
    return SHARD_OK;
}

/* What stands around a name's ranges is in all of them: the first one shows whether a manifest can
 * name it. */
static shard_status check_nameable(const pack_outs *outs, shard_error *err)
{
    for (size_t i = 0; i < outs->patterns; i++) {
        char name[SHARD_PATH_MAX];
        if (fmt_pattern_name(&outs->pattern[i], 0, name, sizeof name) != FMT_OK)
            continue; /* too long: told when it is wanted */
        const char *base = shard_path_base(name);
        if (!fmt_manifest_name_ok(base, strlen(base)) || !fmt_utf8_ok(base, strlen(base)))
            return shard_fail(
                err, SHARD_EINVAL, name, SHARD_NO_OFFSET,
                "a manifest cannot name this shard (control characters, or not UTF-8)");
    }
    return SHARD_OK;
}

/* ".NAME.journal" beside the manifest. */
static shard_status name_journal(pack_outs *outs, shard_error *err)
{
    char name[SHARD_PATH_MAX + 16];
    snprintf(name, sizeof name, ".%s.journal", shard_path_base(outs->manifest));
    return shard_path_join(outs->folder, name, outs->journal, err);
}

/* Shards lie beside their manifest, so that the set can be moved as a whole. */
static shard_status check_folders(const pack_outs *outs, const shard_pack_opts *opts,
                                  shard_error *err)
{
    char folder[SHARD_PATH_MAX];
    for (size_t i = 0; i <= opts->out_count; i++) {
        const char *name = i < opts->out_count ? opts->outs[i] : outs->manifest;
        SHARD_TRY(shard_path_folder(name, folder, err));
        if (strcmp(folder, outs->folder) != 0)
            return shard_fail(err, SHARD_EINVAL, name, SHARD_NO_OFFSET,
                              "shards and their manifest stand in one folder");
    }
    return SHARD_OK;
}

static shard_status understand(pack_outs *outs, const shard_pack_opts *opts, shard_error *err)
{
    if (opts->out_count == 0)
        return shard_fail(err, SHARD_EINVAL, NULL, SHARD_NO_OFFSET, "no output was named");
    outs->is_stdout = opts->out_count == 1 && strcmp(opts->outs[0], "-") == 0;
    SHARD_TRY(parse_patterns(outs, opts, err));
    SHARD_TRY(check_repeated(outs, err));
    SHARD_TRY(choose_codec(outs, opts, err));
    SHARD_TRY(shard_path_folder(opts->outs[0], outs->folder, err));
    if (outs->is_stdout)
        return SHARD_OK;
    SHARD_TRY(check_nameable(outs, err));
    SHARD_TRY(name_manifest(outs, opts, err));
    SHARD_TRY(check_folders(outs, opts, err));
    return name_journal(outs, err);
}

shard_status pack_outs_init(pack_outs *outs, const shard_pack_opts *opts, const fmt_alloc *alloc,
                            shard_error *err)
{
    *outs = (pack_outs){.alloc = *alloc};
    shard_status status = understand(outs, opts, err);
    if (status != SHARD_OK)
        pack_outs_clear(outs);
    return status;
}

void pack_outs_clear(pack_outs *outs)
{
    shard_alloc_free(&outs->alloc, outs->pattern);
    outs->pattern = NULL;
}
