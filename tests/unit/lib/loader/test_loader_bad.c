/* SPDX-License-Identifier: Apache-2.0 */
/* Samples that cannot be decoded, lack a component or have a wrong checksum. */
#include <stdio.h>
#include <stdlib.h>

#include "delivery.h"
#include "files.h"
#include "shards.h"
#include "test.h"

/* A sample of test_make_shard is two members, each a header and a block. */
enum { SAMPLES = 50, SAMPLE_SIZE = 2048, CLS = 512, TXT = 1536, TOLD_MOST = 4096 };

static const char *const plain[] = {"a.tar", "b.tar", NULL};
static const char *const zipped[] = {"a.tar.zst", "b.tar.zst", NULL};
static const shard_field cls_field = {.component = "cls", .kind = SHARD_FIELD_INTEGER};

/* ---- sets ---- */

static void make_set(const char *const *names)
{
    test_folder();
    test_make_shard(names[0], 0, 30);
    test_make_shard(names[1], 30, SAMPLES - 30);
}

static void patch(const char *name, size_t at, uint8_t with)
{
    size_t size;
    uint8_t *bytes = test_read_file(test_path(name), &size);
    assert_true(at < size && bytes[at] != with);
    bytes[at] = with;
    test_write_file(test_path(name), bytes, size);
    free(bytes);
}

/* The first shard, where the samples of these numbers have no number, or no .cls at all. */
static void make_odd_shard(const char *name, const int *garbage, const int *missing)
{
    tar_bytes tar = {0};
    for (int i = 0; i < 30; i++) {
        char path[32];
        snprintf(path, sizeof path, "k%04d.cls", i);
        bool is_garbage = false, is_missing = false;
        for (const int *g = garbage; *g >= 0; g++)
            is_garbage = is_garbage || *g == i;
        for (const int *m = missing; *m >= 0; m++)
            is_missing = is_missing || *m == i;
        if (!is_missing)
            tar_bytes_file(&tar, path, is_garbage ? "seven" : "7");
        snprintf(path, sizeof path, "k%04d.txt", i);
        tar_bytes_file(&tar, path, "text");
    }
    tar_bytes_end(&tar);
    test_write_shard(name, &tar, true);
    tar_bytes_free(&tar);
}

static shard_loader_opts options(shard_bad_sample on_bad)
{
    shard_loader_opts o = SHARD_LOADER_OPTS_INIT;
    o.fields = &cls_field;
    o.field_count = 1;
    o.batch = 8;
    o.threads = 2;
    o.on_bad = on_bad;
    return o;
}

/* ---- who is told ---- */

typedef struct {
    size_t count;
    uint64_t id[TOLD_MOST];
    char key[TOLD_MOST][DELIVERY_KEY];
    shard_error why; /* the last */
} told;

static void tell(void *context, const char *key, uint64_t id, const shard_error *why)
{
    told *t = context;
    assert_true(t->count < TOLD_MOST);
    t->id[t->count] = id;
    snprintf(t->key[t->count++], DELIVERY_KEY, "%s", key);
    t->why = *why;
}

/* ---- errors ---- */

static shard_status first_failure(const char *const *names, const shard_loader_opts *o, delivery *d,
                                  shard_error *err)
{
    shard_loader *loader = test_loader(names, o);
    shard_error again;
    shard_status status = delivery_take(d, loader, SIZE_MAX, err);
    assert_int_equal(delivery_take(d, loader, 1, &again), status); /* it is final */
    if (status != SHARD_END)
        assert_string_equal(again.message, err->message);
    shard_loader_close(loader);
    return status;
}

static void check_error(shard_status expected, uint64_t offset, const char *named)
{
    shard_loader_opts o = options(SHARD_BAD_ERROR);
    delivery d = {0};
    shard_error err;
    assert_int_equal(first_failure(plain, &o, &d, &err), expected);
    assert_int_equal(d.valid, 16); /* the batches before it come */
    assert_string_equal(err.url, test_path("a.tar"));
    assert_int_equal(err.offset, offset);
    assert_non_null(strstr(err.message, "k0020"));
    assert_non_null(strstr(err.message, named));
    delivery_clear(&d);
}

static void an_error_names_shard_offset_and_key(void **state)
{
    (void)state;
    static const int at_20[] = {20, -1}, none[] = {-1};
    make_set(plain);
    patch("a.tar", 20 * SAMPLE_SIZE + CLS, '9');
    check_error(SHARD_ECHECKSUM, 20 * SAMPLE_SIZE + CLS, "crc32c of \"k0020.cls\"");
    make_set(plain);
    make_odd_shard("a.tar", at_20, none);
    check_error(SHARD_EDATA, 20 * SAMPLE_SIZE, "not a decimal number: \"seven\"");
    make_set(plain);
    make_odd_shard("a.tar", none, at_20);
    check_error(SHARD_EDATA, 20 * SAMPLE_SIZE, "has no component \"cls\"");
}

static void without_checksums_a_wrong_byte_is_not_seen(void **state)
{
    (void)state;
    make_set(plain);
    patch("a.tar", 20 * SAMPLE_SIZE + CLS, '9');
    shard_loader_opts o = options(SHARD_BAD_ERROR);
    o.no_checksums = true;
    delivery d = test_deliver(plain, &o);
    assert_int_equal(d.valid, SAMPLES);
    delivery_clear(&d);
}

static void a_wrong_byte_of_a_component_that_is_not_wanted_is_not_seen(void **state)
{
    (void)state;
    make_set(plain);
    patch("a.tar", 20 * SAMPLE_SIZE + TXT, '!');
    shard_loader_opts o = options(SHARD_BAD_ERROR);
    delivery d = test_deliver(plain, &o);
    assert_int_equal(d.valid, SAMPLES);
    delivery_clear(&d);
}

/* ---- the caller's decoder ---- */

static shard_status refuse_some(void *context, const shard_decode_input *input, void *out,
                                size_t size, shard_error *err)
{
    memset(out, 7, size);
    if (strcmp(input->key, "k0020") != 0)
        return SHARD_OK;
    shard_status status = *(const shard_status *)context;
    if (err && status == SHARD_EFORMAT) {
        *err = (shard_error){.status = status, .offset = SHARD_NO_OFFSET};
        snprintf(err->message, sizeof err->message, "it is green");
    }
    return status;
}

static shard_field custom_field(shard_status *status)
{
    return (shard_field){.component = "txt",
                         .kind = SHARD_FIELD_CUSTOM,
                         .dtype = SHARD_U8,
                         .dims = 1,
                         .shape = {3},
                         .decode = refuse_some,
                         .context = status};
}

static void a_decoder_that_refuses_makes_a_bad_sample_whatever_it_says(void **state)
{
    (void)state;
    static const shard_status refusals[] = {SHARD_EDATA, SHARD_EFORMAT, SHARD_EINVAL,
                                            SHARD_EIO,   SHARD_ESTALE,  SHARD_ENOTFOUND,
                                            SHARD_EBUSY, SHARD_END,     (shard_status)99};
    make_set(plain);
    for (size_t i = 0; i < COUNT(refusals); i++) {
        shard_status refusal = refusals[i];
        shard_field field = custom_field(&refusal);
        shard_loader_opts o = options(SHARD_BAD_MASK);
        o.fields = &field;
        delivery d = test_deliver(plain, &o);
        assert_int_equal(d.valid, SAMPLES - 1);
        assert_false(d.row[20].valid);
        delivery_clear(&d);

        shard_error err;
        o.on_bad = SHARD_BAD_ERROR;
        assert_int_equal(first_failure(plain, &o, &d, &err),
                         refusal == SHARD_END || refusal == 99 ? SHARD_EDATA : refusal);
        assert_non_null(strstr(err.message, "component \"txt\" of \"k0020\""));
        assert_non_null(strstr(err.message, refusal == SHARD_EFORMAT ? "it is green" : "refused"));
        assert_string_equal(err.url, test_path("a.tar"));
        delivery_clear(&d);
    }
}

static void a_decoder_without_memory_or_cancelled_ends_all(void **state)
{
    (void)state;
    static const shard_status ends[] = {SHARD_ENOMEM, SHARD_ECANCEL};
    make_set(plain);
    for (size_t i = 0; i < COUNT(ends); i++) {
        shard_status end = ends[i];
        shard_field field = custom_field(&end);
        shard_loader_opts o = options(SHARD_BAD_SUBSTITUTE);
        delivery d = {0};
        shard_error err;
        o.fields = &field;
        assert_int_equal(first_failure(plain, &o, &d, &err), end);
        assert_int_equal(d.valid, 16);
        delivery_clear(&d);
    }
}

/* ---- masks ---- */

static void check_zeros(shard_loader *loader, const shard_batch **batch)
{
    assert_int_equal(shard_loader_next(loader, batch, NULL), SHARD_OK);
    const int64_t *numbers = (*batch)->tensors[0].data;
    for (uint32_t row = 0; row < (*batch)->rows; row++)
        if (!(*batch)->valid[row])
            assert_int_equal(numbers[row], 0);
}

static void a_masked_row_is_zeros_and_not_valid(void **state)
{
    (void)state;
    static const int garbage[] = {0, 7, 20, 21, -1}, missing[] = {3, 29, -1};
    make_set(plain);
    make_odd_shard("a.tar", garbage, missing);
    told *t = calloc(1, sizeof *t);
    shard_loader_opts o = options(SHARD_BAD_MASK);
    o.tell_bad = tell;
    o.tell_context = t;
    delivery d = {0};
    shard_loader_stats stats;
    shard_loader *loader = test_loader(plain, &o);
    delivery_take_epoch(&d, loader);
    shard_loader_get_stats(loader, &stats);
    shard_loader_close(loader);
    assert_int_equal(d.batches, 7);
    assert_int_equal(d.rows, 56);
    assert_int_equal(d.valid, SAMPLES - 6);
    assert_int_equal(stats.bad_samples, 6);
    assert_int_equal(stats.samples, SAMPLES - 6);
    assert_int_equal(t->count, 6); /* none of a batch that was made ahead */
    for (size_t i = 0; i < t->count; i++) {
        char key[DELIVERY_KEY];
        snprintf(key, sizeof key, "k%04d", (int)t->id[i]);
        assert_string_equal(t->key[i], key);
        assert_false(d.row[t->id[i]].valid);
    }
    delivery_clear(&d);
    free(t);

    o.tell_bad = NULL;
    loader = test_loader(plain, &o);
    for (int i = 0; i < 7; i++) {
        const shard_batch *batch;
        check_zeros(loader, &batch);
        shard_loader_release(loader, batch);
    }
    shard_loader_close(loader);
}

/* Whole samples: their bytes move when a bad one is read once more behind the others. */
static void samples_beside_bad_ones_are_whole(void **state)
{
    (void)state;
    for (int zip = 0; zip < 2; zip++) {
        const char *const *names = zip ? zipped : plain;
        make_set(names);
        shard_loader_opts o = options(SHARD_BAD_MASK);
        o.fields = NULL;
        o.field_count = 0;
        o.threads = 1;
        o.prefetch = 1;
        o.batch = 5;
        delivery good = test_deliver(names, &o);
        if (zip)
            patch("a.tar.zst", 900, 0xa5);
        for (int i = 5; !zip && i < 30; i++)
            if (i % 5 != 2)
                patch("a.tar", (size_t)i * SAMPLE_SIZE + TXT, '!');
        delivery d = {0};
        shard_loader *loader = test_loader(names, &o);
        for (int epoch = 0; epoch < 3; epoch++) {
            d.rows = d.batches = d.valid = 0;
            delivery_take_epoch(&d, loader);
            assert_true(d.valid < SAMPLES && d.valid >= 20);
            for (size_t i = 0; i < d.rows; i++)
                assert_true(!d.row[i].valid ||
                            (d.row[i].sum == good.row[i].sum && d.row[i].id == good.row[i].id));
        }
        shard_loader_close(loader);
        delivery_clear(&d);
        delivery_clear(&good);
    }
}

/* Sample `number` of so many components, the first of which holds `text`. */
static void add_wide_sample(tar_bytes *tar, int number, int components, const char *text)
{
    for (int i = 0; i < components; i++) {
        char path[32];
        snprintf(path, sizeof path, "k%04d.c%03d", number, i);
        tar_bytes_file(tar, path, i == 0 ? text : "x");
    }
}

static void damage(const char *name, const char *text)
{
    size_t size, length = strlen(text);
    uint8_t *bytes = test_read_file(test_path(name), &size);
    size_t at = 0;
    while (at + length < size && memcmp(bytes + at, text, length) != 0)
        at++;
    assert_true(at + length < size);
    bytes[at] ^= 1;
    test_write_file(test_path(name), bytes, size);
    free(bytes);
}

/* The third batch is made where the first one was, which had more components in its last row. */
static void what_a_row_held_before_is_not_taken_for_a_bad_samples(void **state)
{
    (void)state;
    static const char *const names[] = {"wide.tar", NULL};
    tar_bytes tar = {0};
    test_folder();
    for (int i = 0; i < 15; i++)
        add_wide_sample(&tar, i,
                        i == 4              ? 100
                        : i >= 10 && i < 14 ? 40
                                            : 1,
                        i == 13   ? "damaged"
                        : i == 14 ? "ruined"
                                  : "whole");
    tar_bytes_end(&tar);
    test_write_shard("wide.tar", &tar, true);
    tar_bytes_free(&tar);
    damage("wide.tar", "damaged");
    damage("wide.tar", "ruined");
    shard_loader_opts o = options(SHARD_BAD_MASK);
    o.fields = NULL;
    o.field_count = 0;
    o.threads = o.prefetch = 1;
    o.batch = 5;
    delivery d = test_deliver(names, &o);
    assert_int_equal(d.valid, 13);
    assert_false(d.row[13].valid || d.row[14].valid);
    delivery_clear(&d);
}

/* ---- substitutes ---- */

static void a_substitute_is_the_same_for_any_threads_and_marked_by_its_id(void **state)
{
    (void)state;
    static const uint32_t threads[] = {1, 2, 3, 8};
    static const int garbage[] = {0, 1, 7, 8, 20, 21, -1}, missing[] = {3, 29, -1};
    make_set(plain);
    make_odd_shard("a.tar", garbage, missing);
    delivery first = {0};
    for (size_t i = 0; i < COUNT(threads); i++) {
        shard_loader_opts o = options(SHARD_BAD_SUBSTITUTE);
        o.threads = threads[i];
        o.shuffle = SHARD_SHUFFLE_FULL;
        o.shuffle_samples = 10;
        delivery d = test_deliver(plain, &o);
        assert_int_equal(d.valid, SAMPLES);
        assert_int_equal(d.rows, 56);
        for (size_t r = 0; r < d.rows; r++) {
            char key[DELIVERY_KEY];
            if (!d.row[r].valid)
                continue;
            snprintf(key, sizeof key, "k%04d", (int)d.row[r].id);
            assert_string_equal(d.row[r].key, key);
            for (const int *bad = garbage; *bad >= 0; bad++)
                assert_int_not_equal(d.row[r].id, *bad);
            assert_true(d.row[r].id != 3 && d.row[r].id != 29);
        }
        if (i == 0)
            first = d;
        else
            assert_true(delivery_same(&first, &d));
        if (i > 0)
            delivery_clear(&d);
    }
    delivery_clear(&first);
}

static void a_substitute_is_counted_and_told_of_under_the_bad_samples_name(void **state)
{
    (void)state;
    static const int garbage[] = {20, -1}, missing[] = {-1};
    make_set(plain);
    make_odd_shard("a.tar", garbage, missing);
    told *t = calloc(1, sizeof *t);
    shard_loader_opts o = options(SHARD_BAD_SUBSTITUTE);
    o.tell_bad = tell;
    o.tell_context = t;
    delivery d = test_deliver(plain, &o);
    assert_int_equal(t->count, 1);
    assert_int_equal(t->id[0], 20);
    assert_string_equal(t->key[0], "k0020");
    assert_int_equal(t->why.status, SHARD_EDATA);
    assert_int_equal(t->why.offset, 20 * SAMPLE_SIZE);
    assert_int_not_equal(d.row[20].id, 20);
    delivery_clear(&d);
    free(t);
}

static void where_all_are_bad_there_is_an_error_and_no_end_of_trying(void **state)
{
    (void)state;
    make_set(plain);
    shard_field field = {.component = "txt", .kind = SHARD_FIELD_INTEGER};
    shard_loader_opts o = options(SHARD_BAD_SUBSTITUTE);
    delivery d = {0};
    shard_error err;
    o.fields = &field;
    assert_int_equal(first_failure(plain, &o, &d, &err), SHARD_EDATA);
    assert_non_null(strstr(err.message, "stand in for a bad one"));
    assert_int_equal(d.rows, 0);
    delivery_clear(&d);

    o.on_bad = SHARD_BAD_MASK;
    d = test_deliver(plain, &o);
    assert_int_equal(d.rows, 56);
    assert_int_equal(d.valid, 0);
    delivery_clear(&d);
}

static void substitutes_of_whole_samples_and_bytes_are_whole(void **state)
{
    (void)state;
    static const shard_field txt = {.component = "txt", .kind = SHARD_FIELD_BYTES};
    for (int raw = 0; raw < 2; raw++) {
        make_set(plain);
        shard_loader_opts o = options(SHARD_BAD_SUBSTITUTE);
        o.fields = raw ? NULL : &txt;
        o.field_count = !raw;
        o.batch = 5;
        delivery good = test_deliver(plain, &o);
        for (int i = 0; i < 30; i += 2)
            patch("a.tar", (size_t)i * SAMPLE_SIZE + TXT, '!');
        delivery d = test_deliver(plain, &o);
        assert_int_equal(d.valid, SAMPLES);
        for (size_t i = 0; i < d.rows; i++)
            if (d.row[i].valid)
                assert_int_equal(d.row[i].sum, good.row[d.row[i].id].sum);
        delivery_clear(&d);
        delivery_clear(&good);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_error_names_shard_offset_and_key),
        cmocka_unit_test(without_checksums_a_wrong_byte_is_not_seen),
        cmocka_unit_test(a_wrong_byte_of_a_component_that_is_not_wanted_is_not_seen),
        cmocka_unit_test(a_decoder_that_refuses_makes_a_bad_sample_whatever_it_says),
        cmocka_unit_test(a_decoder_without_memory_or_cancelled_ends_all),
        cmocka_unit_test(a_masked_row_is_zeros_and_not_valid),
        cmocka_unit_test(samples_beside_bad_ones_are_whole),
        cmocka_unit_test(what_a_row_held_before_is_not_taken_for_a_bad_samples),
        cmocka_unit_test(a_substitute_is_the_same_for_any_threads_and_marked_by_its_id),
        cmocka_unit_test(a_substitute_is_counted_and_told_of_under_the_bad_samples_name),
        cmocka_unit_test(where_all_are_bad_there_is_an_error_and_no_end_of_trying),
        cmocka_unit_test(substitutes_of_whole_samples_and_bytes_are_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
