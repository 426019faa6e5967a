/* SPDX-License-Identifier: Apache-2.0 */
/* Filling a caller's shard_error. Each function returns the status that it records. */
#ifndef CORE_ERROR_H
#define CORE_ERROR_H

#include <shard/status.h>

#include "fmt.h"

/* `url` NULL: about no file. `offset`: SHARD_NO_OFFSET where there is none. */
SHARD_PRINTF(5, 6)
shard_status shard_fail(shard_error *err, shard_status status, const char *url, uint64_t offset,
                        const char *format, ...);

shard_status shard_fail_memory(shard_error *err);

/* The system call `what` on `url` failed with `code`, an errno. ENOENT and EEXIST get their own
 * status. */
shard_status shard_fail_errno(shard_error *err, const char *url, const char *what, int code);

/* A parser of formats/ refused; `base` is where in `url` its input began. */
shard_status shard_fail_fmt(shard_error *err, fmt_status status, const fmt_fault *fault,
                            const char *url, uint64_t base);

/* clang-tidy sees one file at a time: tell it that no failure is SHARD_OK. */
#if defined __clang_analyzer__ && !defined CORE_ERROR_C
#define shard_fail(...) ((void)shard_fail(__VA_ARGS__), SHARD_EIO)
#define shard_fail_memory(...) ((void)shard_fail_memory(__VA_ARGS__), SHARD_ENOMEM)
#define shard_fail_errno(...) ((void)shard_fail_errno(__VA_ARGS__), SHARD_EIO)
#define shard_fail_fmt(...) ((void)shard_fail_fmt(__VA_ARGS__), SHARD_EFORMAT)
#endif

/* Leave on any status but SHARD_OK, for functions with nothing to clean up. */
#define SHARD_TRY(call)                          \
    do {                                         \
        shard_status shard_try_status_ = (call); \
        if (shard_try_status_ != SHARD_OK)       \
            return shard_try_status_;            \
    } while (0)

#endif
