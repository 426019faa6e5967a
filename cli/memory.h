/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_MEMORY_H
#define CLI_MEMORY_H

#include <stddef.h>

/* No memory is left: say so and end. */
_Noreturn void cli_die_memory(void);

/* Memory or death. */
void *cli_allocate(size_t count, size_t size);

#endif
