/* SPDX-License-Identifier: Apache-2.0 */
#include "pack/engine/labels.h"

#include "core/rng.h"
#include "test.h"

enum { SAMPLES = 10000, CLASSES = 100 };

static pack_labels labels;
static pack_label_run run;

static int setup(void **state)
{
    (void)state;
    memset(&labels, 0, sizeof labels);
    memset(&run, 0, sizeof run);
    return 0;
}

static void add(uint64_t class_number)
{
    pack_labels_add(&labels, &run, (uint32_t)class_number * 2 + 1);
}

static void folders_one_after_the_other_are_clustered(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < SAMPLES; i++)
        add(i * CLASSES / SAMPLES);
    assert_int_equal(labels.samples, SAMPLES);
    assert_int_equal(labels.pairs, SAMPLES - 1);
    assert_int_equal(labels.alike, SAMPLES - CLASSES);
    assert_true(pack_labels_clustered(&labels));
}

static void a_random_order_is_not(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < SAMPLES; i++)
        add(shard_rng_below(1, i, CLASSES));
    assert_false(pack_labels_clustered(&labels));
}

static void nor_is_one_that_takes_turns(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < SAMPLES; i++)
        add(i % 2);
    assert_false(pack_labels_clustered(&labels));
}

/* Nine of ten are alike, and so are neighbours: by chance. */
static void a_frequent_label_is_no_cluster(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < SAMPLES; i++)
        add(shard_rng_below(2, i, 10) == 0);
    assert_true(labels.alike * 10 > labels.pairs * 7);
    assert_false(pack_labels_clustered(&labels));
}

static void a_single_label_cannot_be_mixed(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < SAMPLES; i++)
        add(7);
    assert_false(pack_labels_clustered(&labels));
}

static void nothing_is_said_without_labels(void **state)
{
    (void)state;
    assert_false(pack_labels_clustered(&labels));
    for (int i = 0; i < 10; i++)
        pack_labels_add(&labels, &run, 0);
    assert_int_equal(labels.samples, 0);
    assert_int_equal(labels.pairs, 0);
    add(1);
    assert_false(pack_labels_clustered(&labels));
}

static void a_sample_without_label_parts_its_neighbours(void **state)
{
    (void)state;
    add(1);
    pack_labels_add(&labels, &run, 0);
    add(1);
    assert_int_equal(labels.pairs, 0);
    add(1);
    assert_int_equal(labels.pairs, 1);
    assert_int_equal(labels.alike, 1);
}

static void shards_are_runs_of_their_own(void **state)
{
    (void)state;
    pack_label_run second = {0};
    pack_labels_add(&labels, &run, 5);
    pack_labels_add(&labels, &second, 5);
    assert_int_equal(labels.samples, 2);
    assert_int_equal(labels.pairs, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(folders_one_after_the_other_are_clustered, setup),
        cmocka_unit_test_setup(a_random_order_is_not, setup),
        cmocka_unit_test_setup(nor_is_one_that_takes_turns, setup),
        cmocka_unit_test_setup(a_frequent_label_is_no_cluster, setup),
        cmocka_unit_test_setup(a_single_label_cannot_be_mixed, setup),
        cmocka_unit_test_setup(nothing_is_said_without_labels, setup),
        cmocka_unit_test_setup(a_sample_without_label_parts_its_neighbours, setup),
        cmocka_unit_test_setup(shards_are_runs_of_their_own, setup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
