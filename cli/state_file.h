/* SPDX-License-Identifier: Apache-2.0 */
/* A loader's state in a file: read, and written whole or not at all. */
#ifndef CLI_STATE_FILE_H
#define CLI_STATE_FILE_H

#include <shard/state.h>

#include "cli.h"

enum { STATE_FILE_MOST = 4096 };

/* Returns EXIT_OK, or the exit code after saying what is wrong. */
int state_file_read(const cli *c, const char *path, char out[STATE_FILE_MOST]);
int state_file_write(const cli *c, const char *path, const char *state);

#endif
