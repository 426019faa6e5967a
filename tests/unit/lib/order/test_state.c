/* SPDX-License-Identifier: Apache-2.0 */
#include <shard/state.h>

#include <stdio.h>

#include "test.h"

static void a_state_is_read_as_written(void **state)
{
    (void)state;
    const shard_state cases[] = {
        {"lanes-1", 7, 3, 81920, 0x5f0c21aa, 0x00b1de07, 0, 0, 0, 0},
        {"stored-1", 0, 0, 0, 0, 0, 0, 0, 0, 0},
        {"shards-10", SHARD_ORDER_SEED_MAX - 1, SHARD_ORDER_EPOCHS_MAX - 1,
         SHARD_ORDER_SAMPLES_MAX - 1, UINT32_MAX, UINT32_MAX, 0, 0, 0, 0},
        {"stream-1", 7, 3, 640, 1, 2, 4, 700, 5, 650},
        {"stream-1", SHARD_ORDER_SEED_MAX - 1, SHARD_ORDER_EPOCHS_MAX - 1,
         SHARD_ORDER_SAMPLES_MAX - 1, UINT32_MAX, UINT32_MAX, SHARD_ORDER_EPOCHS_MAX - 1,
         SHARD_ORDER_SAMPLES_MAX - 1, SHARD_ORDER_SAMPLES_MAX - 1, SHARD_ORDER_SAMPLES_MAX - 1},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        char text[SHARD_STATE_SIZE];
        shard_state back;
        shard_error err;
        assert_int_equal(shard_state_format(&cases[i], text, &err), SHARD_OK);
        assert_true(strlen(text) < (strcmp(cases[i].order, "stream-1") == 0 ? 256 : 128));
        assert_int_equal(text[strlen(text) - 1], '}');
        assert_int_equal(shard_state_parse(&back, text, strlen(text), &err), SHARD_OK);
        assert_string_equal(back.order, cases[i].order);
        assert_true(back.seed == cases[i].seed && back.epoch == cases[i].epoch &&
                    back.position == cases[i].position && back.set_digest == cases[i].set_digest &&
                    back.opts_digest == cases[i].opts_digest);
        assert_true(back.round == cases[i].round && back.departures == cases[i].departures &&
                    back.shard == cases[i].shard && back.first == cases[i].first);
    }
}

static void its_text_is_as_documented(void **state)
{
    (void)state;
    const shard_state s = {"lanes-1", 7, 3, 81920, 0x5f0c21aa, 0x90b1de07, 0, 0, 0, 0};
    char text[SHARD_STATE_SIZE];
    assert_int_equal(shard_state_format(&s, text, NULL), SHARD_OK);
    assert_string_equal(text, "{\"order\":\"lanes-1\",\"seed\":7,\"epoch\":3,\"position\":81920,"
                              "\"set\":\"5f0c21aa\",\"opts\":\"90b1de07\"}");
}

static void numbers_out_of_range_are_not_written(void **state)
{
    (void)state;
    const shard_state cases[] = {
        {.order = ""},
        {.order = "Lanes"},
        {.order = "lanes-1", .seed = SHARD_ORDER_SEED_MAX},
        {.order = "lanes-1", .epoch = SHARD_ORDER_EPOCHS_MAX},
        {.order = "lanes-1", .position = SHARD_ORDER_SAMPLES_MAX},
        {.order = "stream-1", .departures = 4, .first = 5},
        {.order = "stream-1", .round = SHARD_ORDER_EPOCHS_MAX},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        char text[SHARD_STATE_SIZE];
        assert_int_equal(shard_state_format(&cases[i], text, NULL), SHARD_EINVAL);
    }
}

static void what_is_wrong_is_named(void **state)
{
    (void)state;
    static const struct {
        const char *text, *named;
    } cases[] = {
        {"", ""},
        {"[]", "object"},
        {"{\"order\":\"lanes-1\"}", "seed"},
        {"{\"order\":7,\"seed\":1}", "order"},
        {"{\"order\":\"a-name-far-too-long\",\"seed\":1}", "order"},
        {"{\"order\":\"l\\u0000\",\"seed\":1}", ""},
        {"{\"order\":\"x\",\"seed\":-1}", "seed"},
        {"{\"order\":\"x\",\"seed\":1,\"epoch\":\"1\"}", "epoch"},
        {"{\"order\":\"x\",\"seed\":1,\"epoch\":4294967296,\"position\":1,\"set\":\"00000000\","
         "\"opts\":\"00000000\"}",
         "epoch"},
        {"{\"order\":\"x\",\"seed\":1,\"epoch\":1,\"position\":1,\"set\":\"0000000\"}", "set"},
        {"{\"order\":\"x\",\"seed\":1,\"epoch\":1,\"position\":1,\"set\":\"0000000G\"}", "set"},
        {"{\"order\":\"x\",\"seed\":1,\"epoch\":1,\"position\":1,\"set\":\"00000000\"}", "opts"},
        {"{\"order\":\"x\",\"seed\":1,\"seed\":2}", ""},
        {"{\"order\":\"x\"} trailing", ""},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        shard_state s;
        shard_error err;
        shard_status status = shard_state_parse(&s, cases[i].text, strlen(cases[i].text), &err);
        assert_true(status == SHARD_EFORMAT || status == SHARD_ETRUNCATED);
        assert_non_null(strstr(err.message, cases[i].named));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_state_is_read_as_written),
        cmocka_unit_test(its_text_is_as_documented),
        cmocka_unit_test(numbers_out_of_range_are_not_written),
        cmocka_unit_test(what_is_wrong_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
