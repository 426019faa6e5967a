/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SIGINT and SIGTERM: the first one asks the work to stop, which removes what is not finished; the
 * second one ends the process at once.
 */
#ifndef CLI_SIGNALS_H
#define CLI_SIGNALS_H

#include <shard/cancel.h>

#include <stdbool.h>

/* `cancel` is set by a signal, which may come until the process ends. */
void signals_init(shard_cancel *cancel);

/* The number of the signal that came first; SIGINT while none has. */
int signals_received(void);

/* Has any come? */
bool signals_any(void);

#endif
