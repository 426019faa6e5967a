/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A shard and an index of it that lies: samples are read through the index, which was opened but
 * never checked. Any answer is good; leaving the shard's bytes is not.
 *
 * Input: two bytes of the index's size, the index, the shard.
 */
#include <shard/set.h>
#include <shard/verify.h>

#include "files.h"
#include "mend.h"

enum { CONTROL = 2, SAMPLES_MOST = 16, NAMES_MOST = 4, BYTES_MOST = 1 << 20 };

static bool ignore(void *context, const void *bytes, size_t size)
{
    (void)context;
    fuzz_touch((fmt_span){bytes, size});
    return true;
}

/* `component` NULL: all of them. */
static void read_sample(const shard_set *set, uint64_t i, const char *component)
{
    shard_sample_opts opts = SHARD_SAMPLE_OPTS_INIT;
    shard_sample sample;
    shard_error err;
    opts.bytes_max = BYTES_MOST;
    opts.component = component;
    shard_set_place found, place = {0, i};
    if (shard_set_read_sample(set, place, &sample, &opts, &err) != SHARD_OK)
        return;
    FUZZ_CHECK(sample.count > 0);
    for (size_t j = 0; j < sample.count; j++)
        FUZZ_CHECK(sample.components[j].size <= BYTES_MOST);
    (void)!shard_sample_to_tar(&sample, ignore, NULL, &err);
    (void)!shard_set_find(set, sample.key, sample.key_size, &found, &err);
    shard_sample_free(&sample);
}

static void read_samples(const shard_set *set)
{
    shard_index *index;
    shard_error err;
    shard_set_info info;
    shard_set_get_info(set, &info);
    if (shard_set_open_index(set, 0, &index, &err) != SHARD_OK)
        return;
    for (uint64_t i = 0; i < info.samples && i < SAMPLES_MOST; i++) {
        const char *name;
        read_sample(set, i, NULL);
        for (uint32_t id = 0;
             id < NAMES_MOST && (name = shard_index_component_name(index, id)) != NULL; id++)
            read_sample(set, i, name);
    }
    (void)!shard_index_export_dali(index, test_path("a.idx"), &err);
    shard_index_close(index);
}

static void try_set(const char *shard)
{
    shard_set *set;
    shard_verify_report report;
    shard_error err;
    if (shard_set_open(&set, &shard, 1, NULL, &err) != SHARD_OK)
        return;
    read_samples(set);
    (void)!shard_verify_shard(set, 0, NULL, &report, &err);
    shard_set_close(set);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char shard[512];
    if (size < CONTROL + FMT_SIDX_HEADER_SIZE)
        return 0;
    if (!*shard) {
        test_folder();
        snprintf(shard, sizeof shard, "%s", test_path("a.tar"));
    }
    size_t index_size = fmt_load16(data) % (size - CONTROL + 1);
    uint8_t *copy = fuzz_copy(data + CONTROL, size - CONTROL), *tar = copy + index_size;
    size_t tar_size = size - CONTROL - index_size;
    if (index_size >= FMT_SIDX_HEADER_SIZE) {
        fmt_store64(copy + FMT_SIDX_AT_SHARD_SIZE, tar_size);
        fuzz_mend_sidx(copy, index_size);
        if (copy[FMT_SIDX_AT_CODEC] == FMT_SIDX_PLAIN)
            fuzz_mend_tar(tar, tar_size);
        test_write_file(shard, tar, tar_size);
        test_write_file(test_path("a.tar.sidx"), copy, index_size);
        try_set(shard);
    }
    free(copy);
    return 0;
}
