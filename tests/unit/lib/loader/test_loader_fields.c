/* SPDX-License-Identifier: Apache-2.0 */
/* What a batch holds: whole samples, or tensors of each kind. */
#include <stdio.h>
#include <stdlib.h>

#include "delivery.h"
#include "files.h"
#include "jpegs.h"
#include "shards.h"
#include "test.h"

enum { SAMPLES = 11 };

static const char *const plain[] = {"a.tar", NULL};
static const char *const zipped[] = {"a.tar.zst", NULL};

/* Contents of sample `i`: .bin of i * 300 bytes, .json, and .txt or, of every third, .text. */
static size_t make_content(int i, uint8_t out[4096])
{
    for (int b = 0; b < i * 300; b++)
        out[b] = (uint8_t)(b * 7 + i);
    return (size_t)i * 300;
}

static void add_member(tar_bytes *tar, int i, const char *component, const void *bytes, size_t size)
{
    char path[48];
    snprintf(path, sizeof path, "dir/k%04d.%s", i, component);
    tar_bytes_header(tar, '0', path, size);
    tar_bytes_payload(tar, bytes, size);
}

static void make_set(const char *name)
{
    tar_bytes tar = {0};
    test_folder();
    for (int i = 0; i < SAMPLES; i++) {
        uint8_t content[4096];
        char text[64];
        add_member(&tar, i, "bin", content, make_content(i, content));
        snprintf(text, sizeof text, "{\"n\":%d}", i);
        add_member(&tar, i, "JSON", text, strlen(text));
        snprintf(text, sizeof text, "t%d", i);
        add_member(&tar, i, i % 3 == 0 ? "text" : "txt", text, strlen(text));
    }
    tar_bytes_end(&tar);
    test_write_shard(name, &tar, true);
    tar_bytes_free(&tar);
}

static shard_loader_opts options(const shard_field *fields, size_t count)
{
    shard_loader_opts o = SHARD_LOADER_OPTS_INIT;
    o.fields = fields;
    o.field_count = count;
    o.batch = 4;
    o.threads = 2;
    return o;
}

/* ---- whole samples ---- */

static void check_sample(const shard_sample *sample, int i)
{
    uint8_t content[4096];
    char text[64];
    size_t size = make_content(i, content);
    snprintf(text, sizeof text, "dir/k%04d", i);
    assert_string_equal(sample->key, text);
    assert_int_equal(sample->key_size, strlen(text));
    assert_int_equal(sample->count, 3);
    assert_string_equal(sample->components[0].name, "bin");
    assert_int_equal(sample->components[0].size, size);
    if (size > 0)
        assert_memory_equal(sample->components[0].data, content, size);
    snprintf(text, sizeof text, "{\"n\":%d}", i);
    assert_string_equal(sample->components[1].name, "json");
    assert_text(sample->components[1].data, sample->components[1].size, text);
    snprintf(text, sizeof text, "t%d", i);
    assert_string_equal(sample->components[2].name, i % 3 == 0 ? "text" : "txt");
    assert_text(sample->components[2].data, sample->components[2].size, text);
}

static void without_fields_samples_come_as_stored(void **state)
{
    (void)state;
    for (int zip = 0; zip < 2; zip++) {
        const char *const *names = zip ? zipped : plain;
        make_set(names[0]);
        shard_loader_opts o = options(NULL, 0);
        shard_loader *loader = test_loader(names, &o);
        for (int b = 0; b < 3; b++) {
            const shard_batch *batch;
            assert_int_equal(shard_loader_next(loader, &batch, NULL), SHARD_OK);
            assert_int_equal(batch->tensor_count, 0);
            assert_int_equal(batch->rows, 4);
            for (int row = 0; row < 4; row++)
                if (b * 4 + row < SAMPLES)
                    check_sample(&batch->samples[row], b * 4 + row);
                else
                    assert_true(batch->samples[row].count == 0 && !batch->valid[row]);
            shard_loader_release(loader, batch);
        }
        shard_loader_close(loader);
    }
}

/* ---- ragged tensors ---- */

static void check_ragged(const shard_tensor *t, uint32_t row, const void *bytes, size_t size)
{
    assert_int_equal(t->lengths[row], size);
    if (size > 0)
        assert_memory_equal((uint8_t *)t->data + t->offsets[row], bytes, size);
}

static void check_ragged_row(const shard_batch *batch, uint32_t row, int i)
{
    uint8_t content[4096];
    char text[64];
    size_t size = make_content(i, content);
    check_ragged(&batch->tensors[0], row, content, size);
    snprintf(text, sizeof text, "t%d", i);
    check_ragged(&batch->tensors[1], row, text, strlen(text));
    check_ragged(&batch->tensors[2], row, text, i % 3 == 0 ? strlen(text) : 0);
    check_ragged(&batch->tensors[3], row, content, size);
}

static void bytes_become_ragged_tensors(void **state)
{
    (void)state;
    static const shard_field fields[] = {
        {.component = "BIN", .kind = SHARD_FIELD_BYTES},
        {.component = "txt;text", .kind = SHARD_FIELD_BYTES},
        {.component = "text", .kind = SHARD_FIELD_BYTES, .optional = true},
        {.component = "none;bin", .name = "twice", .kind = SHARD_FIELD_BYTES},
    };
    static const char *const expected[] = {"bin", "txt", "text", "twice"};
    for (int zip = 0; zip < 2; zip++) {
        const char *const *names = zip ? zipped : plain;
        make_set(names[0]);
        shard_loader_opts o = options(fields, COUNT(fields));
        shard_loader *loader = test_loader(names, &o);
        for (int b = 0; b < 3; b++) {
            const shard_batch *batch;
            assert_int_equal(shard_loader_next(loader, &batch, NULL), SHARD_OK);
            assert_null(batch->samples);
            assert_int_equal(batch->tensor_count, COUNT(fields));
            for (size_t t = 0; t < COUNT(fields); t++) {
                assert_string_equal(batch->tensors[t].name, expected[t]);
                assert_int_equal(batch->tensors[t].dtype, SHARD_U8);
                assert_int_equal(batch->tensors[t].dims, 1);
            }
            for (uint32_t row = 0; row < 4; row++)
                if (b * 4 + (int)row < SAMPLES)
                    check_ragged_row(batch, row, b * 4 + (int)row);
                else
                    assert_int_equal(batch->tensors[0].lengths[row], 0);
            shard_loader_release(loader, batch);
        }
        shard_loader_close(loader);
    }
}

/* ---- a decoder of the caller ---- */

static int number_of(const char *key)
{
    return (int)strtol(key + strlen("dir/k"), NULL, 10);
}

/* Three numbers: the random one, the sample's from its text, and a zero that is left alone. */
static shard_status look(void *context, const shard_decode_input *input, void *out, size_t size,
                         shard_error *err)
{
    static const uint64_t zeros[3];
    const int *called_with = context;
    const char *text = input->data;
    const char *component = number_of(input->key) % 3 == 0 ? "text" : "txt";
    (void)err;
    if (*called_with != 7 || size != sizeof zeros || memcmp(out, zeros, size) != 0 ||
        strcmp(input->component, component) != 0 || text[0] != 't' || input->size > 3)
        return SHARD_EDATA;
    uint64_t number = (uint64_t)(text[1] - '0');
    if (input->size == 3)
        number = number * 10 + (uint64_t)(text[2] - '0');
    memcpy(out, &input->random, sizeof input->random);
    memcpy((uint64_t *)out + 1, &number, sizeof number);
    return SHARD_OK;
}

static int context = 7;
static const shard_field look_field = {.component = "txt;text",
                                       .name = "seen",
                                       .kind = SHARD_FIELD_CUSTOM,
                                       .dtype = SHARD_U64,
                                       .dims = 2,
                                       .shape = {3, 1},
                                       .decode = look,
                                       .context = &context};

static void a_decoder_gets_its_component_and_a_row_of_zeros(void **state)
{
    (void)state;
    make_set(plain[0]);
    shard_loader_opts o = options(&look_field, 1);
    shard_loader *loader = test_loader(plain, &o);
    uint64_t random[SAMPLES];
    for (int b = 0; b < 6; b++) { /* twice the set: rows are used again */
        const shard_batch *batch;
        if (b == 3)
            assert_int_equal(shard_loader_next(loader, &batch, NULL), SHARD_END);
        assert_int_equal(shard_loader_next(loader, &batch, NULL), SHARD_OK);
        const shard_tensor *t = &batch->tensors[0];
        const uint64_t *numbers = t->data;
        assert_string_equal(t->name, "seen");
        assert_true(t->dtype == SHARD_U64 && t->dims == 3);
        assert_true(t->shape[0] == 4 && t->shape[1] == 3 && t->shape[2] == 1);
        assert_true(t->stride[0] == 3 && t->stride[1] == 1 && t->stride[2] == 1);
        for (int row = 0; row < 4; row++, numbers += 3) {
            int i = b % 3 * 4 + row;
            assert_int_equal(numbers[1], i < SAMPLES ? i : 0);
            assert_int_equal(numbers[2], 0);
            for (int j = 0; b < 3 && j < i && i < SAMPLES; j++)
                assert_true(random[j] != numbers[0]);
            if (i < SAMPLES)
                random[i] = numbers[0];
        }
        shard_loader_release(loader, batch);
    }
    shard_loader_close(loader);
}

static void random_numbers_are_of_seed_epoch_and_position_alone(void **state)
{
    (void)state;
    make_set(plain[0]);
    shard_loader_opts o = options(&look_field, 1);
    delivery first = test_deliver(plain, &o);
    o.threads = 1;
    o.batch = 3;
    delivery again = test_deliver(plain, &o);
    assert_true(delivery_same_samples(&first, &again));
    delivery_clear(&again);
    o.epoch = 1;
    again = test_deliver(plain, &o);
    assert_true(again.row[0].sum != first.row[0].sum);
    delivery_clear(&again);
    o.epoch = 0;
    o.seed = 1;
    again = test_deliver(plain, &o);
    assert_true(again.row[0].sum != first.row[0].sum);
    delivery_clear(&again);
    delivery_clear(&first);
}

/* ---- images ---- */

static void make_images(void)
{
    tar_bytes tar = {0};
    test_folder();
    for (int i = 0; i < SAMPLES; i++) {
        test_jpeg spec = {
            .width = (uint32_t)(40 + i), .height = 30, .components = 3, .across = 1, .down = 1};
        size_t size;
        uint8_t *jpeg = test_make_jpeg(&spec, &size);
        add_member(&tar, i, "jpg", jpeg, size);
        free(jpeg);
    }
    tar_bytes_end(&tar);
    test_write_shard("a.tar", &tar, true);
    tar_bytes_free(&tar);
}

static void images_have_the_shape_of_their_layout(void **state)
{
    (void)state;
    static const struct {
        shard_image_layout layout;
        shard_dtype dtype;
        int64_t shape[3];
    } cases[] = {
        {SHARD_IMAGE_U8_NHWC, SHARD_U8, {16, 20, 3}},
        {SHARD_IMAGE_F32_NCHW, SHARD_F32, {3, 16, 20}},
        {SHARD_IMAGE_F16_NCHW, SHARD_F16, {3, 16, 20}},
    };
    make_images();
    for (size_t c = 0; c < COUNT(cases); c++) {
        shard_image_opts image = SHARD_IMAGE_OPTS_INIT;
        image.width = 20;
        image.height = 16;
        image.layout = cases[c].layout;
        shard_field field = {.component = "jpg", .kind = SHARD_FIELD_IMAGE, .image = &image};
        shard_loader_opts o = options(&field, 1);
        const shard_batch *batch;
        shard_loader *loader = test_loader(plain, &o);
        assert_int_equal(shard_loader_next(loader, &batch, NULL), SHARD_OK);
        const shard_tensor *t = &batch->tensors[0];
        assert_int_equal(t->dtype, cases[c].dtype);
        assert_int_equal(t->dims, 4);
        assert_memory_equal(t->shape + 1, cases[c].shape, sizeof cases[c].shape);
        assert_int_equal((uintptr_t)t->data % 64, 0);
        shard_loader_close(loader);
    }
}

static void images_are_the_same_for_any_threads_and_new_each_epoch(void **state)
{
    (void)state;
    shard_image_opts image = SHARD_IMAGE_OPTS_INIT;
    image.fit = SHARD_IMAGE_RANDOM_CROP;
    image.flip = 0.5;
    image.width = image.height = 16;
    shard_field field = {.component = "jpg", .kind = SHARD_FIELD_IMAGE, .image = &image};
    make_images();
    shard_loader_opts o = options(&field, 1);
    o.threads = 1;
    delivery first = test_deliver(plain, &o);
    o.threads = 3;
    delivery again = test_deliver(plain, &o);
    o.epoch = 1;
    delivery next = test_deliver(plain, &o);
    assert_true(delivery_same(&first, &again));
    for (size_t i = 0; i < SAMPLES; i++)
        assert_true(next.row[i].sum != first.row[i].sum);
    delivery_clear(&first);
    delivery_clear(&again);
    delivery_clear(&next);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_fields_samples_come_as_stored),
        cmocka_unit_test(bytes_become_ragged_tensors),
        cmocka_unit_test(a_decoder_gets_its_component_and_a_row_of_zeros),
        cmocka_unit_test(random_numbers_are_of_seed_epoch_and_position_alone),
        cmocka_unit_test(images_have_the_shape_of_their_layout),
        cmocka_unit_test(images_are_the_same_for_any_threads_and_new_each_epoch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
