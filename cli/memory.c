/* SPDX-License-Identifier: Apache-2.0 */
#include "memory.h"

#include <stdio.h>
#include <stdlib.h>

#include "exit.h"

_Noreturn void cli_die_memory(void)
{
    fputs("shardtool: out of memory\n", stderr);
    exit(EXIT_IO);
}

void *cli_allocate(size_t count, size_t size)
{
    void *memory = calloc(count ? count : 1, size);
    if (!memory)
        cli_die_memory();
    return memory;
}
