/* SPDX-License-Identifier: Apache-2.0 */
#include "text.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

enum { BUFFER_SIZE = 48 };

static char *next_buffer(void)
{
    static char buffers[8][BUFFER_SIZE];
    static unsigned next;
    return buffers[next++ % 8];
}

const char *text_size(uint64_t bytes)
{
    static const char *units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    char *out = next_buffer();
    double size = (double)bytes;
    int unit = 0;
    for (; size >= 1024 && unit < 6; unit++)
        size /= 1024;
    snprintf(out, BUFFER_SIZE, unit == 0 ? "%.0f %s" : "%.1f %s", size, units[unit]);
    return out;
}

const char *text_count(uint64_t number)
{
    char digits[24], *out = next_buffer();
    int n = snprintf(digits, sizeof digits, "%" PRIu64, number), at = 0;
    for (int i = 0; i < n; i++) {
        if (i > 0 && (n - i) % 3 == 0)
            out[at++] = ',';
        out[at++] = digits[i];
    }
    out[at] = 0;
    return out;
}

const char *text_things(uint64_t number, const char *thing)
{
    char *out = next_buffer();
    snprintf(out, BUFFER_SIZE, "%s %s%s", text_count(number), thing, number == 1 ? "" : "s");
    return out;
}

const char *text_time(uint64_t seconds)
{
    char *out = next_buffer();
    unsigned minutes = (unsigned)(seconds / 60 % 60), rest = (unsigned)(seconds % 60);
    if (seconds >= 3600)
        snprintf(out, BUFFER_SIZE, "%" PRIu64 ":%02u:%02u", seconds / 3600, minutes, rest);
    else
        snprintf(out, BUFFER_SIZE, "%u:%02u", minutes, rest);
    return out;
}

/* Bytes in the UTF-8 character at the front of `text`; 0 where there is none. */
static size_t utf8_size(const unsigned char *text, size_t size)
{
    size_t n = text[0] < 0x80   ? 1
               : text[0] < 0xc2 ? 0
               : text[0] < 0xe0 ? 2
               : text[0] < 0xf0 ? 3
               : text[0] < 0xf5 ? 4
                                : 0;
    if (n > size)
        return 0;
    for (size_t i = 1; i < n; i++)
        if ((text[i] & 0xc0) != 0x80)
            return 0;
    return n;
}

/* C0, DEL, and C1, which is two bytes of UTF-8. */
static bool is_control(const unsigned char *text, size_t size)
{
    return (size == 1 && (text[0] < 0x20 || text[0] == 0x7f)) ||
           (size == 2 && text[0] == 0xc2 && text[1] < 0xa0);
}

static size_t print(FILE *out, const char *name, size_t size, bool double_backslash)
{
    size_t written = 0;
    const unsigned char *text = (const unsigned char *)name;
    for (size_t i = 0; i < size;) {
        size_t n = utf8_size(text + i, size - i);
        if (n == 0 || is_control(text + i, n)) {
            written += (size_t)fprintf(out, "\\x%02x", text[i++]);
            continue;
        }
        if (text[i] == '\\' && double_backslash)
            written += fwrite("\\", 1, 1, out);
        fwrite(text + i, 1, n, out);
        written++;
        i += n;
    }
    return written;
}

size_t text_print_name(FILE *out, const char *name, size_t size)
{
    return print(out, name, size, true);
}

void text_print_message(FILE *out, const char *message)
{
    print(out, message, strlen(message), false);
}
