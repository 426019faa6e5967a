/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers and names as people read them. */
#ifndef CLI_TEXT_H
#define CLI_TEXT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* "1.2 GiB", "1,234,567", "1 shard" or "2 shards", "1:02:03": each in one of eight static buffers.
 */
const char *text_size(uint64_t bytes);
const char *text_count(uint64_t number);
const char *text_things(uint64_t number, const char *thing);
const char *text_time(uint64_t seconds);

/*
 * Print a name on one line: control characters and what is not UTF-8 as \xNN, a backslash twice.
 * Returns the number of characters printed.
 */
size_t text_print_name(FILE *out, const char *name, size_t size);

/* Print a message in which names may stand: as above, but backslashes as they are. */
void text_print_message(FILE *out, const char *message);

#endif
