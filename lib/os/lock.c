/* SPDX-License-Identifier: Apache-2.0 */
#include "os/lock.h"

#include <errno.h>
#include <sys/file.h>

shard_status shard_lock(int fd, const char *path, const char *busy, shard_error *err)
{
    int answer;
    do
        answer = flock(fd, LOCK_EX | LOCK_NB);
    while (answer != 0 && errno == EINTR);
    if (answer == 0 || errno == ENOSYS || errno == ENOTSUP || errno == ENOLCK)
        return SHARD_OK;
    if (errno == EWOULDBLOCK)
        return shard_fail(err, SHARD_EBUSY, path, SHARD_NO_OFFSET, "%s", busy);
    return shard_fail_errno(err, path, "cannot lock", errno);
}
