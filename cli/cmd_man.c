/* SPDX-License-Identifier: Apache-2.0 */
/* Man pages (man(7) macros), printed from the tables of options; the build writes them to files. */
#include <shard/version.h>

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "verbs.h"

typedef struct {
    common common;
} man_args;

enum { LINE_MAX_COLUMN = 78 };

/* Text as roff takes it: hyphens stay hyphens, a line does not begin with a control character. */
static void print_char(char c, bool line_start)
{
    if (line_start && (c == '.' || c == '\''))
        fputs("\\&", stdout);
    if (c == '\\')
        fputs("\\e", stdout);
    else if (c == '-')
        fputs("\\-", stdout);
    else
        putchar(c);
}

static void print_roff(const char *text)
{
    for (; *text; text++)
        print_char(*text, false);
}

/* Lines of source of a moderate length, which is all the same to roff. */
static void print_prose(const char *text)
{
    int column = 0;
    for (; *text; text++) {
        if (*text == ' ' && column + 1 + (int)strcspn(text + 1, " \n") > LINE_MAX_COLUMN) {
            putchar('\n');
            column = 0;
            continue;
        }
        print_char(*text, column == 0);
        column = *text == '\n' ? 0 : column + (*text == '-' ? 2 : 1);
    }
}

/* Paragraphs, parted by empty lines. */
static void print_paragraphs(const char *text)
{
    while (*text) {
        const char *end = strstr(text, "\n\n");
        char part[2048];
        size_t size = end ? (size_t)(end - text) : strlen(text);
        snprintf(part, sizeof part, "%.*s", (int)size, text);
        print_prose(part);
        putchar('\n');
        text += size;
        if (end) {
            printf(".PP\n");
            text += 2;
        }
    }
}

static void print_opt(const opt *o)
{
    printf(".TP\n");
    if (o->letter)
        printf("\\fB\\-%c\\fR, ", o->letter);
    printf("\\fB\\-\\-");
    print_roff(o->name);
    printf("\\fR");
    if (o->value) {
        printf(" \\fI");
        print_roff(o->value);
        printf("\\fR");
    }
    putchar('\n');
    print_prose(o->help);
    printf(".\n");
}

static void print_head(const char *name, const char *summary)
{
    printf(".TH ");
    for (const char *c = name; *c; c++)
        putchar(toupper((unsigned char)*c));
    printf(" 1 \"\" \"shardtool %s\" \"User Commands\"\n.SH NAME\n", shard_version());
    print_roff(name);
    printf(" \\- %s\n", summary);
}

static void print_exit_status(void)
{
    printf(".SH EXIT STATUS\n"
           ".TP\n0\nall went well.\n"
           ".TP\n1\nthe data are bad, or problems were found.\n"
           ".TP\n2\nthe command line is wrong.\n"
           ".TP\n3\na file, key or component that is not there; a file or system error; an output\n"
           "that exists.\n"
           ".TP\n4\nan error that may be gone when tried again.\n"
           ".TP\n130, 143\nended by SIGINT or SIGTERM, after unfinished outputs were removed.\n");
}

static void print_verb_page(const verb *v)
{
    char name[64];
    snprintf(name, sizeof name, "shardtool-%s", v->name);
    print_head(name, v->summary);
    printf(".SH SYNOPSIS\n\\fBshardtool %s\\fR [\\fIoptions\\fR] ", v->name);
    print_roff(v->operands);
    printf("\n.SH DESCRIPTION\n");
    print_paragraphs(v->text);
    printf(".SH OPTIONS\n");
    for (size_t i = 0; i < v->opt_count; i++)
        print_opt(&v->opts[i]);
    for (size_t i = 0; i < common_opt_count; i++)
        print_opt(&common_opts[i]);
    if (v->example_count > 0)
        printf(".SH EXAMPLES\n");
    for (size_t i = 0; i < v->example_count; i++) {
        printf(".TP\n\\fB");
        print_roff(v->examples[i].command);
        printf("\\fR\n");
        print_prose(v->examples[i].what);
        putchar('\n');
    }
    print_exit_status();
    printf(".SH SEE ALSO\n\\fBshardtool\\fR(1)\n");
}

static void print_program_page(void)
{
    print_head("shardtool", "pack file trees into indexed tar shards, and inspect them");
    printf(".SH SYNOPSIS\n\\fBshardtool\\fR \\fIverb\\fR [\\fIoptions\\fR] ...\n.SH DESCRIPTION\n"
           "Shards are plain tars that readers of WebDataset shards take, with an index\n"
           "beside each and a manifest of the set.\n.SH VERBS\n");
    for (size_t i = 0; i < verb_count; i++) {
        printf(".TP\n\\fB%s\\fR\n", verbs[i]->name);
        print_roff(verbs[i]->summary);
        printf(".\nSee \\fBshardtool\\-%s\\fR(1).\n", verbs[i]->name);
    }
    print_exit_status();
    printf(".SH ENVIRONMENT\n"
           ".TP\nSOURCE_DATE_EPOCH\ntime of all members that pack writes, in seconds since 1970.\n"
           ".TP\nNO_COLOR\nwhen not empty, messages are not coloured.\n");
}

static int run(cli *c, void *args, int count, char **operands)
{
    (void)args;
    const verb *v = count == 1 ? find_verb(operands[0]) : NULL;
    if (count > 1 || (count == 1 && !v))
        return cli_usage(c->verb->name, "a verb, or nothing, is wanted");
    if (v)
        print_verb_page(v);
    else
        print_program_page();
    return EXIT_OK;
}

const verb verb_man = {
    .name = "man",
    .summary = "print the man page of shardtool or of a verb",
    .operands = "[VERB]",
    .text = "Print a man page, for man -l - or to be installed.",
    .args_size = sizeof(man_args),
    .run = run,
};
