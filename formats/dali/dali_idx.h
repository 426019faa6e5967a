/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The index of NVIDIA DALI's readers.webdataset, `.idx` v1.1 and v1.2: a line "v1.2 SAMPLES", then
 * a line a sample of "component offset size name" for each component, with payload offsets. Fields
 * are parted by white space and nothing is escaped. v1.1 has no names, and so no keys: read as
 * refused. Specification: DALI, tools/wds2idx.py and webdataset_loader.cc.
 */
#ifndef FMT_DALI_IDX_H
#define FMT_DALI_IDX_H

#include "fmt.h"

enum { FMT_DALI_LINE_MAX = 8192 }; /* bytes that one component's fields can take */

typedef struct {
    fmt_span component, name;
    uint64_t offset, size;
    bool begins_sample;
} fmt_dali_component;

typedef struct {
    fmt_span text;
    size_t at;
    uint64_t samples; /* as the first line says */
    uint64_t sample;  /* lines begun */
} fmt_dali_reader;

/* Begin to read the index in `text`, which must stay as it is. */
fmt_status fmt_dali_open(fmt_dali_reader *reader, fmt_span text, fmt_fault *fault);

/* The next component; FMT_END behind the last. Offsets are checked to be those of tar blocks. */
fmt_status fmt_dali_next(fmt_dali_reader *reader, fmt_dali_component *out, fmt_fault *fault);

/* The first line; returns its size. */
size_t fmt_dali_write_head(char out[FMT_DALI_LINE_MAX], uint64_t samples);

/*
 * One component's fields. `key` and `component` make up the name. Returns the size, or 0 where the
 * format cannot say it: white space or control characters in a name, or a name too long.
 */
size_t fmt_dali_write(char out[FMT_DALI_LINE_MAX], fmt_span key, fmt_span component,
                      uint64_t payload_offset, uint64_t size);

#endif
