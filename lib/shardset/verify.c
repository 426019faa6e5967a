/* SPDX-License-Identifier: Apache-2.0 */
/* One shard, read whole: against its own checksums, its index, its manifest. */
#include <shard/verify.h>

#include <string.h>

#include "container/reader.h"
#include "core/crc32c.h"
#include "shardset/problems.h"
#include "shardset/set.h"
#include "shardset/verify_frames.h"

typedef struct {
    const shard_set *set;
    const shard_set_shard *shard;
    shard_verify_report *report;
    shard_problems problems;
    shard_verify_frames frames;
    shard_index *index; /* NULL: none, or unusable */
    shard_index_info info;
    shard_reader *reader;
    shard_hash *hash;
    fmt_alloc alloc;

    uint64_t sample; /* number of the present one, from 1 */
    shard_index_sample expected;
    uint32_t component; /* how many of it have been seen */
} verifying;

/* ---- against the index ---- */

static void open_index(verifying *v)
{
    shard_error problem;
    shard_status status =
        shard_set_index_of(v->shard->path, v->shard->bytes, &v->index, &v->alloc, &problem);
    v->report->has_index = status != SHARD_ENOTFOUND;
    if (status == SHARD_ENOTFOUND && !v->set->manifest_path) /* a manifest is of indexed shards */
        return;
    if (status == SHARD_OK && (status = shard_index_check(v->index, &problem)) != SHARD_OK) {
        shard_index_close(v->index);
        v->index = NULL;
    }
    if (status != SHARD_OK)
        shard_problem_tell(&v->problems, &problem);
    if (v->index)
        shard_index_get_info(v->index, &v->info);
}

/* The index said more of the sample that ends here. */
static void end_sample(verifying *v)
{
    if (v->index && v->sample > 0 && v->sample <= v->info.samples)
        shard_problem_numbers(&v->problems, SHARD_ESTALE, v->expected.first_offset,
                              "components of a sample", v->expected.components, v->component);
}

static void begin_sample(verifying *v, const shard_member *m)
{
    shard_error problem;
    end_sample(v);
    v->component = 0;
    if (!v->index || v->sample++ >= v->info.samples)
        return;
    if (shard_index_get_sample(v->index, v->sample - 1, &v->expected, &problem) != SHARD_OK) {
        shard_problem_tell(&v->problems, &problem);
        v->expected.components = 0;
        return;
    }
    if (v->expected.key_size != m->key_size || memcmp(v->expected.key, m->path, m->key_size) != 0)
        shard_problem_text(&v->problems, SHARD_ESTALE, m->header_offset,
                           "key of sample %llu (expected \"%.*s\", got \"%.*s\")",
                           (unsigned long long)v->sample - 1, (int)v->expected.key_size,
                           v->expected.key, (int)m->key_size, m->path);
    shard_problem_numbers(&v->problems, SHARD_ESTALE, m->header_offset, "offset of a sample",
                          v->expected.first_offset, m->header_offset);
}

static void compare_component(verifying *v, const shard_member *m, uint32_t crc)
{
    shard_error problem;
    shard_index_component c;
    if (!v->index || v->sample > v->info.samples || v->component++ >= v->expected.components)
        return;
    if (shard_index_get_component(v->index, &v->expected, v->component - 1, &c, &problem) !=
        SHARD_OK) {
        shard_problem_tell(&v->problems, &problem);
        return;
    }
    if (strcmp(c.name, m->component) != 0)
        shard_problem_text(&v->problems, SHARD_ESTALE, m->header_offset,
                           "component of \"%.*s\" (expected %s, got %s)", (int)m->key_size, m->path,
                           c.name, m->component);
    shard_problem_numbers(&v->problems, SHARD_ESTALE, m->payload_offset, "offset of a payload",
                          c.payload_offset, m->payload_offset);
    shard_problem_numbers(&v->problems, SHARD_ESTALE, m->payload_offset, "size of a payload",
                          c.payload_size, m->payload_size);
    if (v->info.has_checksums && c.crc32c != crc)
        shard_problem_text(&v->problems, SHARD_ECHECKSUM, m->payload_offset,
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
    shard_verify_frames_end(&v->frames);
    if (v->index) {
        shard_problem_numbers(&v->problems, SHARD_ESTALE, SHARD_NO_OFFSET,
                              "samples against the index", v->info.samples, v->report->samples);
        shard_problem_numbers(&v->problems, SHARD_ESTALE, SHARD_NO_OFFSET,
                              "size of the tar against the index", v->info.tar_size,
                              shard_reader_tar_size(v->reader));
        shard_problem_numbers(&v->problems, SHARD_ESTALE, SHARD_NO_OFFSET,
                              "codec against the index", v->info.codec,
                              shard_reader_codec(v->reader));
        if (v->info.has_hash)
            shard_problem_hash(&v->problems, "the index", v->info.hash, hash);
    }
    if (!v->set->manifest_path)
        return;
    shard_problem_numbers(&v->problems, SHARD_ESTALE, SHARD_NO_OFFSET,
                          "samples against the manifest", v->shard->samples, v->report->samples);
    if (v->shard->has_hash)
        shard_problem_hash(&v->problems, "the manifest", v->shard->hash, hash);
}

static shard_status open_reader(verifying *v, shard_error *err)
{
    shard_reader_opts opts = SHARD_READER_OPTS_INIT;
    shard_source *source;
    opts.cancel = v->problems.opts.cancel;
    const shard_cancel *cancel = v->problems.opts.cancel;
    SHARD_TRY(shard_source_open(&source, v->shard->path, cancel, &v->alloc, err));
    if (v->set->manifest_path && source->seekable)
        shard_problem_numbers(&v->problems, SHARD_ESTALE, SHARD_NO_OFFSET,
                              "size of the shard against the manifest", v->shard->bytes,
                              source->size);
    bool seekable = source->seekable;
    SHARD_TRY(shard_reader_open_source(&v->reader, source, v->hash, &opts, err));
    if (shard_reader_codec(v->reader) != SHARD_CODEC_ZSTD)
        return SHARD_OK;
    shard_verify_frames_open(&v->frames, seekable, v->index, &v->problems);
    shard_reader_on_frame(v->reader, shard_verify_frames_next, &v->frames);
    return SHARD_OK;
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
    shard_problem_tell(&v->problems, &problem);
    return SHARD_OK;
}

shard_status shard_verify_shard(const shard_set *set, uint64_t i, const shard_verify_opts *opts,
                                shard_verify_report *report, shard_error *err)
{
    if (i >= set->shards)
        return shard_fail(err, SHARD_EINVAL, NULL, SHARD_NO_OFFSET, "no such shard");
    verifying v = {.set = set, .shard = &set->shard[i], .report = report};
    SHARD_TRY(shard_problems_init(&v.problems, opts, report, v.shard->path, err));
    v.alloc = shard_alloc_from(v.problems.opts.allocator);
    v.hash = shard_hash_new();
    if (!v.hash)
        return shard_fail_memory(err);
    open_index(&v);
    shard_status status = read_shard(&v, err);
    shard_verify_frames_close(&v.frames);
    shard_reader_close(v.reader);
    shard_index_close(v.index);
    shard_hash_free(v.hash);
    return status;
}
