/* SPDX-License-Identifier: Apache-2.0 */
/* What the verbs share: how they speak, and how they end. */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include <shard/cancel.h>
#include <shard/status.h>

#include <stdio.h>

#include "exit.h"
#include "memory.h"
#include "opt.h"
#include "text.h"

struct cli {
    const verb *verb;
    const common *common;
    shard_cancel *cancel; /* set by SIGINT and SIGTERM */
    bool color;           /* of messages on standard error */
    bool progress;        /* standard error is a terminal and nobody asked for quiet */
};

typedef struct cli cli;

/* Note whether --json is among the words, so that errors over the command line are JSON too. */
void cli_look_for_json(int argc, char **argv);

/* A wrong command line: one line, and where to read more. Returns EXIT_USAGE. `verb_name` may be
 * NULL.
 */
SHARD_PRINTF(2, 3)
int cli_usage(const char *verb_name, const char *text, ...);

/* An error of the library, and a hint where there is one. Returns the exit code that it calls for.
 */
int cli_error(const cli *c, const shard_error *err);

/* The same line without ending anything: for problems that are collected. */
void cli_report(const cli *c, const shard_error *err);

/* A remark on standard error, unless --quiet or --json. */
SHARD_PRINTF(2, 3)
void cli_note(const cli *c, const char *text, ...);

#endif
