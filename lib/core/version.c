/* SPDX-License-Identifier: Apache-2.0 */
#include <shard/version.h>

#define TEXT2(x) #x
#define TEXT(x) TEXT2(x)

const char *shard_version(void)
{
    return TEXT(SHARD_VERSION_MAJOR) "." TEXT(SHARD_VERSION_MINOR) "." TEXT(SHARD_VERSION_PATCH);
}

const char *shard_built_with(void)
{
    return SHARD_BUILT_WITH;
}
