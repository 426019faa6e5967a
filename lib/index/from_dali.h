/* SPDX-License-Identifier: Apache-2.0 */
#ifndef INDEX_FROM_DALI_H
#define INDEX_FROM_DALI_H

#include "core/alloc.h"
#include "core/error.h"

/*
 * Make the index `path` of the plain tar `url` from its DALI index. Each header block before a
 * payload is read and must agree in name and size; payloads are not read, so there are no
 * checksums.
 */
shard_status shard_index_from_dali(const char *url, const char *dali_path, const char *path,
                                   const char *folder, bool sync, const fmt_alloc *alloc,
                                   shard_error *err);

#endif
