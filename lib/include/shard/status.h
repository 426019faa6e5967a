/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What every call answers.
 *
 * A function that can fail returns a shard_status and takes a `shard_error *` last, which may be
 * NULL. The struct is the caller's: nothing is kept in the library, so an error that is born in a
 * worker thread arrives whole where it is asked for.
 */
#ifndef SHARD_STATUS_H
#define SHARD_STATUS_H

#include <stdbool.h>
#include <stdint.h>

#include <shard/attrs.h>

SHARD_BEGIN_DECLS

/** Values are stable; new ones are only added. */
typedef enum shard_status {
    SHARD_OK = 0,
    SHARD_END = 1, /**< there is no next one; not an error, and no error struct is filled */

    SHARD_EINVAL = 10,  /**< an argument or option is wrong */
    SHARD_ENOMEM = 11,  /**< the allocator gave nothing */
    SHARD_ECANCEL = 12, /**< the cancel token was set */

    SHARD_EIO = 20,       /**< the operating system refused; sys_errno says how */
    SHARD_ENOTFOUND = 21, /**< no such file, sample or component */
    SHARD_EEXIST = 22,    /**< an output exists and was not to be overwritten */
    SHARD_EBUSY = 23,     /**< somebody else is at work on the same output */

    SHARD_EFORMAT = 30,      /**< bytes that break their format's specification */
    SHARD_ETRUNCATED = 31,   /**< bytes end in the middle of something */
    SHARD_ECHECKSUM = 32,    /**< a stored checksum differs from the computed one */
    SHARD_EUNSUPPORTED = 33, /**< valid, but a feature that is refused by name */
    SHARD_ELIMIT = 34,       /**< larger than a stated limit */
    SHARD_ESTALE = 35,       /**< an index or manifest of other bytes than those found */
    SHARD_EDATA = 36,        /**< data that cannot be used: a missing component, a key used twice */
} shard_status;

#define SHARD_NO_OFFSET UINT64_MAX

/** Filled when a call fails. Plain data: copy it as you like. */
typedef struct shard_error {
    shard_status status;
    int sys_errno;      /**< with SHARD_EIO; else 0 */
    bool retryable;     /**< the same call may succeed later */
    uint64_t offset;    /**< in bytes from the start of `url`, or SHARD_NO_OFFSET */
    char url[1024];     /**< the file or object it is about, or "" */
    char message[1024]; /**< one line without the two above: what, expected, got */
} shard_error;

/** A status's name, "SHARD_ECHECKSUM". Static text. Thread-safe. */
SHARD_API const char *shard_status_name(shard_status status);

SHARD_END_DECLS

#endif
