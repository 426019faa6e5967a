/* SPDX-License-Identifier: Apache-2.0 */
#include "signals.h"

#include <signal.h>
#include <unistd.h>

#include "exit.h"

static shard_cancel *token;
static volatile sig_atomic_t received;

static void on_signal(int number)
{
    if (received)
        _exit(EXIT_SIGNAL + number);
    received = number;
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
    return received ? received : SIGINT;
}

bool signals_any(void)
{
    return received != 0;
}
