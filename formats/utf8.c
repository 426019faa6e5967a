/* SPDX-License-Identifier: Apache-2.0 */
#include "utf8.h"

/* Bytes that the first one calls for: of 0x80..0xc1 and 0xf5.. none begins a character. */
static size_t called_for(uint8_t first)
{
    return first < 0x80   ? 1
           : first < 0xc2 ? 0
           : first < 0xe0 ? 2
           : first < 0xf0 ? 3
           : first < 0xf5 ? 4
                          : 0;
}

size_t fmt_utf8_size(const char *text, size_t size)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000}; /* of so many bytes */
    uint8_t first = size > 0 ? (uint8_t)text[0] : 0xff;
    size_t n = called_for(first);
    if (n == 0 || n > size)
        return 0;
    uint32_t c = n == 1 ? first : first & (0xffu >> (n + 1));
    for (size_t i = 1; i < n; i++) {
        if (((uint8_t)text[i] & 0xc0) != 0x80)
            return 0;
        c = c << 6 | ((uint8_t)text[i] & 0x3f);
    }
    bool is_surrogate = c >= 0xd800 && c < 0xe000;
    return c < least[n] || c > 0x10ffff || is_surrogate ? 0 : n;
}

bool fmt_utf8_ok(const char *text, size_t size)
{
    for (size_t i = 0; i < size;) {
        size_t n = fmt_utf8_size(text + i, size - i);
        if (n == 0)
            return false;
        i += n;
    }
    return true;
}
