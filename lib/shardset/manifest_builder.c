/* SPDX-License-Identifier: Apache-2.0 */
#include "shardset/manifest_builder.h"

#include <string.h>

#include "naming/pattern.h"
#include "utf8.h"

void shard_manifest_builder_init(shard_manifest_builder *b, const fmt_alloc *alloc)
{
    *b = (shard_manifest_builder){.alloc = *alloc};
    fmt_manifest_init(&b->manifest, &b->alloc);
    b->manifest.sorted = true;
    b->manifest.has_hashes = true;
}

void shard_manifest_builder_clear(shard_manifest_builder *b)
{
    shard_alloc_free(&b->alloc, b->manifest.shard);
    shard_alloc_free(&b->alloc, b->manifest.component);
    shard_alloc_free(&b->alloc, b->manifest.skip);
    fmt_manifest_clear(&b->manifest);
}

static const char *copy(shard_manifest_builder *b, const char *text)
{
    return text ? fmt_arena_text(&b->manifest.arena, text, strlen(text)) : NULL;
}

/* The bytes go through JSON unchanged, and are one string in C. */
static bool is_plain_text(const char *text, size_t size)
{
    return !memchr(text, 0, size) && fmt_utf8_ok(text, size);
}

static shard_status new_shard(shard_manifest_builder *b, const char *name, fmt_manifest_shard **out,
                              shard_error *err)
{
    fmt_manifest *m = &b->manifest;
    if (!fmt_manifest_name_ok(name, strlen(name)) || !is_plain_text(name, strlen(name)))
        return shard_fail(err, SHARD_EINVAL, name, SHARD_NO_OFFSET,
                          "a manifest cannot name this shard");
    if (!shard_alloc_grow(&b->alloc, &m->shard, &b->shard_capacity, m->shards + 1,
                          sizeof *m->shard))
        return shard_fail_memory(err);
    *out = &m->shard[m->shards++];
    **out = (fmt_manifest_shard){.name = copy(b, name)};
    return (*out)->name ? SHARD_OK : shard_fail_memory(err);
}

/* ---- components ---- */

/* Where `name` stands among the components, or where it belongs. */
static size_t place_of(const fmt_manifest *m, const char *name)
{
    size_t at = 0;
    while (at < m->components && strcmp(m->component[at].name, name) < 0)
        at++;
    return at;
}

static shard_status count_component(shard_manifest_builder *b, const char *name, uint64_t count,
                                    uint64_t bytes, shard_error *err)
{
    fmt_manifest *m = &b->manifest;
    size_t at = place_of(m, name);
    if (at == m->components || strcmp(m->component[at].name, name) != 0) {
        const char *text = copy(b, name);
        if (!is_plain_text(name, strlen(name)))
            return shard_fail(err, SHARD_EDATA, NULL, SHARD_NO_OFFSET,
                              "a manifest cannot name component \"%s\", which is not UTF-8", name);
        if (!text || !shard_alloc_grow(&b->alloc, &m->component, &b->component_capacity,
                                       m->components + 1, sizeof *m->component))
            return shard_fail_memory(err);
        memmove(m->component + at + 1, m->component + at,
                (m->components - at) * sizeof *m->component);
        m->component[at] = (fmt_manifest_component){.name = text};
        m->components++;
    }
    m->component[at].count += count;
    m->component[at].bytes += bytes;
    return SHARD_OK;
}

typedef struct {
    uint64_t count, bytes;
} total;

static shard_status count_samples(const shard_index *index, uint64_t samples, total *totals,
                                  shard_error *err)
{
    for (uint64_t i = 0; i < samples; i++) {
        shard_index_sample sample;
        SHARD_TRY(shard_index_get_sample(index, i, &sample, err));
        for (uint32_t j = 0; j < sample.components; j++) {
            shard_index_component c;
            SHARD_TRY(shard_index_get_component(index, &sample, j, &c, err));
            totals[c.id].count++;
            totals[c.id].bytes += c.payload_size;
        }
    }
    return SHARD_OK;
}

static shard_status count_components(shard_manifest_builder *b, const shard_index *index,
                                     const shard_index_info *info, shard_error *err)
{
    if (info->component_names == 0)
        return SHARD_OK;
    total *totals = shard_alloc_zeroed(&b->alloc, info->component_names, sizeof *totals);
    if (!totals)
        return shard_fail_memory(err);
    shard_status status = count_samples(index, info->samples, totals, err);
    for (uint32_t id = 0; id < info->component_names && status == SHARD_OK; id++)
        status = count_component(b, shard_index_component_name(index, id), totals[id].count,
                                 totals[id].bytes, err);
    shard_alloc_free(&b->alloc, totals);
    return status;
}

/* ---- keys ---- */

static shard_status copy_key(shard_manifest_builder *b, const shard_index *index, uint64_t i,
                             const char **out, shard_error *err)
{
    shard_index_sample sample;
    SHARD_TRY(shard_index_get_sample(index, i, &sample, err));
    if (!is_plain_text(sample.key, sample.key_size))
        b->manifest.sorted = false;
    *out = fmt_arena_text(&b->manifest.arena, sample.key, sample.key_size);
    return *out ? SHARD_OK : shard_fail_memory(err);
}

/* The next shard holds the keys from `first` to `last`: do they go on where the set's keys ended?
 */
static void follow_keys(fmt_manifest *m, const char *first, const char *last)
{
    if (m->last_key && strcmp(m->last_key, first) >= 0)
        m->sorted = false;
    m->last_key = last;
}

static shard_status add_keys(shard_manifest_builder *b, fmt_manifest_shard *shard,
                             const shard_index *index, const shard_index_info *info,
                             shard_error *err)
{
    const char *last;
    if (!info->keys_sorted)
        b->manifest.sorted = false;
    if (!b->manifest.sorted || info->samples == 0)
        return SHARD_OK;
    SHARD_TRY(copy_key(b, index, 0, &shard->first_key, err));
    SHARD_TRY(copy_key(b, index, info->samples - 1, &last, err));
    follow_keys(&b->manifest, shard->first_key, last);
    return SHARD_OK;
}

/* ---- shards ---- */

shard_status shard_manifest_builder_add(shard_manifest_builder *b, const char *name,
                                        const shard_index *index, shard_error *err)
{
    shard_index_info info;
    fmt_manifest_shard *shard;
    shard_index_get_info(index, &info);
    if (!info.has_hash)
        return shard_fail(err, SHARD_EDATA, name, SHARD_NO_OFFSET,
                          "its index has no hash (run shardtool index without --no-checksums)");
    SHARD_TRY(new_shard(b, name, &shard, err));
    shard->samples = info.samples;
    shard->bytes = info.shard_size;
    memcpy(shard->hash, info.hash, sizeof shard->hash);
    b->manifest.samples += info.samples;
    b->manifest.bytes += info.shard_size;
    SHARD_TRY(add_keys(b, shard, index, &info, err));
    return count_components(b, index, &info, err);
}

shard_status shard_manifest_builder_digest(shard_manifest_builder *b, const char *digest,
                                           shard_error *err)
{
    b->manifest.pack_digest = copy(b, digest);
    return b->manifest.pack_digest || !digest ? SHARD_OK : shard_fail_memory(err);
}

static bool same_digest(const fmt_manifest *a, const fmt_manifest *b)
{
    const char *one = a->pack_digest ? a->pack_digest : "";
    return strcmp(one, b->pack_digest ? b->pack_digest : "") == 0;
}

static bool same_classes(const fmt_manifest *a, const fmt_manifest *b)
{
    if (a->classes != b->classes)
        return false;
    for (size_t i = 0; i < a->classes; i++)
        if (strcmp(a->class_name[i], b->class_name[i]) != 0)
            return false;
    return true;
}

static shard_status join_shards(shard_manifest_builder *b, const fmt_manifest *part,
                                shard_error *err)
{
    if (!part->sorted)
        b->manifest.sorted = false;
    b->manifest.has_hashes = b->manifest.has_hashes && part->has_hashes;
    for (size_t i = 0; i < part->shards; i++) {
        fmt_manifest_shard *shard;
        SHARD_TRY(new_shard(b, part->shard[i].name, &shard, err));
        const char *name = shard->name;
        *shard = part->shard[i];
        shard->name = name;
        shard->first_key = copy(b, part->shard[i].first_key);
        if (part->shard[i].first_key && !shard->first_key)
            return shard_fail_memory(err);
        if (b->manifest.sorted && shard->samples > 0)
            follow_keys(&b->manifest, shard->first_key, shard->first_key);
    }
    if (b->manifest.sorted && part->last_key) {
        b->manifest.last_key = copy(b, part->last_key);
        if (!b->manifest.last_key)
            return shard_fail_memory(err);
    }
    return SHARD_OK;
}

shard_status shard_manifest_builder_join(shard_manifest_builder *b, const fmt_manifest *part,
                                         const char *part_path, shard_error *err)
{
    bool first = b->manifest.shards == 0 && !b->manifest.class_name;
    if (first) {
        SHARD_TRY(shard_manifest_builder_classes(b, part->class_name, part->classes, err));
        SHARD_TRY(shard_manifest_builder_digest(b, part->pack_digest, err));
    }
    if (!same_digest(&b->manifest, part))
        return shard_fail(err, SHARD_EDATA, part_path, SHARD_NO_OFFSET,
                          "was packed with other options or from other files than the parts before "
                          "it");
    if (!same_classes(&b->manifest, part))
        return shard_fail(err, SHARD_EDATA, part_path, SHARD_NO_OFFSET,
                          "its class names are not those of the other parts");
    b->manifest.samples += part->samples;
    b->manifest.bytes += part->bytes;
    SHARD_TRY(join_shards(b, part, err));
    for (size_t i = 0; i < part->components; i++)
        SHARD_TRY(count_component(b, part->component[i].name, part->component[i].count,
                                  part->component[i].bytes, err));
    for (size_t i = 0; i < part->skips; i++)
        SHARD_TRY(shard_manifest_builder_skip(b, part->skip[i].name, part->skip[i].reason, err));
    return SHARD_OK;
}

shard_status shard_manifest_builder_skip(shard_manifest_builder *b, const char *name,
                                         const char *reason, shard_error *err)
{
    fmt_manifest *m = &b->manifest;
    fmt_manifest_skip skip = {copy(b, name), copy(b, reason)};
    if (!skip.name || !skip.reason ||
        !shard_alloc_grow(&b->alloc, &m->skip, &b->skip_capacity, m->skips + 1, sizeof *m->skip))
        return shard_fail_memory(err);
    m->skip[m->skips++] = skip;
    return SHARD_OK;
}

shard_status shard_manifest_builder_classes(shard_manifest_builder *b, const char *const *names,
                                            size_t count, shard_error *err)
{
    fmt_manifest *m = &b->manifest;
    m->class_name = fmt_arena_array(&m->arena, count + 1, sizeof *m->class_name);
    if (!m->class_name)
        return shard_fail_memory(err);
    for (m->classes = 0; m->classes < count; m->classes++) {
        m->class_name[m->classes] = copy(b, names[m->classes]);
        if (!m->class_name[m->classes])
            return shard_fail_memory(err);
    }
    return SHARD_OK;
}

static const char *name_at(const void *context, size_t i)
{
    const fmt_manifest *m = context;
    return m->shard[i].name;
}

shard_status shard_manifest_builder_save(shard_manifest_builder *b, const char *path, uint32_t part,
                                         uint32_t parts, bool sync, shard_error *err)
{
    char pattern[FMT_PATTERN_NAME_MAX];
    fmt_manifest *m = &b->manifest;
    m->part = part;
    m->parts = parts;
    bool regular = fmt_pattern_of(name_at, m, m->shards, pattern, sizeof pattern);
    m->pattern = regular ? pattern : NULL;
    shard_status status = shard_manifest_save(m, path, sync, &b->alloc, err);
    m->pattern = NULL;
    return status;
}
