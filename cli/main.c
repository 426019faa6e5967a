/* SPDX-License-Identifier: Apache-2.0 */
#include <shard/version.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "help.h"
#include "progress.h"
#include "signals.h"
#include "verbs.h"

const verb *const verbs[] = {
    &verb_pack,  &verb_merge,  &verb_index,  &verb_ls,     &verb_cat,        &verb_info,
    &verb_order, &verb_stream, &verb_verify, &verb_unpack, &verb_completion, &verb_man,
};
const size_t verb_count = sizeof verbs / sizeof *verbs;

const verb *find_verb(const char *name)
{
    for (size_t i = 0; i < verb_count; i++)
        if (strcmp(verbs[i]->name, name) == 0)
            return verbs[i];
    return NULL;
}

enum { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER };

static bool wants_color(const common *args)
{
    const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
    if (args->color != COLOR_AUTO)
        return args->color == COLOR_ALWAYS;
    if (no_color && *no_color)
        return false;
    return isatty(STDERR_FILENO) && !(term && strcmp(term, "dumb") == 0);
}

/* What could not be written to standard output is an error, however well the work went. */
static int close_output(int code)
{
    progress_clear_line();
    if (fflush(stdout) == 0 && !ferror(stdout))
        return code;
    if (signals_any()) /* it was the signal that interrupted the writing */
        return EXIT_SIGNAL + signals_received();
    shard_error err = {.status = SHARD_EIO, .offset = SHARD_NO_OFFSET, .url = "(stdout)"};
    snprintf(err.message, sizeof err.message, "cannot write: %s", strerror(errno));
    return cli_error(&(cli){0}, &err);
}

/* A descriptor that is closed would be given to the next file, and what is meant for standard
 * output would go into a shard. Opened the wrong way round, it fails as a closed one does. */
static void hold_standard_files(void)
{
    for (int fd = 0; fd <= 2; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY) != fd)
            _exit(EXIT_IO);
}

static int run_verb(const verb *v, common *args, shard_cancel *cancel, int count, char **operands)
{
    cli c = {.verb = v,
             .common = args,
             .color = wants_color(args),
             .progress = isatty(STDERR_FILENO) && !args->quiet && !args->json};
    if (args->help) {
        help_print_verb(v);
        return EXIT_OK;
    }
    c.cancel = cancel;
    return v->run(&c, args, count, operands);
}

static int parse_and_run(const verb *v, shard_cancel *cancel, int argc, char **argv)
{
    int count;
    char **operands;
    void *args = cli_allocate(1, v->args_size);
    int code = opt_parse(v, argc, argv, args, &count, &operands);
    if (code == EXIT_OK)
        code = run_verb(v, args, cancel, count, operands);
    opt_free(v, args);
    free(args);
    return code;
}

static int unknown_verb(const char *word)
{
    const char *names[32];
    for (size_t i = 0; i < verb_count; i++)
        names[i] = verbs[i]->name;
    const char *nearest = opt_nearest(word, names, verb_count);
    if (nearest)
        return cli_usage(NULL, "no verb \"%s\" (is %s meant?)", word, nearest);
    return cli_usage(NULL, "no verb \"%s\"", word);
}

static int print_help(int argc, char **argv)
{
    const verb *v = argc > 2 ? find_verb(argv[2]) : NULL;
    if (argc > 2 && !v)
        return unknown_verb(argv[2]);
    if (v)
        help_print_verb(v);
    else
        help_print_program();
    return EXIT_OK;
}

static int print_version(void)
{
    printf("shardtool %s (%s)\n", shard_version(), shard_built_with());
    return EXIT_OK;
}

static int dispatch(shard_cancel *cancel, int argc, char **argv)
{
    if (argc < 2)
        return cli_usage(NULL, "a verb is missing");
    const char *word = argv[1];
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0 || strcmp(word, "help") == 0)
        return print_help(argc, argv);
    if (strcmp(word, "--version") == 0 || strcmp(word, "version") == 0)
        return print_version();
    const verb *v = find_verb(word);
    return v ? parse_and_run(v, cancel, argc - 1, argv + 1) : unknown_verb(word);
}

int main(int argc, char **argv)
{
    shard_cancel *cancel; /* never freed: a signal may come until the very end */
    hold_standard_files();
    cli_look_for_json(argc, argv);
    if (shard_cancel_new(&cancel) != SHARD_OK)
        cli_die_memory();
    signals_init(cancel);
    return close_output(dispatch(cancel, argc, argv));
}
