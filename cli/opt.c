/* SPDX-License-Identifier: Apache-2.0 */
#include "opt.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "exit.h"

const opt common_opts[] = {
    {'h', "help", OPT_FLAG, offsetof(common, help), 0, NULL, "show this text"},
    {'q', "quiet", OPT_FLAG, offsetof(common, quiet), 0, NULL, "say nothing but errors"},
    {0, "json", OPT_FLAG, offsetof(common, json), 0, NULL,
     "report as JSON on standard output, one object a line"},
    {0, "color", OPT_CHOICE, offsetof(common, color), 0, "auto|always|never",
     "colour messages; auto: on a terminal, unless NO_COLOR is set"},
};
const size_t common_opt_count = sizeof common_opts / sizeof *common_opts;

enum { OPTS_MAX = 64, FIRST_LONG = 256 };

/* All options of a verb: the common ones, then its own. */
static const opt *opt_at(const verb *v, size_t i)
{
    return i < common_opt_count ? &common_opts[i] : &v->opts[i - common_opt_count];
}

static size_t opt_total(const verb *v)
{
    return common_opt_count + v->opt_count;
}

/* ---- values ---- */

static bool parse_number(const char *text, uint64_t *out, const char **rest)
{
    char *end;
    if (*text < '0' || *text > '9')
        return false;
    errno = 0;
    *out = strtoull(text, &end, 10);
    *rest = end;
    return errno == 0;
}

/* A number of bytes: "4096", "64KiB", "1G" (units of 1024 but for kB, KB, MB, GB, TB). */
static bool parse_size(const char *text, uint64_t *out)
{
    static const struct {
        const char *unit;
        uint64_t bytes;
    } units[] = {
        {"", 1},
        {"B", 1},
        {"K", 1 << 10},
        {"KiB", 1 << 10},
        {"kB", 1000},
        {"KB", 1000},
        {"M", 1 << 20},
        {"MiB", 1 << 20},
        {"MB", 1000000},
        {"G", 1 << 30},
        {"GiB", 1 << 30},
        {"GB", 1000000000},
        {"T", UINT64_C(1) << 40},
        {"TiB", UINT64_C(1) << 40},
        {"TB", UINT64_C(1000000000000)},
    };
    const char *unit;
    if (!parse_number(text, out, &unit))
        return false;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (strcmp(unit, units[i].unit) != 0)
            continue;
        if (*out > UINT64_MAX / units[i].bytes)
            return false;
        *out *= units[i].bytes;
        return true;
    }
    return false;
}

/* The number of `word` in "one|other", or -1. */
static int parse_choice(const char *choices, const char *word)
{
    size_t size = strlen(word);
    for (int number = 0; *choices; number++) {
        size_t choice = strcspn(choices, "|");
        if (choice == size && memcmp(choices, word, size) == 0)
            return number;
        choices += choice + (choices[choice] == '|');
    }
    return -1;
}

static void *grow(void *old, size_t count, size_t size)
{
    void *memory = realloc(old, count * size);
    if (!memory)
        cli_die_memory();
    return memory;
}

static void add_words(opt_list *list, const char *text)
{
    char *copy = grow(NULL, strlen(text) + 1, 1);
    strcpy(copy, text);
    list->memory = grow(list->memory, list->memory_count + 1, sizeof *list->memory);
    list->memory[list->memory_count++] = copy;
    for (char *word = strtok(copy, ","); word; word = strtok(NULL, ",")) {
        if (list->count == list->capacity) {
            list->capacity = list->capacity * 2 + 4;
            list->word = grow(list->word, list->capacity, sizeof *list->word);
        }
        list->word[list->count++] = word;
    }
}

static bool set_value(const opt *o, char *field, const char *text)
{
    const char *rest = "";
    uint64_t number;
    int choice;
    switch (o->kind) {
    case OPT_FLAG:
        memcpy(field, &(bool){true}, sizeof(bool));
        return true;
    case OPT_TEXT:
    case OPT_FILE:
    case OPT_FOLDER:
        memcpy(field, &text, sizeof text);
        return true;
    case OPT_NUMBER:
        if (!parse_number(text, &number, &rest) || *rest)
            return false;
        memcpy(field, &number, sizeof number);
        return true;
    case OPT_SIZE:
        if (!parse_size(text, &number))
            return false;
        memcpy(field, &number, sizeof number);
        return true;
    case OPT_CHOICE:
        choice = parse_choice(o->value, text);
        memcpy(field, &choice, sizeof choice);
        return choice >= 0;
    case OPT_LIST:
        add_words((opt_list *)(void *)field, text);
        return true;
    }
    return false;
}

/* ---- what is meant ---- */

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Insertions, deletions and exchanges that make one word of the other (Levenshtein). */
static size_t distance(const char *a, const char *b)
{
    enum { WORD_MAX = 32 };
    size_t row[WORD_MAX + 1], b_size = strlen(b);
    if (strlen(a) > WORD_MAX || b_size > WORD_MAX)
        return WORD_MAX;
    for (size_t j = 0; j <= b_size; j++)
        row[j] = j;
    for (size_t i = 0; a[i]; i++) {
        size_t corner = row[0]++;
        for (size_t j = 0; j < b_size; j++) {
            size_t exchanged = corner + (a[i] != b[j]);
            corner = row[j + 1];
            row[j + 1] = least(exchanged, least(row[j], corner) + 1);
        }
    }
    return row[b_size];
}

const char *opt_nearest(const char *word, const char *const *names, size_t count)
{
    const char *found = NULL;
    size_t nearest = 3; /* two slips at most */
    for (size_t i = 0; i < count; i++) {
        size_t d = distance(word, names[i]);
        if (d >= nearest || d >= strlen(names[i]))
            continue;
        nearest = d;
        found = names[i];
    }
    return found;
}

static int unknown_option(const verb *v, const char *word)
{
    const char *names[OPTS_MAX];
    char bare[64];
    size_t count = opt_total(v);
    for (size_t i = 0; i < count; i++)
        names[i] = opt_at(v, i)->name;
    snprintf(bare, sizeof bare, "%.*s", (int)strcspn(word + 2, "="), word + 2);
    const char *nearest = word[1] == '-' ? opt_nearest(bare, names, count) : NULL;
    if (nearest)
        return cli_usage(v->name, "unknown option %s (is --%s meant?)", word, nearest);
    return cli_usage(v->name, "unknown option %s", word);
}

/* ---- parsing ---- */

typedef struct {
    struct option longs[OPTS_MAX + 1];
    char shorts[2 * OPTS_MAX + 2];
} getopt_table;

static void make_table(const verb *v, getopt_table *t)
{
    size_t n = 0, total = opt_total(v);
    memset(t, 0, sizeof *t);
    t->shorts[n++] = ':'; /* say which option lacks a value */
    for (size_t i = 0; i < total; i++) {
        const opt *o = opt_at(v, i);
        bool has_value = o->kind != OPT_FLAG;
        t->longs[i] = (struct option){o->name, has_value, NULL, FIRST_LONG + (int)i};
        if (!o->letter)
            continue;
        t->shorts[n++] = o->letter;
        if (has_value)
            t->shorts[n++] = ':';
    }
}

static const opt *find_opt(const verb *v, int answer)
{
    if (answer >= FIRST_LONG)
        return opt_at(v, (size_t)(answer - FIRST_LONG));
    for (size_t i = 0; i < opt_total(v); i++)
        if (opt_at(v, i)->letter == answer)
            return opt_at(v, i);
    return NULL;
}

static int take_opt(const verb *v, const opt *o, void *args)
{
    static const char *kinds[] = {
        [OPT_NUMBER] = "a whole number", [OPT_SIZE] = "a size, such as 64MiB", [OPT_CHOICE] = NULL};
    char *base = args;
    if (o->given)
        memcpy(base + o->given, &(bool){true}, sizeof(bool));
    if (set_value(o, base + o->field, optarg))
        return EXIT_OK;
    return cli_usage(v->name, "--%s takes %s, not \"%s\"", o->name,
                     o->kind == OPT_CHOICE ? o->value : kinds[o->kind], optarg);
}

int opt_parse(const verb *v, int argc, char **argv, void *args, int *operand_count,
              char ***operands)
{
    getopt_table table;
    int answer;
    make_table(v, &table);
    optind = 1;
    opterr = 0;
    while ((answer = getopt_long(argc, argv, table.shorts, table.longs, NULL)) != -1) {
        const char *word = argv[optind - 1];
        if (answer == ':')
            return cli_usage(v->name, "option %s needs a value", word);
        if (answer == '?' && optopt >= FIRST_LONG)
            return cli_usage(v->name, "option %s takes no value", word);
        char letter[] = {'-', (char)optopt, 0}; /* it may stand in the middle of a word */
        if (answer == '?')
            return unknown_option(v, optopt ? letter : word);
        int code = take_opt(v, find_opt(v, answer), args);
        if (code != EXIT_OK)
            return code;
    }
    *operand_count = argc - optind;
    *operands = argv + optind;
    return EXIT_OK;
}

void opt_free(const verb *v, void *args)
{
    for (size_t i = 0; i < v->opt_count; i++) {
        if (v->opts[i].kind != OPT_LIST)
            continue;
        opt_list *list = (opt_list *)(void *)((char *)args + v->opts[i].field);
        for (size_t j = 0; j < list->memory_count; j++)
            free(list->memory[j]);
        free(list->memory);
        free((void *)list->word);
    }
}
