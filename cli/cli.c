/* SPDX-License-Identifier: Apache-2.0 */
#include "cli.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "progress.h"
#include "record.h"
#include "signals.h"

enum { MESSAGE_SIZE = 16 << 10 };

/* Before the options are understood, and when they cannot be. */
static bool wants_json;

void cli_look_for_json(int argc, char **argv)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        wants_json = wants_json || strcmp(argv[i], "--json") == 0;
}

static void begin_line(const char *verb_name, bool color)
{
    progress_clear_line();
    fprintf(stderr, "%sshardtool%s%s:%s ", color ? "\033[1;31m" : "", verb_name ? " " : "",
            verb_name ? verb_name : "", color ? "\033[0m" : "");
}

static void print_json_error(const char *verb_name, const shard_error *err)
{
    record *line = record_new();
    record_text(line, "level", "error");
    record_text(line, "verb", verb_name ? verb_name : "");
    record_text(line, "code", shard_status_name(err->status));
    record_text(line, "url", err->url);
    if (err->offset != SHARD_NO_OFFSET)
        record_number(line, "offset", err->offset);
    record_text(line, "message", err->message);
    record_print(line, stderr);
}

int cli_usage(const char *verb_name, const char *text, ...)
{
    shard_error err = {.status = SHARD_EINVAL, .offset = SHARD_NO_OFFSET};
    va_list arguments;
    va_start(arguments, text);
    vsnprintf(err.message, sizeof err.message, text, arguments);
    va_end(arguments);
    if (wants_json) {
        print_json_error(verb_name, &err);
        return EXIT_USAGE;
    }
    begin_line(verb_name, false);
    text_print_message(stderr, err.message);
    fprintf(stderr, "\nTry 'shardtool%s%s --help'.\n", verb_name ? " " : "",
            verb_name ? verb_name : "");
    return EXIT_USAGE;
}

static int exit_code(const shard_error *err)
{
    switch (err->status) {
    case SHARD_OK:
    case SHARD_END:
        return EXIT_OK;
    case SHARD_EINVAL:
        return EXIT_USAGE;
    case SHARD_ECANCEL:
        return EXIT_SIGNAL + signals_received();
    case SHARD_EBUSY:
        return EXIT_TEMPORARY;
    case SHARD_EIO:
    case SHARD_ENOTFOUND:
    case SHARD_EEXIST:
    case SHARD_ENOMEM:
        return err->retryable ? EXIT_TEMPORARY : EXIT_IO;
    default:
        return EXIT_DATA;
    }
}

void cli_report(const cli *c, const shard_error *err)
{
    if (err->status == SHARD_ECANCEL)
        return; /* who pressed the keys knows */
    const char *verb_name = c->verb ? c->verb->name : NULL;
    if (wants_json) {
        print_json_error(verb_name, err);
        return;
    }
    begin_line(verb_name, c->color);
    if (*err->url) {
        text_print_name(stderr, err->url, strlen(err->url));
        fputs(": ", stderr);
    }
    if (err->offset != SHARD_NO_OFFSET)
        fprintf(stderr, "offset %" PRIu64 ": ", err->offset);
    text_print_message(stderr, err->message);
    fprintf(stderr, " [%s]\n", shard_status_name(err->status));
}

int cli_error(const cli *c, const shard_error *err)
{
    cli_report(c, err);
    return exit_code(err);
}

void cli_note(const cli *c, const char *text, ...)
{
    char message[MESSAGE_SIZE];
    va_list arguments;
    if (c->common->quiet || c->common->json)
        return;
    progress_clear_line();
    va_start(arguments, text);
    vsnprintf(message, sizeof message, text, arguments);
    va_end(arguments);
    text_print_message(stderr, message);
    fputc('\n', stderr);
}
