/* SPDX-License-Identifier: Apache-2.0 */
/* cmocka with what it needs before it, and the helpers that most tests want. */
#ifndef TEST_H
#define TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "allocator.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* Fails with both texts when they differ. */
#define assert_text(got, size, expected)          \
    do {                                          \
        assert_int_equal(size, strlen(expected)); \
        assert_memory_equal(got, expected, size); \
    } while (0)

#endif
