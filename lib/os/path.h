/* SPDX-License-Identifier: Apache-2.0 */
#ifndef OS_PATH_H
#define OS_PATH_H

#include "core/error.h"

enum { SHARD_PATH_MAX = 4096 };

/* The folder in which `path` stands, "." where it names none (and for "-"). */
shard_status shard_path_folder(const char *path, char out[SHARD_PATH_MAX], shard_error *err);

/* What follows the last '/' of `path`. */
const char *shard_path_base(const char *path);

/* `folder`/`name`; just `name` where the folder is ".". */
shard_status shard_path_join(const char *folder, const char *name, char out[SHARD_PATH_MAX],
                             shard_error *err);

/* `path` with `suffix` behind it. */
shard_status shard_path_append(const char *path, const char *suffix, char out[SHARD_PATH_MAX],
                               shard_error *err);

#endif
