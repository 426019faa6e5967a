/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SIGINT and SIGTERM: the first one asks the work to stop, which removes what is not finished; the
 * second one ends the process at once.
 */
#ifndef CLI_SIGNALS_H
#define CLI_SIGNALS_H

#include <shard/cancel.h>

void signals_init(shard_cancel *cancel);

/* The number of the signal that came first; SIGINT while none has. */
int signals_received(void);

#endif
