/* SPDX-License-Identifier: Apache-2.0 */
/*
 * read_npy FILE: what fmt_npy_read says of a NumPy array file, for tests that hold it against
 * NumPy: a line "KIND WIDTH DATA SIZE SHAPE...", or exit code 1 and the fault.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "files.h"
#include "npy/npy.h"

int main(int argc, char **argv)
{
    fmt_npy npy;
    fmt_fault fault = {0};
    size_t size;
    if (argc != 2)
        return 2;
    uint8_t *bytes = test_read_file(argv[1], &size);
    fmt_status status = fmt_npy_read(&npy, (fmt_span){bytes, size}, &fault);
    free(bytes);
    if (status != FMT_OK) {
        fprintf(stderr, "%d %s %s\n", (int)status, fault.what, fault.name);
        return 1;
    }
    printf("%c %u %zu %" PRIu64, npy.kind, npy.width, npy.data, npy.size);
    for (uint32_t i = 0; i < npy.dims; i++)
        printf(" %" PRIu64, npy.shape[i]);
    printf("\n");
    return 0;
}
