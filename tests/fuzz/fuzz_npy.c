/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A NumPy array file: its header read, and what that says held against the bytes. Input: the file.
 */
#include "fuzz.h"

#include "npy/npy.h"

static void check_array(const fmt_npy *npy, fmt_span in)
{
    uint64_t size = npy->width;
    bool is_empty = false;
    FUZZ_CHECK(npy->kind != 0 && strchr("biuf", npy->kind));
    FUZZ_CHECK(npy->width == 1 || npy->width == 2 || npy->width == 4 || npy->width == 8);
    FUZZ_CHECK(npy->dims <= FMT_NPY_DIMS_MAX);
    FUZZ_CHECK(npy->data <= in.size && npy->size == in.size - npy->data);
    for (uint32_t i = 0; i < npy->dims; i++)
        is_empty = is_empty || npy->shape[i] == 0;
    for (uint32_t i = 0; !is_empty && i < npy->dims; i++) {
        FUZZ_CHECK(npy->shape[i] <= in.size); /* so that the product is one */
        size *= npy->shape[i];
    }
    FUZZ_CHECK(npy->size == (is_empty ? 0 : size));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *copy = fuzz_copy(data, size);
    fmt_span in = {copy, size};
    fmt_npy npy;
    fmt_fault fault = {0};
    fmt_status status = fmt_npy_read(&npy, in, &fault);
    FUZZ_CHECK(status != FMT_END && status != FMT_NEED_MORE);
    if (status == FMT_OK)
        check_array(&npy, in);
    else
        FUZZ_CHECK(fault.what && fault.offset <= size);
    free(copy);
    return 0;
}
