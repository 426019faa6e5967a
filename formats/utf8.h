/* SPDX-License-Identifier: Apache-2.0 */
/* UTF-8, as RFC 3629 has it: what JSON, and so a manifest, can say. */
#ifndef FMT_UTF8_H
#define FMT_UTF8_H

#include "fmt.h"

/* Bytes in the character at the front of `text`; 0 where none stands there whole. */
size_t fmt_utf8_size(const char *text, size_t size);

/* Nothing but whole characters. */
bool fmt_utf8_ok(const char *text, size_t size);

#endif
