/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_RANK_H
#define CLI_RANK_H

#include "cli.h"

/*
 * Which of how many processes this one is, by what torchrun, an MPI launcher or srun left in the
 * environment; 0 of 1 without any of them. Says so where there are several. Returns EXIT_OK or the
 * exit code after saying what is wrong.
 */
int rank_from_environment(const cli *c, uint32_t *rank, uint32_t *world_size);

#endif
