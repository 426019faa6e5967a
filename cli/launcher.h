/* SPDX-License-Identifier: Apache-2.0 */
/* What Slurm, MPI, torchrun and Kubernetes leave in the environment. */
#ifndef CLI_LAUNCHER_H
#define CLI_LAUNCHER_H

#include <stdbool.h>
#include <stdint.h>

/* A variable's value as a number; false for anything else, and for NULL. */
bool launcher_number(const char *text, uint32_t *out);

#endif
