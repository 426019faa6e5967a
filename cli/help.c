/* SPDX-License-Identifier: Apache-2.0 */
#include "help.h"

#include <stdio.h>
#include <string.h>

#include "verbs.h"

enum { COLUMNS = 80, OPTION_COLUMN = 28 };

/* Words of `text` from column `at` on, later lines indented by `indent`. An empty line stays one.
 */
static void print_wrapped(const char *text, int at, int indent)
{
    int column = at;
    while (*text) {
        size_t word = strcspn(text, " \n");
        if (column > indent && column + (int)word > COLUMNS - 1) {
            printf("\n%*s", indent, "");
            column = indent;
        }
        printf("%.*s", (int)word, text);
        column += (int)word;
        text += word;
        if (*text == ' ') {
            text++;
            if (column + 1 + (int)strcspn(text, " \n") <= COLUMNS - 1) {
                putchar(' ');
                column++;
            } else {
                printf("\n%*s", indent, "");
                column = indent;
            }
        } else if (*text == '\n') {
            text++;
            printf("\n%*s", *text == '\n' || !*text ? 0 : indent, "");
            column = indent;
        }
    }
    putchar('\n');
}

static void print_opt(const opt *o)
{
    char head[96];
    int n = o->letter ? snprintf(head, sizeof head, "  -%c, --%s", o->letter, o->name)
                      : snprintf(head, sizeof head, "      --%s", o->name);
    if (o->value)
        n += snprintf(head + n, sizeof head - (size_t)n, " %s", o->value);
    fputs(head, stdout);
    if (n + 2 > OPTION_COLUMN) {
        putchar('\n');
        n = 0;
    }
    printf("%*s", OPTION_COLUMN - n, "");
    print_wrapped(o->help, OPTION_COLUMN, OPTION_COLUMN);
}

void help_print_verb(const verb *v)
{
    printf("Usage: shardtool %s [options] %s\n\n", v->name, v->operands);
    print_wrapped(v->text, 0, 0);
    printf("\nOptions:\n");
    for (size_t i = 0; i < v->opt_count; i++)
        print_opt(&v->opts[i]);
    for (size_t i = 0; i < common_opt_count; i++)
        print_opt(&common_opts[i]);
    if (v->example_count > 0)
        printf("\nExamples:\n");
    for (size_t i = 0; i < v->example_count; i++) {
        printf("  %s\n      ", v->examples[i].command);
        print_wrapped(v->examples[i].what, 6, 6);
    }
}

void help_print_program(void)
{
    printf("Usage: shardtool VERB [options] ...\n\n"
           "File trees into compressed, indexed tar shards, and everything to inspect them.\n"
           "\nVerbs:\n");
    for (size_t i = 0; i < verb_count; i++)
        printf("  %-12s%s\n", verbs[i]->name, verbs[i]->summary);
    printf("\n'shardtool VERB --help' says more of each; 'shardtool --version' which one this is.\n"
           "\nExample:\n"
           "  shardtool pack ./images 'out-<000..099>.tar'\n"
           "  shardtool ls out.shards.json\n");
}
