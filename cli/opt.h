/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Command lines by table: each verb has a list of its options, from which come the parser, --help,
 * the man pages and the completions of three shells.
 */
#ifndef CLI_OPT_H
#define CLI_OPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum {
    OPT_FLAG,   /* bool */
    OPT_TEXT,   /* const char * */
    OPT_FILE,   /* const char *: the same, completed as a file's name */
    OPT_FOLDER, /* const char *: ... as a folder's */
    OPT_NUMBER, /* uint64_t */
    OPT_SIZE,   /* uint64_t, with units: 64MiB, 1G */
    OPT_CHOICE, /* int: number of the word in `value`, "one|other" */
    OPT_LIST,   /* opt_list: words parted by commas; given again, they add up */
} opt_kind;

/* What an OPT_LIST becomes; freed by opt_free. */
typedef struct {
    const char **word;
    size_t count, capacity;
    char **memory;
    size_t memory_count;
} opt_list;

typedef struct {
    char letter; /* 0: none */
    const char *name;
    opt_kind kind;
    size_t field;      /* offset in the verb's struct of arguments */
    size_t given;      /* offset of a bool that says the option was there; 0: nobody asks */
    const char *value; /* name of its value in help, or its choices; NULL for flags */
    const char *help;
} opt;

typedef struct {
    const char *command, *what;
} opt_example;

struct cli;

typedef struct {
    const char *name;
    const char *summary;  /* one line */
    const char *operands; /* "SRC... OUT" */
    const char *text;     /* paragraphs for help and man, parted by empty lines */
    const opt *opts;
    size_t opt_count;
    const opt_example *examples;
    size_t example_count;
    size_t args_size; /* of the struct of arguments, which begins with struct common */
    int (*run)(struct cli *cli, void *args, int count, char **operands);
} verb;

/* Arguments that every verb takes. */
typedef struct {
    bool help;
    bool quiet;
    bool json;
    int color; /* OPT_CHOICE: auto, always, never */
} common;

extern const opt common_opts[];
extern const size_t common_opt_count;

/*
 * Parse a verb's command line into `args`, a zeroed struct of verb->args_size bytes. Returns
 * EXIT_OK with the operands, which the array gets in order, or EXIT_USAGE after it said what is
 * wrong.
 */
int opt_parse(const verb *v, int argc, char **argv, void *args, int *operand_count,
              char ***operands);

/* Free what lists in `args` hold. */
void opt_free(const verb *v, void *args);

/* The entry of `names` that `word` was probably meant to be, or NULL. */
const char *opt_nearest(const char *word, const char *const *names, size_t count);

#endif
