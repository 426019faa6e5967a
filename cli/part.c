/* SPDX-License-Identifier: Apache-2.0 */
#include "part.h"

#include <stdlib.h>
#include <string.h>

#include "launcher.h"

/* Where the index of this task, its first value, and the number of tasks stand; NULL: 0, unknown.
 */
static const struct {
    const char *index, *first, *count;
} launchers[] = {
    {"SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_MIN", "SLURM_ARRAY_TASK_COUNT"},
    {"JOB_COMPLETION_INDEX", NULL, NULL},                   /* Kubernetes Indexed Job */
    {"OMPI_COMM_WORLD_RANK", NULL, "OMPI_COMM_WORLD_SIZE"}, /* Open MPI */
    {"PMI_RANK", NULL, "PMI_SIZE"},                         /* MPICH, Intel MPI */
    {"RANK", NULL, "WORLD_SIZE"},                           /* torchrun */
    {"SLURM_PROCID", NULL, "SLURM_NTASKS"},                 /* srun */
};

/* A Slurm array may count in steps: 0, 4, 8. */
static bool divide_step(uint32_t *index)
{
    uint32_t step = 1;
    if (getenv("SLURM_ARRAY_TASK_STEP") && !launcher_number(getenv("SLURM_ARRAY_TASK_STEP"), &step))
        return false;
    if (step == 0 || *index % step != 0)
        return false;
    *index /= step;
    return true;
}

static bool from_environment(uint32_t given, uint32_t *part, uint32_t *parts, const char **why)
{
    for (size_t i = 0; i < sizeof launchers / sizeof *launchers; i++) {
        uint32_t index, first = 0, count = given;
        if (!getenv(launchers[i].index))
            continue;
        *why = "the environment's task number is not one";
        if (!launcher_number(getenv(launchers[i].index), &index))
            return false;
        if (launchers[i].first && getenv(launchers[i].first) &&
            !launcher_number(getenv(launchers[i].first), &first))
            return false;
        *why = "the array begins past 1, so it may be a piece of one: use --part I/N";
        if (first > 1)
            return false;
        *why = "the environment's task number is not one";
        index -= first;
        if (i == 0 && !divide_step(&index))
            return false;
        *why = "the environment does not say how many parts there are: use --part auto/N";
        if (given == 0 &&
            !(launchers[i].count && launcher_number(getenv(launchers[i].count), &count)))
            return false;
        *why = "the environment's task number is not below the number of parts";
        *part = index + 1;
        *parts = count;
        return index < count;
    }
    *why = "no task number in the environment (Slurm, Kubernetes, MPI, torchrun)";
    return false;
}

bool part_parse(const char *text, uint32_t *part, uint32_t *parts, const char **why)
{
    char first[16];
    const char *slash = strchr(text, '/');
    size_t size = slash ? (size_t)(slash - text) : strlen(text);
    uint32_t given = 0;
    *why = "not a part, I/N: from 1/N to N/N, or auto";
    if (size >= sizeof first || (slash && !launcher_number(slash + 1, &given)))
        return false;
    memcpy(first, text, size);
    first[size] = 0;
    if (slash && given == 0)
        return false;
    if (strcmp(first, "auto") == 0)
        return from_environment(given, part, parts, why);
    *parts = given;
    return slash && launcher_number(first, part) && *part >= 1 && *part <= *parts;
}
