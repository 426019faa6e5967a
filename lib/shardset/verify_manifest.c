/* SPDX-License-Identifier: Apache-2.0 */
/* A manifest's totals against the indexes of its shards. */
#include <shard/verify.h>

#include <string.h>

#include "shardset/manifest_builder.h"
#include "shardset/problems.h"
#include "shardset/set.h"

static void compare_components(shard_problems *p, const fmt_manifest *given,
                               const fmt_manifest *made)
{
    shard_problem_numbers(p, SHARD_ESTALE, SHARD_NO_OFFSET, "number of components",
                          given->components, made->components);
    for (size_t i = 0; i < given->components && i < made->components; i++) {
        const fmt_manifest_component *a = &given->component[i], *b = &made->component[i];
        if (strcmp(a->name, b->name) != 0 || a->count != b->count || a->bytes != b->bytes)
            shard_problem_text(
                p, SHARD_ESTALE, SHARD_NO_OFFSET,
                "component (expected %s: %llu of %llu bytes, got %s: %llu of %llu bytes)", a->name,
                (unsigned long long)a->count, (unsigned long long)a->bytes, b->name,
                (unsigned long long)b->count, (unsigned long long)b->bytes);
    }
}

static void compare(shard_problems *p, const fmt_manifest *given, const fmt_manifest *made)
{
    compare_components(p, given, made);
    if (!given->sorted)
        return;
    if (!made->sorted) {
        shard_problem_text(p, SHARD_ESTALE, SHARD_NO_OFFSET,
                           "keys do not ascend, as the manifest says");
        return;
    }
    if (given->last_key && made->last_key && strcmp(given->last_key, made->last_key) != 0)
        shard_problem_text(p, SHARD_ESTALE, SHARD_NO_OFFSET,
                           "last key (expected \"%s\", got \"%s\")", given->last_key,
                           made->last_key);
    for (size_t i = 0; i < given->shards; i++)
        if (given->shard[i].samples > 0 && made->shard[i].first_key &&
            strcmp(given->shard[i].first_key, made->shard[i].first_key) != 0)
            shard_problem_text(
                p, SHARD_ESTALE, SHARD_NO_OFFSET, "first key of %s (expected \"%s\", got \"%s\")",
                given->shard[i].name, given->shard[i].first_key, made->shard[i].first_key);
}

/* What the manifest should say; not complete where an index is missing or wrong. */
static shard_status build(shard_manifest_builder *b, const shard_set *set, const fmt_alloc *alloc,
                          bool *complete)
{
    *complete = true;
    for (size_t i = 0; i < set->shards; i++) {
        shard_error problem;
        shard_index *index;
        const shard_set_shard *shard = &set->shard[i];
        if (shard_set_index_of(shard->path, shard->bytes, &index, alloc, &problem) != SHARD_OK) {
            *complete = false; /* told when the shard was verified */
            continue;
        }
        shard_status status =
            shard_manifest_builder_add(b, set->manifest.shard[i].name, index, &problem);
        shard_index_close(index);
        if (status == SHARD_ENOMEM)
            return status;
        *complete = *complete && status == SHARD_OK;
    }
    return SHARD_OK;
}

shard_status shard_verify_manifest(const shard_set *set, const shard_verify_opts *opts,
                                   shard_verify_report *report, shard_error *err)
{
    shard_problems p;
    shard_manifest_builder b;
    bool complete;
    SHARD_TRY(shard_problems_init(&p, opts, report, set->manifest_path, err));
    if (!set->manifest_path)
        return SHARD_OK;
    fmt_alloc alloc = shard_alloc_from(p.opts.allocator);
    shard_manifest_builder_init(&b, &alloc);
    shard_status status = build(&b, set, &alloc, &complete);
    if (status == SHARD_OK && complete)
        compare(&p, &set->manifest, &b.manifest);
    shard_manifest_builder_clear(&b);
    return status == SHARD_OK ? SHARD_OK : shard_fail_memory(err);
}
