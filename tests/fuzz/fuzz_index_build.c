/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A shard of unknown origin, plain or compressed: it is refused, or its index is good, agrees with
 * the shard, and every sample can be read through it.
 *
 * Input: a byte of modes, the shard.
 */
#include <shard/set.h>
#include <shard/verify.h>

#include "files.h"
#include "mend.h"

enum {
    MEND = 1, /* make the header checksums of a plain tar right */
    NO_CHECKSUMS = 2,
    SAMPLES_MOST = 16, /* from a compressed shard each costs a read from its start */
    BYTES_MOST = 1 << 20,
};

static bool ignore(void *context, const void *bytes, size_t size)
{
    (void)context;
    fuzz_touch((fmt_span){bytes, size});
    return true;
}

static void check_samples(const shard_set *set)
{
    shard_set_info info;
    shard_sample_opts opts = SHARD_SAMPLE_OPTS_INIT;
    shard_error err;
    shard_set_get_info(set, &info);
    opts.bytes_max = BYTES_MOST;
    for (uint64_t i = 0; i < info.samples && i < SAMPLES_MOST; i++) {
        shard_sample sample;
        shard_set_place found, place = {0, i};
        shard_status status = shard_set_read_sample(set, place, &sample, &opts, &err);
        FUZZ_CHECK(status == SHARD_OK || status == SHARD_ELIMIT);
        if (status != SHARD_OK)
            continue;
        FUZZ_CHECK(shard_set_find(set, sample.key, sample.key_size, &found, &err) == SHARD_OK);
        FUZZ_CHECK(found.sample <= i); /* the first of that key */
        FUZZ_CHECK(sample.count > 0);
        status = shard_sample_to_tar(&sample, ignore, NULL, &err);
        FUZZ_CHECK(status == SHARD_OK || status == SHARD_ELIMIT);
        shard_sample_free(&sample);
    }
}

/* A seek table is looked at by verify alone: a shard whose table is wrong can still be indexed. */
static void on_problem(void *context, const shard_error *problem)
{
    uint64_t *problems = context;
    *problems += !strstr(problem->message, "seek table");
}

static void check_index(const char *shard, const char *path)
{
    shard_index *index;
    shard_set *set;
    shard_verify_opts opts = SHARD_VERIFY_OPTS_INIT;
    shard_verify_report report;
    shard_error err;
    uint64_t problems = 0;
    FUZZ_CHECK(shard_index_open(&index, path, NULL, &err) == SHARD_OK);
    FUZZ_CHECK(shard_index_check(index, &err) == SHARD_OK);
    shard_index_close(index);
    FUZZ_CHECK(shard_set_open(&set, &shard, 1, NULL, &err) == SHARD_OK);
    check_samples(set);
    opts.on_problem = on_problem;
    opts.context = &problems;
    FUZZ_CHECK(shard_verify_shard(set, 0, &opts, &report, &err) == SHARD_OK);
    FUZZ_CHECK(report.has_index && problems == 0);
    shard_set_close(set);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *shard, *path;
    shard_index_build_opts opts = SHARD_INDEX_BUILD_OPTS_INIT;
    shard_error err = {.status = SHARD_OK};
    fmt_span in = {data, size};
    uint8_t mode = fuzz_take_byte(&in);
    if (!shard) {
        test_folder();
        shard = test_path("a.tar");
        path = test_path("a.tar.sidx");
    }
    uint8_t *copy = fuzz_copy(in.data, in.size);
    if (mode & MEND)
        fuzz_mend_tar(copy, in.size);
    test_write_file(shard, copy, in.size);
    free(copy);
    opts.no_checksums = mode & NO_CHECKSUMS;
    shard_status status = shard_index_build(shard, path, &opts, &err);
    if (status == SHARD_OK)
        check_index(shard, path);
    else
        FUZZ_CHECK(err.status == status && *err.message);
    return 0;
}
