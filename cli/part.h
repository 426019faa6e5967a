/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_PART_H
#define CLI_PART_H

#include <stdbool.h>
#include <stdint.h>

/*
 * "3/8": part 3 of 8. "auto": as the environment says, by Slurm arrays and tasks, MPI launchers or
 * torchrun. "auto/8": which part from the environment, of 8 (Kubernetes says only the index).
 * On failure, `*why` says what is wrong.
 */
bool part_parse(const char *text, uint32_t *part, uint32_t *parts, const char **why);

#endif
