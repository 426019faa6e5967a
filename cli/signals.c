/* SPDX-License-Identifier: Apache-2.0 */
#include "signals.h"

#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

#include "exit.h"

static shard_cancel *token;
static atomic_int received; /* by any thread */

static void on_signal(int number)
{
    int none = 0;
    if (!atomic_compare_exchange_strong(&received, &none, number))
        _exit(EXIT_SIGNAL + number);
    shard_cancel_set(token);
}

void signals_init(shard_cancel *cancel)
{
    struct sigaction action = {0};
    token = cancel;
    action.sa_handler = on_signal;
    sigemptyset(&action.sa_mask); /* no SA_RESTART: waiting reads wake up */
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

void signals_leave_to_others(bool leave)
{
    sigset_t both;
    sigemptyset(&both);
    sigaddset(&both, SIGINT);
    sigaddset(&both, SIGTERM);
    pthread_sigmask(leave ? SIG_BLOCK : SIG_UNBLOCK, &both, NULL);
}

int signals_received(void)
{
    int number = received;
    return number ? number : SIGINT;
}

bool signals_any(void)
{
    return received != 0;
}
