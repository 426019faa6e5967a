/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PACK_PATH_LIST_H
#define PACK_PATH_LIST_H

#include <shard/cancel.h>

#include "core/alloc.h"
#include "core/error.h"

typedef shard_status (*pack_path_fn)(void *context, const char *path, size_t size,
                                     shard_error *err);

/* Call `each` with every line (or, with `nul`, every NUL-ended text) of a file; "-": standard
 * input. */
shard_status pack_path_list_read(const char *file, bool nul, const shard_cancel *cancel,
                                 pack_path_fn each, void *context, const fmt_alloc *alloc,
                                 shard_error *err);

#endif
