/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Option structs begin with their size, so that they can grow: a caller built against an older
 * header passes a shorter struct, and what it lacks is the default, zero; a longer one is taken if
 * what this library does not know is zero.
 */
#ifndef CORE_OPTS_H
#define CORE_OPTS_H

#include "core/error.h"

/* Copy the caller's options (NULL: all defaults) into `out`, a struct of `size` bytes. */
shard_status shard_opts_copy(void *out, size_t size, const void *opts, shard_error *err);

#endif
