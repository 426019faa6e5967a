/* SPDX-License-Identifier: Apache-2.0 */
#include "rank.h"

#include <stdlib.h>

#include "launcher.h"

static const struct {
    const char *rank, *world_size;
} launchers[] = {
    {"RANK", "WORLD_SIZE"},                           /* torchrun */
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"}, /* Open MPI */
    {"PMI_RANK", "PMI_SIZE"},                         /* MPICH, Intel MPI */
    {"SLURM_PROCID", "SLURM_NTASKS"},                 /* srun */
};

int rank_from_environment(const cli *c, uint32_t *rank, uint32_t *world_size)
{
    *rank = 0;
    *world_size = 1;
    for (size_t i = 0; i < sizeof launchers / sizeof *launchers; i++) {
        const char *r = getenv(launchers[i].rank), *w = getenv(launchers[i].world_size);
        if (!r || !w)
            continue;
        if (!launcher_number(r, rank) || !launcher_number(w, world_size) || *rank >= *world_size)
            return cli_usage(c->verb->name,
                             "the environment's %s=%.40s and %s=%.40s are no rank and world size: "
                             "use --rank and --world-size",
                             launchers[i].rank, r, launchers[i].world_size, w);
        if (*world_size > 1)
            cli_note(c, "rank %u of %u, as %s says", *rank, *world_size, launchers[i].rank);
        return EXIT_OK;
    }
    return EXIT_OK;
}
