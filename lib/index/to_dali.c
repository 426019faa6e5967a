/* SPDX-License-Identifier: Apache-2.0 */
#include <shard/index.h>

#include <string.h>

#include "core/alloc.h"
#include "dali/dali_idx.h"
#include "os/output.h"

static shard_status write_sample(const shard_index *index, uint64_t i, shard_output *out,
                                 shard_error *err)
{
    char text[FMT_DALI_LINE_MAX];
    shard_index_sample sample;
    SHARD_TRY(shard_index_get_sample(index, i, &sample, err));
    for (uint32_t j = 0; j < sample.components; j++) {
        shard_index_component c;
        SHARD_TRY(shard_index_get_component(index, &sample, j, &c, err));
        fmt_span key = {(const uint8_t *)sample.key, sample.key_size};
        fmt_span name = {(const uint8_t *)c.name, strlen(c.name)};
        size_t size = fmt_dali_write(text, key, name, c.payload_offset, c.payload_size);
        if (size == 0)
            return shard_fail(err, SHARD_EDATA, out->path, SHARD_NO_OFFSET,
                              "a DALI index cannot say the name \"%.*s.%s\" (white space?)",
                              (int)sample.key_size, sample.key, c.name);
        if (j > 0)
            SHARD_TRY(shard_output_write(out, " ", 1, err));
        SHARD_TRY(shard_output_write(out, text, size, err));
    }
    return shard_output_write(out, "\n", 1, err);
}

static shard_status write_all(const shard_index *index, uint64_t samples, shard_output *out,
                              shard_error *err)
{
    char text[FMT_DALI_LINE_MAX];
    SHARD_TRY(shard_output_write(out, text, fmt_dali_write_head(text, samples), err));
    for (uint64_t i = 0; i < samples; i++)
        SHARD_TRY(write_sample(index, i, out, err));
    return SHARD_OK;
}

shard_status shard_index_export_dali(const shard_index *index, const char *path, shard_error *err)
{
    shard_index_info info;
    shard_output out;
    fmt_alloc alloc = shard_alloc_from(NULL);
    shard_index_get_info(index, &info);
    if (info.codec != SHARD_CODEC_PLAIN)
        return shard_fail(err, SHARD_EUNSUPPORTED, path, SHARD_NO_OFFSET,
                          "DALI reads plain tar only, this shard is %s",
                          shard_codec_name(info.codec));
    if (info.samples == 0)
        return shard_fail(err, SHARD_EDATA, path, SHARD_NO_OFFSET,
                          "DALI refuses an index without samples");
    SHARD_TRY(shard_output_open(&out, path, &alloc, err));
    shard_status status = write_all(index, info.samples, &out, err);
    if (status != SHARD_OK) {
        shard_output_abort(&out);
        return status;
    }
    return shard_output_commit(&out, false, err);
}
