/* SPDX-License-Identifier: Apache-2.0 */
#define FMT_C
#include "fmt.h"

#include <string.h>

fmt_status fmt_fail(fmt_fault *fault, fmt_status status, const char *what, uint64_t offset)
{
    *fault = (fmt_fault){.what = what, .offset = offset};
    return status;
}

fmt_status fmt_fail_values(fmt_fault *fault, fmt_status status, const char *what, uint64_t offset,
                           uint64_t expected, uint64_t got)
{
    *fault = (fmt_fault){
        .what = what, .offset = offset, .has_values = true, .expected = expected, .got = got};
    return status;
}

fmt_status fmt_fail_name(fmt_fault *fault, fmt_status status, const char *what, uint64_t offset,
                         const char *name, size_t name_size)
{
    fmt_fail(fault, status, what, offset);
    if (name_size >= sizeof fault->name)
        name_size = sizeof fault->name - 1;
    memcpy(fault->name, name, name_size);
    return status;
}

size_t fmt_decimal(char *out, uint64_t value)
{
    char digits[FMT_DECIMAL_MAX];
    size_t at = sizeof digits;
    do {
        digits[--at] = (char)('0' + value % 10);
        value /= 10;
    } while (value > 0);
    memcpy(out, digits + at, sizeof digits - at);
    return sizeof digits - at;
}
