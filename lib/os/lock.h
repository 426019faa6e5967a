/* SPDX-License-Identifier: Apache-2.0 */
#ifndef OS_LOCK_H
#define OS_LOCK_H

#include "core/error.h"

/*
 * Lock an open file against other processes that do the same, until it is closed. SHARD_EBUSY with
 * the message `busy` when one of them has it. Some network file systems have no locks: there
 * nothing keeps two writers apart, and this is no error.
 */
shard_status shard_lock(int fd, const char *path, const char *busy, shard_error *err);

#endif
