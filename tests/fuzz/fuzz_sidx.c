/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The shard index. Each input is opened as it stands, and once more with its size and checksums
 * made right, which no mutation would. What opens is walked whether or not it also passes the
 * check; what passes the check must be walked without a fault.
 */
#include "mend.h"

enum { SAMPLES_MOST = 2000, ROWS_MOST = 20000, REREAD_MOST = 16 };

/* The components of a sample, forwards; and some of them again without the cursor's help. */
static bool walk_components(const fmt_sidx *sidx, const fmt_sidx_sample *sample, uint64_t *budget)
{
    fmt_sidx_sample walk = *sample;
    fmt_fault fault;
    bool good = true;
    for (uint64_t row = walk.row_begin; row<walk.row_end && * budget> 0; row++, --*budget) {
        fmt_sidx_sample fresh = *sample;
        fmt_sidx_component component, again;
        fmt_status status = fmt_sidx_get_component(sidx, &walk, row, &component, &fault);
        if (row - walk.row_begin < REREAD_MOST) {
            FUZZ_CHECK(fmt_sidx_get_component(sidx, &fresh, row, &again, &fault) == status);
            FUZZ_CHECK(status != FMT_OK ||
                       (again.payload_offset == component.payload_offset &&
                        again.size == component.size && again.id == component.id));
        }
        good = good && status == FMT_OK;
        if (status != FMT_OK)
            continue;
        FUZZ_CHECK(component.id < sidx->names);
        FUZZ_CHECK(component.size <= sidx->info.tar_size &&
                   component.payload_offset <= sidx->info.tar_size - component.size);
    }
    return good;
}

static bool walk_samples(const fmt_sidx *sidx)
{
    uint64_t samples = sidx->info.samples, budget = ROWS_MOST;
    bool good = true;
    for (uint64_t i = 0; i < samples && i < SAMPLES_MOST; i++) {
        fmt_sidx_sample sample;
        fmt_span key;
        fmt_fault fault;
        fmt_status status = fmt_sidx_get_key(sidx, i, &key, &fault);
        good = good && status == FMT_OK;
        if (status == FMT_OK)
            fuzz_touch(key);
        status = fmt_sidx_get_sample(sidx, i, &sample, &fault);
        good = good && status == FMT_OK;
        if (status != FMT_OK)
            continue;
        FUZZ_CHECK(sample.row_begin < sample.row_end && sample.row_end <= sidx->info.rows);
        FUZZ_CHECK(fuzz_same(sample.key, key));
        good = walk_components(sidx, &sample, &budget) && good;
    }
    return good;
}

static void walk_names(const fmt_sidx *sidx)
{
    uint32_t names = 0;
    for (const char *name = NULL; (name = fmt_sidx_next_name(sidx, name)); names++)
        FUZZ_CHECK(strlen(name) > 0);
    FUZZ_CHECK(names == sidx->names);
}

static bool walk_frames(const fmt_sidx *sidx)
{
    uint64_t pairs = sidx->column[FMT_SIDX_FRAMES].count;
    bool good = true;
    for (uint64_t i = 0; i + 1 < pairs; i++) {
        fmt_sidx_frame frame;
        fmt_fault fault;
        if (fmt_sidx_get_frame(sidx, i, &frame, &fault) != FMT_OK)
            good = false;
        else
            FUZZ_CHECK(frame.stored_begin < frame.stored_end &&
                       frame.stored_end <= sidx->info.shard_size &&
                       frame.tar_begin <= frame.tar_end && frame.tar_end <= sidx->info.tar_size);
    }
    return good;
}

static void try_index(fmt_span bytes)
{
    fmt_sidx sidx;
    fmt_fault fault = {0};
    if (fmt_sidx_open(&sidx, bytes, shard_crc32c, &fault) != FMT_OK) {
        FUZZ_CHECK(fault.what);
        return;
    }
    bool checked = fmt_sidx_check(&sidx, shard_crc32c, &fault) == FMT_OK;
    walk_names(&sidx);
    bool samples = walk_samples(&sidx), frames = walk_frames(&sidx);
    FUZZ_CHECK(!checked || (samples && frames));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    try_index((fmt_span){data, size});
    if (size < FMT_SIDX_HEADER_SIZE)
        return 0;
    uint8_t *mended = fuzz_copy(data, size);
    fuzz_mend_sidx(mended, size);
    try_index((fmt_span){mended, size});
    free(mended);
    return 0;
}
