/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHARD_VERSION_H
#define SHARD_VERSION_H

#include <shard/attrs.h>

/* Of these headers. CMakeLists.txt reads the project's version from here. */
#define SHARD_VERSION_MAJOR 0
#define SHARD_VERSION_MINOR 1
#define SHARD_VERSION_PATCH 0

SHARD_BEGIN_DECLS

/** Version of the library at run time, "0.1.0". Static text. Thread-safe. */
SHARD_API const char *shard_version(void);

/**
 * The libraries that this one was built with, "libarchive 3.6.2, libzstd 1.5.4, ...". Static text.
 * Thread-safe.
 */
SHARD_API const char *shard_built_with(void);

SHARD_END_DECLS

#endif
