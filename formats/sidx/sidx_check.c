/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "naming/sample_name.h"
#include "sidx/sidx_section.h"

static fmt_status check_checksums(const fmt_sidx *sidx, fmt_crc32c crc32c, fmt_fault *fault)
{
    for (int kind = 0; kind < FMT_SIDX_SECTION_KINDS; kind++) {
        const fmt_sidx_column *column = &sidx->column[kind];
        if (!column->data)
            continue;
        uint32_t crc = crc32c(0, column->data, (size_t)(column->count * column->width));
        if (crc == column->crc)
            continue;
        fmt_fail_values(fault, FMT_ECHECKSUM, "index section checksum", column->offset, column->crc,
                        crc);
        memcpy(fault->name, fmt_sidx_tag((fmt_sidx_section_kind)kind), 4);
        return FMT_ECHECKSUM;
    }
    return FMT_OK;
}

static int compare_keys(fmt_span a, fmt_span b)
{
    int order = memcmp(a.data, b.data, a.size < b.size ? a.size : b.size);
    return order != 0 ? order : (a.size > b.size) - (a.size < b.size);
}

static fmt_status check_key(const fmt_sidx *sidx, fmt_span key, fmt_span previous, fmt_fault *fault)
{
    uint64_t at = (uint64_t)(key.data - sidx->column[FMT_SIDX_KEYS].data);
    at += sidx->column[FMT_SIDX_KEYS].offset;
    if (key.size == 0 || key.size > FMT_KEY_MAX || memchr(key.data, 0, key.size))
        return fmt_fail(fault, FMT_EINVALID, "key is empty, too long or holds a NUL", at);
    if (sidx->info.keys_sorted && previous.size > 0 && compare_keys(previous, key) >= 0)
        return fmt_fail_name(fault, FMT_EINVALID, "keys are not sorted, as the index says they are",
                             at, (const char *)key.data, key.size);
    return FMT_OK;
}

/* Payloads of a sample ascend, each behind the last one and a header. */
static fmt_status check_components(const fmt_sidx *sidx, fmt_sidx_sample *sample, fmt_fault *fault)
{
    uint64_t end = sample->first_offset;
    for (uint64_t row = sample->row_begin; row < sample->row_end; row++) {
        fmt_sidx_component component;
        fmt_status status = fmt_sidx_get_component(sidx, sample, row, &component, fault);
        if (status != FMT_OK)
            return status;
        if (component.payload_offset <= end)
            return fmt_fail_values(fault, FMT_EINVALID, "payloads overlap in the index",
                                   sidx->column[FMT_SIDX_SIZE].offset, end,
                                   component.payload_offset);
        end = component.payload_offset + component.size;
    }
    return FMT_OK;
}

static fmt_status check_samples(const fmt_sidx *sidx, fmt_fault *fault)
{
    fmt_span previous = {NULL, 0};
    uint64_t end = 0;
    for (uint64_t i = 0; i < sidx->info.samples; i++) {
        fmt_sidx_sample sample;
        fmt_status status = fmt_sidx_get_sample(sidx, i, &sample, fault);
        if (status == FMT_OK)
            status = check_key(sidx, sample.key, previous, fault);
        if (status == FMT_OK)
            status = check_components(sidx, &sample, fault);
        if (status != FMT_OK)
            return status;
        if (sample.first_offset < end)
            return fmt_fail_values(fault, FMT_EINVALID, "samples overlap in the index",
                                   sidx->column[FMT_SIDX_FIRST].offset + i * 4, end,
                                   sample.first_offset);
        previous = sample.key;
        end = sample.end_offset;
    }
    return FMT_OK;
}

static fmt_status check_frames(const fmt_sidx *sidx, fmt_fault *fault)
{
    const fmt_sidx_column *frames = &sidx->column[FMT_SIDX_FRAMES];
    for (uint64_t i = 0; i + 1 < frames->count; i++) {
        fmt_sidx_frame frame;
        fmt_status status = fmt_sidx_get_frame(sidx, i, &frame, fault);
        if (status != FMT_OK)
            return status;
    }
    return FMT_OK;
}

fmt_status fmt_sidx_check(const fmt_sidx *sidx, fmt_crc32c crc32c, fmt_fault *fault)
{
    fmt_status status = check_checksums(sidx, crc32c, fault);
    if (status == FMT_OK)
        status = check_samples(sidx, fault);
    if (status == FMT_OK)
        status = check_frames(sidx, fault);
    return status;
}
