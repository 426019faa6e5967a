/* SPDX-License-Identifier: Apache-2.0 */
/* Completions for three shells, printed from the tables of options. */
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "verbs.h"

typedef struct {
    common common;
} completion_args;

static const opt_example examples[] = {
    {"shardtool completion bash > ~/.local/share/bash-completion/completions/shardtool",
     "for bash"},
    {"shardtool completion zsh > \"${fpath[1]}/_shardtool\"", "for zsh"},
    {"shardtool completion fish > ~/.config/fish/completions/shardtool.fish", "for fish"},
};

/* ---- what all three need ---- */

typedef void (*opt_fn)(const verb *v, const opt *o);

static void each_opt(const verb *v, opt_fn print)
{
    for (size_t i = 0; i < v->opt_count; i++)
        print(v, &v->opts[i]);
    for (size_t i = 0; i < common_opt_count; i++)
        print(v, &common_opts[i]);
}

/* The words of "one|other", parted by spaces. */
static void print_choices(const char *choices)
{
    for (; *choices; choices++)
        putchar(*choices == '|' ? ' ' : *choices);
}

/* Text between single quotes of a shell. */
static void print_quoted(const char *text)
{
    for (; *text; text++)
        if (*text == '\'')
            fputs("'\\''", stdout);
        else
            putchar(*text);
}

/* ---- bash ---- */

static void bash_opt(const verb *v, const opt *o)
{
    (void)v;
    printf(" --%s", o->name);
}

static void bash_value(const verb *v, const opt *o)
{
    if (o->kind == OPT_FLAG)
        return;
    printf("        %s:--%s) ", v->name, o->name);
    if (o->kind == OPT_CHOICE) {
        printf("mapfile -t COMPREPLY < <(compgen -W '");
        print_choices(o->value);
        printf("' -- \"$word\");");
    } else if (o->kind == OPT_FILE) {
        printf("mapfile -t COMPREPLY < <(compgen -f -- \"$word\");");
    } else if (o->kind == OPT_FOLDER) {
        printf("mapfile -t COMPREPLY < <(compgen -d -- \"$word\");");
    }
    printf(" return ;;\n");
}

static void print_bash(void)
{
    printf("# bash completion for shardtool\n"
           "_shardtool() {\n"
           "    local at=$COMP_CWORD word=${COMP_WORDS[COMP_CWORD]} verb=${COMP_WORDS[1]}\n"
           "    [ \"$word\" = = ] && { word=; at=$((at + 1)); } # bash parts --option=value\n"
           "    local before=${COMP_WORDS[at-1]}\n"
           "    [ \"$before\" = = ] && before=${COMP_WORDS[at-2]}\n"
           "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
           "        mapfile -t COMPREPLY < <(compgen -W '--help --version");
    for (size_t i = 0; i < verb_count; i++)
        printf(" %s", verbs[i]->name);
    printf("' -- \"$word\"); return\n    fi\n    case $verb:$before in\n");
    for (size_t i = 0; i < verb_count; i++)
        each_opt(verbs[i], bash_value);
    printf("    esac\n    case $word in\n    -*) case $verb in\n");
    for (size_t i = 0; i < verb_count; i++) {
        printf("        %s) mapfile -t COMPREPLY < <(compgen -W '", verbs[i]->name);
        each_opt(verbs[i], bash_opt);
        printf("' -- \"$word\") ;;\n");
    }
    printf("        esac ;;\n"
           "    *) mapfile -t COMPREPLY < <(compgen -f -- \"$word\") ;;\n"
           "    esac\n}\n"
           "complete -o filenames -F _shardtool shardtool\n");
}

/* ---- zsh ---- */

/* In _arguments, brackets end a description and colons part its fields. */
static void print_zsh_text(const char *text)
{
    for (; *text; text++) {
        if (strchr("[]:\\", *text))
            putchar('\\');
        if (*text == '\'')
            fputs("'\\''", stdout);
        else
            putchar(*text);
    }
}

static void zsh_opt(const verb *v, const opt *o)
{
    (void)v;
    printf("            '%s--%s%s[", o->kind == OPT_LIST ? "*" : "", o->name,
           o->kind == OPT_FLAG ? "" : "=");
    print_zsh_text(o->help);
    putchar(']');
    if (o->kind == OPT_CHOICE) {
        printf(":%s:(", o->name);
        print_choices(o->value);
        putchar(')');
    } else if (o->kind == OPT_FILE) {
        printf(":file:_files");
    } else if (o->kind == OPT_FOLDER) {
        printf(":folder:_files -/");
    } else if (o->kind != OPT_FLAG) {
        printf(":%s: ", o->name);
    }
    printf("' \\\n");
}

static void print_zsh(void)
{
    printf("#compdef shardtool\n"
           "_shardtool() {\n"
           "    local -a verbs\n"
           "    verbs=(\n");
    for (size_t i = 0; i < verb_count; i++) {
        printf("        '%s:", verbs[i]->name);
        print_zsh_text(verbs[i]->summary);
        printf("'\n");
    }
    printf("    )\n"
           "    if (( CURRENT == 2 )); then _describe verb verbs; return; fi\n"
           "    local verb=$words[2]\n"
           "    shift words; (( CURRENT-- ))\n"
           "    case $verb in\n");
    for (size_t i = 0; i < verb_count; i++) {
        printf("        %s) _arguments \\\n", verbs[i]->name);
        each_opt(verbs[i], zsh_opt);
        printf("            '*:file:_files' ;;\n");
    }
    printf("    esac\n}\n_shardtool \"$@\"\n");
}

/* ---- fish ---- */

static void fish_opt(const verb *v, const opt *o)
{
    printf("complete -c shardtool -n '__fish_seen_subcommand_from %s' -l %s", v->name, o->name);
    if (o->letter)
        printf(" -s %c", o->letter);
    if (o->kind == OPT_CHOICE) {
        printf(" -x -a '");
        print_choices(o->value);
        putchar('\'');
    } else if (o->kind == OPT_FOLDER) {
        printf(" -x -a '(__fish_complete_directories)'");
    } else if (o->kind == OPT_FILE) {
        printf(" -r");
    } else if (o->kind != OPT_FLAG) {
        printf(" -x");
    }
    printf(" -d '");
    print_quoted(o->help);
    printf("'\n");
}

static void print_fish(void)
{
    printf("# fish completion for shardtool\n");
    for (size_t i = 0; i < verb_count; i++) {
        printf("complete -c shardtool -n __fish_use_subcommand -a %s -d '", verbs[i]->name);
        print_quoted(verbs[i]->summary);
        printf("'\n");
    }
    for (size_t i = 0; i < verb_count; i++)
        each_opt(verbs[i], fish_opt);
}

static int run(cli *c, void *args, int count, char **operands)
{
    (void)args;
    if (count != 1)
        return cli_usage(c->verb->name, "bash, zsh or fish?");
    if (strcmp(operands[0], "bash") == 0)
        print_bash();
    else if (strcmp(operands[0], "zsh") == 0)
        print_zsh();
    else if (strcmp(operands[0], "fish") == 0)
        print_fish();
    else
        return cli_usage(c->verb->name, "no completion for \"%s\": bash, zsh or fish", operands[0]);
    return EXIT_OK;
}

const verb verb_completion = {
    .name = "completion",
    .summary = "print completions for a shell",
    .operands = "bash|zsh|fish",
    .text = "Print a script that completes verbs, options and their values.",
    .examples = examples,
    .example_count = sizeof examples / sizeof *examples,
    .args_size = sizeof(completion_args),
    .run = run,
};
