/* SPDX-License-Identifier: Apache-2.0 */
/* Pieces of a JSON text as they stand, so that what is passed on is not written anew. */
#ifndef FMT_JSON_TEXT_H
#define FMT_JSON_TEXT_H

#include "fmt.h"

typedef struct {
    fmt_span key;   /* between its quotes, escapes as they stand */
    fmt_span value; /* any JSON value, without white space around it */
} fmt_json_member;

/*
 * The next member of `object`, the text of one JSON object that is known to be valid; `*at` is 0 at
 * first. False behind the last.
 */
bool fmt_json_next_member(fmt_span object, size_t *at, fmt_json_member *out);

#endif
