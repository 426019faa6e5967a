/* SPDX-License-Identifier: Apache-2.0 */
#include <shard/verify.h>

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "container/reader.h"
#include "core/crc32c.h"
#include "core/opts.h"
#include "os/path.h"
#include "shardset/manifest_builder.h"
#include "shardset/set.h"

typedef struct {
    const shard_set *set;
    const shard_set_shard *shard;
    const shard_verify_opts *opts;
    shard_verify_report *report;
    shard_index *index; /* NULL: none, or unusable */
    shard_index_info info;
    shard_reader *reader;
    shard_hash *hash;
    fmt_alloc alloc;

    uint64_t sample; /* number of the present one, from 1 */
    shard_index_sample expected;
    uint32_t component; /* how many of it have been seen */
} verifying;

/* ---- telling ---- */

static void tell(verifying *v, const shard_error *problem)
{
    if (v->report->problems++ < v->opts->problems_max && v->opts->on_problem)
        v->opts->on_problem(v->opts->context, problem);
}

SHARD_PRINTF(4, 5)
static void tell_text(verifying *v, shard_status status, uint64_t offset, const char *text, ...)
{
    char message[512];
    shard_error problem;
    va_list arguments;
    va_start(arguments, text);
    vsnprintf(message, sizeof message, text, arguments);
    va_end(arguments);
    shard_fail(&problem, status, v->shard->path, offset, "%s", message);
    tell(v, &problem);
}

static void tell_numbers(verifying *v, shard_status status, uint64_t offset, const char *what,
                         uint64_t expected, uint64_t got)
{
    if (expected != got)
        tell_text(v, status, offset, "%s (expected %llu, got %llu)", what,
                  (unsigned long long)expected, (unsigned long long)got);
}

static void tell_hash(verifying *v, const char *what, const uint8_t *expected, const uint8_t *got)
{
    if (memcmp(expected, got, SHARD_HASH_SIZE) != 0)
        tell_text(
            v, SHARD_ECHECKSUM, SHARD_NO_OFFSET,
            "xxh3 of the shard against %s (expected %02x%02x%02x%02x..., got %02x%02x%02x%02x...)",
            what, expected[0], expected[1], expected[2], expected[3], got[0], got[1], got[2],
            got[3]);
}

/* ---- against the index ---- */

static void open_index(verifying *v)
{
    shard_error problem;
    shard_status status =
        shard_set_index_of(v->shard->path, v->shard->bytes, &v->index, &v->alloc, &problem);
    if (status == SHARD_ENOTFOUND)
        return;
    v->report->has_index = true;
    if (status == SHARD_OK && (status = shard_index_check(v->index, &problem)) != SHARD_OK) {
        shard_index_close(v->index);
        v->index = NULL;
    }
    if (status != SHARD_OK)
        tell(v, &problem);
    if (v->index)
        shard_index_get_info(v->index, &v->info);
}

/* The index said more of the sample that ends here. */
static void end_sample(verifying *v)
{
    if (v->index && v->sample > 0 && v->sample <= v->info.samples)
        tell_numbers(v, SHARD_ESTALE, v->expected.first_offset, "components of a sample",
                     v->expected.components, v->component);
}

static void begin_sample(verifying *v, const shard_member *m)
{
    shard_error problem;
    end_sample(v);
    v->component = 0;
    if (!v->index || v->sample++ >= v->info.samples)
        return;
    if (shard_index_get_sample(v->index, v->sample - 1, &v->expected, &problem) != SHARD_OK) {
        tell(v, &problem);
        v->expected.components = 0;
        return;
    }
    if (v->expected.key_size != m->key_size || memcmp(v->expected.key, m->path, m->key_size) != 0)
        tell_text(v, SHARD_ESTALE, m->header_offset,
                  "key of sample %llu (expected \"%.*s\", got \"%.*s\")",
                  (unsigned long long)v->sample - 1, (int)v->expected.key_size, v->expected.key,
                  (int)m->key_size, m->path);
    tell_numbers(v, SHARD_ESTALE, m->header_offset, "offset of a sample", v->expected.first_offset,
                 m->header_offset);
}

static void compare_component(verifying *v, const shard_member *m, uint32_t crc)
{
    shard_error problem;
    shard_index_component c;
    if (!v->index || v->sample > v->info.samples || v->component++ >= v->expected.components)
        return;
    if (shard_index_get_component(v->index, &v->expected, v->component - 1, &c, &problem) !=
        SHARD_OK) {
        tell(v, &problem);
        return;
    }
    if (strcmp(c.name, m->component) != 0)
        tell_text(v, SHARD_ESTALE, m->header_offset, "component of \"%.*s\" (expected %s, got %s)",
                  (int)m->key_size, m->path, c.name, m->component);
    tell_numbers(v, SHARD_ESTALE, m->payload_offset, "offset of a payload", c.payload_offset,
                 m->payload_offset);
    tell_numbers(v, SHARD_ESTALE, m->payload_offset, "size of a payload", c.payload_size,
                 m->payload_size);
    if (v->info.has_checksums && c.crc32c != crc)
        tell_text(v, SHARD_ECHECKSUM, m->payload_offset,
                  "crc32c of \"%s\" (expected %08x, got %08x)", m->path, c.crc32c, crc);
}

/* ---- reading ---- */

static shard_status read_component(verifying *v, const shard_member *m, shard_error *err)
{
    const void *data;
    size_t size;
    uint32_t crc = 0;
    if (m->begins_sample) {
        v->report->samples++;
        begin_sample(v, m);
    }
    do {
        SHARD_TRY(shard_reader_payload(v->reader, &data, &size, err));
        crc = shard_crc32c(crc, data, size);
    } while (size > 0);
    v->report->components++;
    compare_component(v, m, crc);
    return SHARD_OK;
}

static shard_status read_all(verifying *v, shard_error *err)
{
    shard_member m;
    shard_status status;
    while ((status = shard_reader_next(v->reader, &m, err)) == SHARD_OK)
        if (m.is_component)
            SHARD_TRY(read_component(v, &m, err));
    return status == SHARD_END ? SHARD_OK : status;
}

/* The tar is whole: its totals against those of index and manifest. */
static void compare_totals(verifying *v)
{
    uint8_t hash[SHARD_HASH_SIZE];
    shard_hash_get(v->hash, hash);
    end_sample(v);
    if (v->index) {
        tell_numbers(v, SHARD_ESTALE, SHARD_NO_OFFSET, "samples against the index", v->info.samples,
                     v->report->samples);
        tell_numbers(v, SHARD_ESTALE, SHARD_NO_OFFSET, "size of the tar against the index",
                     v->info.tar_size, shard_reader_tar_size(v->reader));
        tell_numbers(v, SHARD_ESTALE, SHARD_NO_OFFSET, "codec against the index", v->info.codec,
                     shard_reader_codec(v->reader));
        if (v->info.has_hash)
            tell_hash(v, "the index", v->info.hash, hash);
    }
    if (!v->set->manifest_path)
        return;
    tell_numbers(v, SHARD_ESTALE, SHARD_NO_OFFSET, "samples against the manifest",
                 v->shard->samples, v->report->samples);
    if (v->shard->has_hash)
        tell_hash(v, "the manifest", v->shard->hash, hash);
}

static shard_status open_reader(verifying *v, shard_error *err)
{
    shard_reader_opts opts = SHARD_READER_OPTS_INIT;
    shard_source *source;
    opts.cancel = v->opts->cancel;
    SHARD_TRY(shard_source_open(&source, v->shard->path, v->opts->cancel, &v->alloc, err));
    if (v->set->manifest_path && source->seekable)
        tell_numbers(v, SHARD_ESTALE, SHARD_NO_OFFSET, "size of the shard against the manifest",
                     v->shard->bytes, source->size);
    return shard_reader_open_source(&v->reader, source, v->hash, &opts, err);
}

/* An error of the shard is a problem; others end the work. */
static shard_status read_shard(verifying *v, shard_error *err)
{
    shard_error problem;
    shard_status status = open_reader(v, &problem);
    if (status == SHARD_OK)
        status = read_all(v, &problem);
    if (v->reader)
        v->report->bytes = shard_reader_stored_size(v->reader);
    if (status == SHARD_OK) {
        compare_totals(v);
        return SHARD_OK;
    }
    if (status == SHARD_ECANCEL || status == SHARD_ENOMEM) {
        if (err)
            *err = problem;
        return status;
    }
    tell(v, &problem);
    return SHARD_OK;
}

static void init(verifying *v, const shard_set *set, const shard_verify_opts *opts,
                 shard_verify_report *report)
{
    *report = (shard_verify_report){0};
    *v = (verifying){.set = set, .opts = opts, .report = report};
    v->alloc = shard_alloc_from(opts->allocator);
}

static shard_status copy_opts(shard_verify_opts *out, const shard_verify_opts *opts,
                              shard_error *err)
{
    enum { PROBLEMS_MAX = 10 };
    SHARD_TRY(shard_opts_copy(out, sizeof *out, opts, err));
    if (out->problems_max == 0)
        out->problems_max = PROBLEMS_MAX;
    return SHARD_OK;
}

shard_status shard_verify_shard(const shard_set *set, uint64_t i, const shard_verify_opts *opts,
                                shard_verify_report *report, shard_error *err)
{
    shard_verify_opts o;
    verifying v;
    SHARD_TRY(copy_opts(&o, opts, err));
    init(&v, set, &o, report);
    if (i >= set->shards)
        return shard_fail(err, SHARD_EINVAL, NULL, SHARD_NO_OFFSET, "no such shard");
    v.shard = &set->shard[i];
    v.hash = shard_hash_new();
    if (!v.hash)
        return shard_fail_memory(err);
    open_index(&v);
    shard_status status = read_shard(&v, err);
    shard_reader_close(v.reader);
    shard_index_close(v.index);
    shard_hash_free(v.hash);
    return status;
}

/* ---- the manifest's totals ---- */

static void compare_components(verifying *v, const fmt_manifest *made)
{
    const fmt_manifest *given = &v->set->manifest;
    tell_numbers(v, SHARD_ESTALE, SHARD_NO_OFFSET, "number of components", given->components,
                 made->components);
    for (size_t i = 0; i < given->components && i < made->components; i++) {
        const fmt_manifest_component *a = &given->component[i], *b = &made->component[i];
        if (strcmp(a->name, b->name) != 0 || a->count != b->count || a->bytes != b->bytes)
            tell_text(v, SHARD_ESTALE, SHARD_NO_OFFSET,
                      "component (expected %s: %llu of %llu bytes, got %s: %llu of %llu bytes)",
                      a->name, (unsigned long long)a->count, (unsigned long long)a->bytes, b->name,
                      (unsigned long long)b->count, (unsigned long long)b->bytes);
    }
}

static void compare_manifest(verifying *v, const fmt_manifest *made)
{
    const fmt_manifest *given = &v->set->manifest;
    compare_components(v, made);
    if (!given->sorted)
        return;
    if (!made->sorted) {
        tell_text(v, SHARD_ESTALE, SHARD_NO_OFFSET, "keys do not ascend, as the manifest says");
        return;
    }
    for (size_t i = 0; i < given->shards; i++)
        if (given->shard[i].samples > 0 && made->shard[i].first_key &&
            strcmp(given->shard[i].first_key, made->shard[i].first_key) != 0)
            tell_text(v, SHARD_ESTALE, SHARD_NO_OFFSET,
                      "first key of %s (expected \"%s\", got \"%s\")", given->shard[i].name,
                      given->shard[i].first_key, made->shard[i].first_key);
}

static shard_status build_manifest(verifying *v, shard_manifest_builder *b, bool *complete)
{
    *complete = true;
    for (size_t i = 0; i < v->set->shards; i++) {
        shard_error problem;
        shard_index *index;
        const shard_set_shard *shard = &v->set->shard[i];
        if (shard_set_index_of(shard->path, shard->bytes, &index, &v->alloc, &problem) !=
            SHARD_OK) {
            *complete = false; /* told when the shard was verified */
            continue;
        }
        shard_status status =
            shard_manifest_builder_add(b, v->set->manifest.shard[i].name, index, &problem);
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
    shard_verify_opts o;
    verifying v;
    bool complete;
    SHARD_TRY(copy_opts(&o, opts, err));
    init(&v, set, &o, report);
    if (!set->manifest_path)
        return SHARD_OK;
    shard_set_shard self = {.path = set->manifest_path}; /* problems are about the manifest now */
    v.shard = &self;
    shard_manifest_builder b;
    shard_manifest_builder_init(&b, &v.alloc);
    shard_status status = build_manifest(&v, &b, &complete);
    if (status == SHARD_OK && complete)
        compare_manifest(&v, &b.manifest);
    shard_manifest_builder_clear(&b);
    return status == SHARD_OK ? SHARD_OK : shard_fail_memory(err);
}
