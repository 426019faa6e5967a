/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of JSON for --json, behind which stands jansson. Short memory ends the process. */
#ifndef CLI_RECORD_H
#define CLI_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* An object or array. Those inside another belong to it. */
typedef struct record record;

record *record_new(void);
record *record_object(record *object, const char *key); /* the key may be any bytes, as below */
record *record_array(record *object, const char *key);
record *record_item(record *array); /* a new object at its end */

void record_text(record *object, const char *key, const char *text);
/* A name of any bytes: those that are not UTF-8 become \xNN. */
void record_name(record *object, const char *key, const char *name, size_t size);
/* Text as it is; false, and nothing done, where the bytes are not UTF-8. */
bool record_exact_text(record *object, const char *key, const char *text, size_t size);
void record_number(record *object, const char *key, uint64_t number);
void record_real(record *object, const char *key, double number);
void record_bool(record *object, const char *key, bool value);
void record_null(record *object, const char *key);
void record_add_text(record *array, const char *text);
void record_add_number(record *array, uint64_t number);

/* Write it as a line; false where that failed. */
bool record_write(record *r, FILE *out);
void record_free(record *r);

/* Print it on a line, and free it. */
void record_print(record *r, FILE *out);

#endif
