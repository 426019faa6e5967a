/* SPDX-License-Identifier: Apache-2.0 */
/* Cancelling and closing a loader, whatever it is doing. */
#include <pthread.h>
#include <stdlib.h>

#include "delivery.h"
#include "files.h"
#include "shards.h"
#include "test.h"

static const char *const names[] = {"a.tar", "b.tar.zst", NULL};

/* A decoder that stands still at one sample until it is told to go on. */
typedef struct {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    const char *key;
    bool waits, may_go;
} gate;

static void open_gate(gate *g)
{
    pthread_mutex_lock(&g->mutex);
    g->may_go = true;
    pthread_cond_broadcast(&g->changed);
    pthread_mutex_unlock(&g->mutex);
}

static void wait_until_somebody_waits(gate *g)
{
    pthread_mutex_lock(&g->mutex);
    while (!g->waits)
        pthread_cond_wait(&g->changed, &g->mutex);
    pthread_mutex_unlock(&g->mutex);
}

static shard_status wait_at_gate(void *context, const shard_decode_input *input, void *out,
                                 size_t size, shard_error *err)
{
    gate *g = context;
    (void)err;
    memset(out, 1, size);
    if (strcmp(input->key, g->key) != 0)
        return SHARD_OK;
    pthread_mutex_lock(&g->mutex);
    g->waits = true;
    pthread_cond_broadcast(&g->changed);
    while (!g->may_go)
        pthread_cond_wait(&g->changed, &g->mutex);
    pthread_mutex_unlock(&g->mutex);
    return SHARD_OK;
}

typedef struct {
    gate gate;
    shard_field field;
    shard_cancel *cancel;
    shard_loader_opts opts;
} setting;

static void set_up(setting *s, const char *stops_at)
{
    test_folder();
    test_make_shard(names[0], 0, 30);
    test_make_shard(names[1], 30, 30);
    *s = (setting){.opts = SHARD_LOADER_OPTS_INIT};
    pthread_mutex_init(&s->gate.mutex, NULL);
    pthread_cond_init(&s->gate.changed, NULL);
    s->gate.key = stops_at;
    s->field = (shard_field){.component = "cls",
                             .kind = SHARD_FIELD_CUSTOM,
                             .dtype = SHARD_U8,
                             .decode = wait_at_gate,
                             .context = &s->gate};
    assert_int_equal(shard_cancel_new(&s->cancel), SHARD_OK);
    s->opts.cancel = s->cancel;
    s->opts.fields = &s->field;
    s->opts.field_count = 1;
    s->opts.batch = 4;
    s->opts.threads = 2;
    s->opts.prefetch = 2;
}

static void tear_down(setting *s)
{
    shard_cancel_free(s->cancel);
    pthread_mutex_destroy(&s->gate.mutex);
    pthread_cond_destroy(&s->gate.changed);
}

static void check_cancelled(shard_loader *loader)
{
    shard_error err;
    const shard_batch *batch;
    for (int i = 0; i < 2; i++) { /* it is final */
        assert_int_equal(shard_loader_next(loader, &batch, &err), SHARD_ECANCEL);
        assert_int_equal(err.status, SHARD_ECANCEL);
        assert_null(batch);
    }
}

/* ---- cancelling ---- */

static void cancelled_before_it_is_opened_it_gives_nothing(void **state)
{
    (void)state;
    setting s;
    set_up(&s, "none");
    shard_cancel_set(s.cancel);
    shard_loader *loader = NULL;
    shard_error err;
    shard_status status = test_open_loader(&loader, names, &s.opts, &err);
    if (status == SHARD_OK)
        check_cancelled(loader);
    else
        assert_int_equal(status, SHARD_ECANCEL);
    shard_loader_close(loader);
    tear_down(&s);
}

static void cancelled_between_batches_it_gives_no_more(void **state)
{
    (void)state;
    setting s;
    set_up(&s, "none");
    delivery d = {0};
    shard_loader *loader = test_loader(names, &s.opts);
    assert_int_equal(delivery_take(&d, loader, 3, NULL), SHARD_OK);
    shard_cancel_set(s.cancel);
    check_cancelled(loader);
    shard_loader_close(loader);
    delivery_clear(&d);
    tear_down(&s);
}

static void *cancel_when_it_waits(void *context)
{
    setting *s = context;
    wait_until_somebody_waits(&s->gate);
    shard_cancel_set(s->cancel);
    return NULL;
}

/* A decoder stands still in the batch that the caller waits for, and the token wakes nobody. */
static void cancelled_while_the_caller_waits_it_returns(void **state)
{
    (void)state;
    setting s;
    pthread_t thread;
    set_up(&s, "k0009");
    delivery d = {0};
    shard_error err;
    shard_loader *loader = test_loader(names, &s.opts);
    assert_int_equal(delivery_take(&d, loader, 2, &err), SHARD_OK);
    assert_int_equal(pthread_create(&thread, NULL, cancel_when_it_waits, &s), 0);
    assert_int_equal(delivery_take(&d, loader, SIZE_MAX, &err), SHARD_ECANCEL);
    assert_int_equal(d.batches, 2);
    pthread_join(thread, NULL);
    check_cancelled(loader);
    open_gate(&s.gate);
    shard_loader_close(loader);
    delivery_clear(&d);
    tear_down(&s);
}

static void cancelled_with_all_batches_lent_it_says_so(void **state)
{
    (void)state;
    setting s;
    set_up(&s, "none");
    const shard_batch *batch[3];
    shard_loader *loader = test_loader(names, &s.opts);
    for (int i = 0; i < 3; i++)
        assert_int_equal(shard_loader_next(loader, &batch[i], NULL), SHARD_OK);
    shard_cancel_set(s.cancel);
    check_cancelled(loader);
    for (int i = 0; i < 3; i++)
        shard_loader_release(loader, batch[i]);
    check_cancelled(loader);
    shard_loader_close(loader);
    tear_down(&s);
}

static void the_state_after_cancelling_is_behind_the_last_batch(void **state)
{
    (void)state;
    setting s;
    char text[SHARD_STATE_SIZE];
    set_up(&s, "none");
    delivery d = {0};
    shard_loader *loader = test_loader(names, &s.opts);
    assert_int_equal(delivery_take(&d, loader, 3, NULL), SHARD_OK);
    shard_cancel_set(s.cancel);
    check_cancelled(loader);
    assert_int_equal(shard_loader_get_state(loader, text, NULL), SHARD_OK);
    assert_non_null(strstr(text, "\"position\":12,"));
    shard_loader_close(loader);
    delivery_clear(&d);
    tear_down(&s);
}

/* ---- closing ---- */

static void nothing_may_be_closed(void **state)
{
    (void)state;
    shard_loader_close(NULL);
}

static void it_is_closed_before_any_batch_and_with_batches_lent(void **state)
{
    (void)state;
    setting s;
    set_up(&s, "none");
    for (int lent = 0; lent <= 3; lent++) {
        shard_loader *loader = test_loader(names, &s.opts);
        const shard_batch *batch;
        for (int i = 0; i < lent; i++)
            assert_int_equal(shard_loader_next(loader, &batch, NULL), SHARD_OK);
        shard_loader_close(loader);
    }
    tear_down(&s);
}

static void *open_gate_of(void *context)
{
    open_gate(&((setting *)context)->gate);
    return NULL;
}

static void it_is_closed_while_a_decoder_works(void **state)
{
    (void)state;
    setting s;
    pthread_t thread;
    set_up(&s, "k0005");
    shard_loader *loader = test_loader(names, &s.opts);
    wait_until_somebody_waits(&s.gate);
    assert_int_equal(pthread_create(&thread, NULL, open_gate_of, &s), 0);
    shard_loader_close(loader);
    pthread_join(thread, NULL);
    tear_down(&s);
}

static void it_is_closed_at_and_after_an_epochs_end(void **state)
{
    (void)state;
    setting s;
    set_up(&s, "none");
    for (int more = 0; more < 2; more++) {
        delivery d = {0};
        shard_loader *loader = test_loader(names, &s.opts);
        delivery_take_epoch(&d, loader);
        assert_int_equal(delivery_take(&d, loader, (size_t)more, NULL), SHARD_OK);
        shard_loader_close(loader);
        delivery_clear(&d);
    }
    tear_down(&s);
}

/* ---- lending ---- */

static void several_batches_are_lent_and_released_in_any_order(void **state)
{
    (void)state;
    setting s;
    set_up(&s, "none");
    s.opts.field_count = 0;
    s.opts.prefetch = 4;
    delivery whole = test_deliver(names, &s.opts), d = {0};
    shard_loader *loader = test_loader(names, &s.opts);
    for (int round = 0; round < 3; round++) {
        static const int releases[] = {2, 0, 4, 3, 1};
        const shard_batch *batch[5];
        for (int i = 0; i < 5; i++)
            assert_int_equal(shard_loader_next(loader, &batch[i], NULL), SHARD_OK);
        for (int i = 0; i < 5; i++) /* all are whole as long as they are lent */
            for (uint32_t row = 0; row < 4; row++)
                delivery_add(&d, batch[i], row);
        for (int i = 0; i < 5; i++)
            shard_loader_release(loader, batch[releases[i]]);
    }
    assert_true(delivery_same(&d, &whole));
    shard_loader_close(loader);
    delivery_clear(&d);
    delivery_clear(&whole);
    tear_down(&s);
}

static void with_all_batches_lent_the_next_one_is_an_error_and_no_wait(void **state)
{
    (void)state;
    setting s;
    shard_error err;
    set_up(&s, "none");
    const shard_batch *batch[3], *next;
    shard_loader *loader = test_loader(names, &s.opts);
    for (int i = 0; i < 3; i++)
        assert_int_equal(shard_loader_next(loader, &batch[i], NULL), SHARD_OK);
    assert_int_equal(shard_loader_next(loader, &next, &err), SHARD_EINVAL);
    assert_non_null(strstr(err.message, "all 3 batches are with the caller"));
    assert_null(next);
    shard_loader_release(loader, batch[0]); /* then it goes on */
    assert_int_equal(shard_loader_next(loader, &next, &err), SHARD_OK);
    assert_int_equal(next->position, 12);
    shard_loader_close(loader);
    tear_down(&s);
}

static void a_batch_that_is_kept_stops_no_others(void **state)
{
    (void)state;
    setting s;
    set_up(&s, "none");
    delivery whole = test_deliver(names, &s.opts), d = {0};
    const shard_batch *kept;
    shard_loader *loader = test_loader(names, &s.opts);
    assert_int_equal(shard_loader_next(loader, &kept, NULL), SHARD_OK);
    for (uint32_t row = 0; row < 4; row++)
        delivery_add(&d, kept, row);
    delivery_take_epoch(&d, loader);
    assert_true(delivery_same(&d, &whole));
    assert_int_equal(kept->position, 0);
    shard_loader_close(loader);
    delivery_clear(&d);
    delivery_clear(&whole);
    tear_down(&s);
}

static void a_batch_that_was_released_already_is_left_alone(void **state)
{
    (void)state;
    setting s;
    set_up(&s, "none");
    const shard_batch *batch, *next;
    shard_loader *loader = test_loader(names, &s.opts);
    assert_int_equal(shard_loader_next(loader, &batch, NULL), SHARD_OK);
    shard_loader_release(loader, batch);
    shard_loader_release(loader, batch);
    assert_int_equal(shard_loader_next(loader, &next, NULL), SHARD_OK);
    assert_int_equal(next->position, 4);
    shard_loader_close(loader);
    tear_down(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cancelled_before_it_is_opened_it_gives_nothing),
        cmocka_unit_test(cancelled_between_batches_it_gives_no_more),
        cmocka_unit_test(cancelled_while_the_caller_waits_it_returns),
        cmocka_unit_test(cancelled_with_all_batches_lent_it_says_so),
        cmocka_unit_test(the_state_after_cancelling_is_behind_the_last_batch),
        cmocka_unit_test(nothing_may_be_closed),
        cmocka_unit_test(it_is_closed_before_any_batch_and_with_batches_lent),
        cmocka_unit_test(it_is_closed_while_a_decoder_works),
        cmocka_unit_test(it_is_closed_at_and_after_an_epochs_end),
        cmocka_unit_test(several_batches_are_lent_and_released_in_any_order),
        cmocka_unit_test(with_all_batches_lent_the_next_one_is_an_error_and_no_wait),
        cmocka_unit_test(a_batch_that_is_kept_stops_no_others),
        cmocka_unit_test(a_batch_that_was_released_already_is_left_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
