/* SPDX-License-Identifier: Apache-2.0 */
/* A folder of its own for a test, and whole files in it. All die when the system refuses. */
#ifndef TEST_FILES_H
#define TEST_FILES_H

#include <stddef.h>
#include <stdint.h>

/* A new empty folder below the system's temporary one; make each test's first call. */
const char *test_folder(void);

/* "FOLDER/NAME" in a static buffer of which there are eight. */
const char *test_path(const char *name);

void test_write_file(const char *path, const void *bytes, size_t size);
uint8_t *test_read_file(const char *path, size_t *size); /* free() it */
int test_file_exists(const char *path);

#endif
