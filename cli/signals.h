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

/* Whether they come to other threads alone: this one's writes are whole then, and what was written
 * is known. There must be others. */
void signals_leave_to_others(bool leave);

/* The number of the signal that came first; SIGINT while none has. */
int signals_received(void);

/* Has any come? */
bool signals_any(void);

#endif
