/* SPDX-License-Identifier: Apache-2.0 */
#include "os/limits.h"

#include <sys/resource.h>

uint64_t shard_open_files_limit(void)
{
    struct rlimit limit;
    enum { POSIX_LEAST = 20 };
    return getrlimit(RLIMIT_NOFILE, &limit) == 0 ? (uint64_t)limit.rlim_cur : POSIX_LEAST;
}
