/* SPDX-License-Identifier: Apache-2.0 */
#include "loader/fields.h"

#include "test.h"

enum { ROWS = 4 };

static shard_status no_decoder(void *context, const shard_decode_input *input, void *out,
                               size_t size, shard_error *err)
{
    (void)context;
    (void)input;
    (void)out;
    (void)size;
    (void)err;
    return SHARD_OK;
}

static shard_status init(loader_fields *fields, const shard_field *given, size_t count,
                         const fmt_alloc *alloc, shard_error *err)
{
    shard_loader_opts o = SHARD_LOADER_OPTS_INIT;
    o.fields = given;
    o.field_count = count;
    o.batch = ROWS;
    *fields = (loader_fields){0};
    return loader_fields_init(fields, &o, alloc, err);
}

/* ---- names ---- */

static void names_are_lower_case_and_the_first_is_the_tensors(void **state)
{
    (void)state;
    char component[] = "JPG;jpeg;Seg.PNG", name[] = "label";
    test_allocator allocator = {0};
    fmt_alloc alloc = test_fmt_alloc(&allocator);
    loader_fields fields;
    const shard_field given[] = {
        {.component = component},
        {.component = "cls", .name = name, .kind = SHARD_FIELD_INTEGER},
    };
    assert_int_equal(init(&fields, given, 2, &alloc, NULL), SHARD_OK);
    memset(component, 'x', sizeof component - 1); /* all is copied */
    memset(name, 'x', sizeof name - 1);
    assert_int_equal(fields.count, 2);
    assert_int_equal(fields.field[0].alternatives, 3);
    assert_string_equal(fields.field[0].alternative[0], "jpg");
    assert_string_equal(fields.field[0].alternative[1], "jpeg");
    assert_string_equal(fields.field[0].alternative[2], "seg.png");
    assert_string_equal(fields.layout.tensor[0].name, "jpg");
    assert_string_equal(fields.layout.tensor[1].name, "label");
    assert_int_equal(fields.wanted.count, 4);
    assert_string_equal(fields.wanted.name[3], "cls");
    loader_fields_clear(&fields);
    loader_fields_clear(&fields);
    assert_int_equal(allocator.live, 0);
}

static void the_first_alternative_that_is_there_is_found(void **state)
{
    (void)state;
    test_allocator allocator = {0};
    fmt_alloc alloc = test_fmt_alloc(&allocator);
    loader_fields fields;
    const shard_field given = {.component = "a;b;c"};
    const shard_sample_component all[] = {{.name = "c"}, {.name = "x"}, {.name = "b"}};
    assert_int_equal(init(&fields, &given, 1, &alloc, NULL), SHARD_OK);
    assert_ptr_equal(loader_field_find(&fields.field[0], all, 3), &all[2]);
    assert_ptr_equal(loader_field_find(&fields.field[0], all, 2), &all[0]);
    assert_null(loader_field_find(&fields.field[0], all + 1, 1));
    assert_null(loader_field_find(&fields.field[0], NULL, 0));
    loader_fields_clear(&fields);
}

/* ---- layouts ---- */

static void tensors_have_the_shape_of_their_kind(void **state)
{
    (void)state;
    static const shard_image_opts image = {.size = sizeof image,
                                           .width = 7,
                                           .height = 5,
                                           .layout = SHARD_IMAGE_F16_NCHW,
                                           .grey = true};
    static const shard_field given[] = {
        {.component = "txt"},
        {.component = "cls", .kind = SHARD_FIELD_INTEGER},
        {.component = "jpg", .kind = SHARD_FIELD_IMAGE, .image = &image},
        {.component = "npy",
         .kind = SHARD_FIELD_NPY,
         .dtype = SHARD_U16,
         .dims = 2,
         .shape = {2, 3}},
        {.component = "vec", .kind = SHARD_FIELD_CUSTOM, .dtype = SHARD_F64, .decode = no_decoder},
    };
    static const struct {
        shard_dtype dtype;
        uint32_t dims;
        int64_t shape[4], stride[4];
    } expected[] = {
        {SHARD_U8, 1, {ROWS}, {1}},
        {SHARD_I64, 1, {ROWS}, {1}},
        {SHARD_F16, 4, {ROWS, 1, 5, 7}, {35, 35, 7, 1}},
        {SHARD_U16, 3, {ROWS, 2, 3}, {6, 3, 1}},
        {SHARD_F64, 1, {ROWS}, {1}},
    };
    test_allocator allocator = {0};
    fmt_alloc alloc = test_fmt_alloc(&allocator);
    loader_fields fields;
    assert_int_equal(init(&fields, given, COUNT(given), &alloc, NULL), SHARD_OK);
    assert_int_equal(fields.layout.rows, ROWS);
    assert_int_equal(fields.layout.tensors, COUNT(given));
    assert_true(fields.keeps_bytes);
    for (size_t i = 0; i < COUNT(given); i++) {
        const shard_tensor *t = &fields.layout.tensor[i];
        assert_int_equal(t->dtype, expected[i].dtype);
        assert_int_equal(t->dims, expected[i].dims);
        assert_memory_equal(t->shape, expected[i].shape, sizeof expected[i].shape);
        assert_memory_equal(t->stride, expected[i].stride, sizeof expected[i].stride);
        assert_int_equal(fields.layout.ragged[i], i == 0);
    }
    loader_fields_clear(&fields);
}

static void bytes_are_kept_for_ragged_tensors_and_whole_samples_alone(void **state)
{
    (void)state;
    test_allocator allocator = {0};
    fmt_alloc alloc = test_fmt_alloc(&allocator);
    loader_fields fields;
    const shard_field given = {.component = "cls", .kind = SHARD_FIELD_INTEGER};
    assert_int_equal(init(&fields, &given, 1, &alloc, NULL), SHARD_OK);
    assert_false(fields.keeps_bytes);
    loader_fields_clear(&fields);
    assert_int_equal(init(&fields, NULL, 0, &alloc, NULL), SHARD_OK);
    assert_true(fields.keeps_bytes);
    assert_int_equal(fields.wanted.count, 0);
    loader_fields_clear(&fields);
}

/* ---- what is refused ---- */

static void fields_that_make_no_sense_are_refused_by_number(void **state)
{
    (void)state;
    static const shard_image_opts no_size = {.size = sizeof no_size};
    static const struct {
        shard_field field;
        const char *why;
    } cases[] = {
        {{.component = NULL}, "which component"},
        {{.component = ""}, "which component"},
        {{.component = ";"}, "empty name"},
        {{.component = "a;"}, "empty name"},
        {{.component = "a;;b"}, "empty name"},
        {{.component = "good"}, "another field has this name"},
        {{.component = "x", .name = "good"}, "another field has this name"},
        {{.component = "x", .kind = (shard_field_kind)9}, "no such kind"},
        {{.component = "x", .kind = SHARD_FIELD_IMAGE}, "image options"},
        {{.component = "x", .kind = SHARD_FIELD_IMAGE, .image = &no_size}, ""},
        {{.component = "x", .kind = SHARD_FIELD_CUSTOM}, "needs its decoder"},
        {{.component = "x", .kind = SHARD_FIELD_NPY, .dtype = (shard_dtype)99}, "no such dtype"},
        {{.component = "x", .kind = SHARD_FIELD_NPY, .dims = SHARD_DIMS_MAX}, "dimensions"},
        {{.component = "x", .kind = SHARD_FIELD_NPY, .dims = 1, .shape = {0}}, "no bytes"},
        {{.component = "x", .kind = SHARD_FIELD_NPY, .dims = 1, .shape = {-1}}, "no bytes"},
        {{.component = "x", .kind = SHARD_FIELD_NPY, .dims = 1, .shape = {INT64_MAX}}, "4 GiB"},
        {{.component = "x",
          .kind = SHARD_FIELD_NPY,
          .dims = 3,
          .shape = {1 << 20, 1 << 20, 1 << 30}},
         "4 GiB"},
        {{.component = "x",
          .kind = SHARD_FIELD_NPY,
          .dtype = SHARD_F64,
          .dims = 1,
          .shape = {(INT64_C(1) << 29) + 1}},
         "4 GiB"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        test_allocator allocator = {0};
        fmt_alloc alloc = test_fmt_alloc(&allocator);
        loader_fields fields;
        shard_error err;
        shard_field given[] = {{.component = "good"}, cases[i].field};
        assert_int_equal(init(&fields, given, 2, &alloc, &err), SHARD_EINVAL);
        assert_non_null(strstr(err.message, cases[i].why));
        if (*cases[i].why)
            assert_non_null(strstr(err.message, "field 1: "));
        loader_fields_clear(&fields);
        assert_int_equal(allocator.live, 0);
    }
}

static void the_largest_row_has_4_gib(void **state)
{
    (void)state;
    test_allocator allocator = {0};
    fmt_alloc alloc = test_fmt_alloc(&allocator);
    loader_fields fields;
    const shard_field given = {.component = "x",
                               .kind = SHARD_FIELD_NPY,
                               .dtype = SHARD_F64,
                               .dims = 2,
                               .shape = {1 << 9, 1 << 20}};
    assert_int_equal(init(&fields, &given, 1, &alloc, NULL), SHARD_OK);
    assert_true(shard_slot_fixed_size(&fields.layout) == (UINT64_C(4) << 32));
    loader_fields_clear(&fields);
}

static bool init_and_clear(test_allocator *allocator, void *context)
{
    static const shard_field given[] = {
        {.component = "a;b;c"},
        {.component = "cls", .name = "label", .kind = SHARD_FIELD_INTEGER},
    };
    fmt_alloc alloc = test_fmt_alloc(allocator);
    loader_fields fields;
    (void)context;
    shard_status status = init(&fields, given, 2, &alloc, NULL);
    assert_true(status == SHARD_OK || status == SHARD_ENOMEM);
    loader_fields_clear(&fields);
    return status == SHARD_OK;
}

static void a_failed_allocation_leaves_what_may_be_cleared(void **state)
{
    (void)state;
    assert_true(test_every_allocation(init_and_clear, NULL) >= 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_lower_case_and_the_first_is_the_tensors),
        cmocka_unit_test(the_first_alternative_that_is_there_is_found),
        cmocka_unit_test(tensors_have_the_shape_of_their_kind),
        cmocka_unit_test(bytes_are_kept_for_ragged_tensors_and_whole_samples_alone),
        cmocka_unit_test(fields_that_make_no_sense_are_refused_by_number),
        cmocka_unit_test(the_largest_row_has_4_gib),
        cmocka_unit_test(a_failed_allocation_leaves_what_may_be_cleared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
