/* SPDX-License-Identifier: Apache-2.0 */
/* How the paths of an input become keys and components, by the options that rule it. */
#ifndef PACK_NAMES_H
#define PACK_NAMES_H

#include <shard/pack.h>

#include "core/error.h"
#include "naming/sample_name.h"

typedef struct {
    bool last_dot;
    const char *const *renames; /* "from=to" */
    size_t rename_count;
} pack_names;

/* Check the options' renames. */
shard_status pack_names_init(pack_names *names, const shard_pack_opts *opts, shard_error *err);

/* Split a path into key and component. */
fmt_name_kind pack_names_split(const pack_names *names, const char *path, size_t size,
                               fmt_name *out);

/* What a component is to be called: itself, or by a rename ("jpeg=jpg", letters of any case). */
const char *pack_names_component(const pack_names *names, const char *component, size_t *size);

#endif
