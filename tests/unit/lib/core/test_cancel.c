/* SPDX-License-Identifier: Apache-2.0 */
#include <shard/cancel.h>

#include <pthread.h>
#include <signal.h>
#include <time.h>

#include "test.h"

static shard_cancel *token;

static int setup(void **state)
{
    (void)state;
    return shard_cancel_new(&token) == SHARD_OK ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    shard_cancel_free(token);
    return 0;
}

static void on_signal(int number)
{
    (void)number;
    shard_cancel_set(token);
}

static void a_signal_handler_may_set_it(void **state)
{
    (void)state;
    signal(SIGUSR1, on_signal);
    assert_false(shard_cancel_is_set(token));
    raise(SIGUSR1);
    signal(SIGUSR1, SIG_DFL);
    assert_true(shard_cancel_is_set(token));
}

static void *set_it(void *context)
{
    shard_cancel_set(context);
    return NULL;
}

static void other_threads_see_it(void **state)
{
    (void)state;
    enum { SECONDS_MOST = 5 };
    pthread_t thread;
    time_t begin = time(NULL);
    assert_int_equal(pthread_create(&thread, NULL, set_it, token), 0);
    while (!shard_cancel_is_set(token) && time(NULL) - begin < SECONDS_MOST)
        ;
    assert_true(shard_cancel_is_set(token));
    pthread_join(thread, NULL);
}

static void it_stays_set_and_others_do_not(void **state)
{
    (void)state;
    shard_cancel *other;
    assert_int_equal(shard_cancel_new(&other), SHARD_OK);
    shard_cancel_set(token);
    shard_cancel_set(token);
    assert_true(shard_cancel_is_set(token));
    assert_false(shard_cancel_is_set(other));
    shard_cancel_free(other);
    shard_cancel_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_signal_handler_may_set_it, setup, teardown),
        cmocka_unit_test_setup_teardown(other_threads_see_it, setup, teardown),
        cmocka_unit_test_setup_teardown(it_stays_set_and_others_do_not, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
