/* SPDX-License-Identifier: Apache-2.0 */
#include "shardset/problems.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/opts.h"

shard_status shard_problems_init(shard_problems *p, const shard_verify_opts *opts,
                                 shard_verify_report *report, const char *path, shard_error *err)
{
    enum { PROBLEMS_MAX = 10 };
    *report = (shard_verify_report){0};
    *p = (shard_problems){.report = report, .path = path};
    SHARD_TRY(shard_opts_copy(&p->opts, sizeof p->opts, opts, err));
    if (p->opts.problems_max == 0)
        p->opts.problems_max = PROBLEMS_MAX;
    return SHARD_OK;
}

void shard_problem_tell(shard_problems *p, const shard_error *problem)
{
    if (p->report->problems++ < p->opts.problems_max && p->opts.on_problem)
        p->opts.on_problem(p->opts.context, problem);
}

void shard_problem_text(shard_problems *p, shard_status status, uint64_t offset, const char *text,
                        ...)
{
    char message[512];
    shard_error problem;
    va_list arguments;
    va_start(arguments, text);
    vsnprintf(message, sizeof message, text, arguments);
    va_end(arguments);
    shard_fail(&problem, status, p->path, offset, "%s", message);
    shard_problem_tell(p, &problem);
}

void shard_problem_numbers(shard_problems *p, shard_status status, uint64_t offset,
                           const char *what, uint64_t expected, uint64_t got)
{
    if (expected != got)
        shard_problem_text(p, status, offset, "%s (expected %llu, got %llu)", what,
                           (unsigned long long)expected, (unsigned long long)got);
}

void shard_problem_hash(shard_problems *p, const char *what,
                        const uint8_t expected[SHARD_HASH_SIZE], const uint8_t got[SHARD_HASH_SIZE])
{
    if (memcmp(expected, got, SHARD_HASH_SIZE) != 0)
        shard_problem_text(
            p, SHARD_ECHECKSUM, SHARD_NO_OFFSET,
            "xxh3 of the shard against %s (expected %02x%02x%02x%02x..., got %02x%02x%02x%02x...)",
            what, expected[0], expected[1], expected[2], expected[3], got[0], got[1], got[2],
            got[3]);
}
