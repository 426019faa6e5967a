/* SPDX-License-Identifier: Apache-2.0 */
#include "pack/engine/chunk.h"

#include <stdio.h>
#include <stdlib.h>

#include <shard/index.h>

#include "core/crc32c.h"
#include "files.h"
#include "test.h"

static shard_encoders encoders;
static fmt_alloc alloc;
static pack_sample sample;
static const shard_codec codecs[] = {SHARD_CODEC_PLAIN, SHARD_CODEC_ZSTD, SHARD_CODEC_GZIP};

static int setup(void **state)
{
    (void)state;
    alloc = shard_alloc_from(NULL);
    pack_sample_init(&sample, &alloc);
    test_folder();
    if (shard_zstd_encoder_open(&encoders.zstd, 1, NULL) != SHARD_OK)
        return -1;
    return shard_gzip_encoder_open(&encoders.gzip, 1, NULL) == SHARD_OK ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    pack_sample_clear(&sample);
    shard_zstd_encoder_close(encoders.zstd);
    shard_gzip_encoder_close(encoders.gzip);
    return 0;
}

static void init(pack_chunk *chunk, shard_codec codec, const fmt_alloc *with)
{
    pack_chunk_init(chunk, codec, 0, with);
    chunk->encoders = &encoders;
}

static shard_status begin(pack_chunk *chunk, const char *key)
{
    SHARD_TRY(pack_sample_begin(&sample, key, strlen(key), NULL));
    return pack_chunk_begin_sample(chunk, &sample, NULL);
}

static shard_status add_component(pack_chunk *chunk, const char *name, const void *bytes,
                                  size_t size)
{
    uint8_t *payload;
    SHARD_TRY(pack_chunk_begin_component(chunk, &sample, name, size, &payload, NULL));
    memcpy(payload, bytes, size);
    payload[size] = 0xee; /* the one byte more is there, and does not stay */
    pack_chunk_end_component(chunk, shard_crc32c(0, bytes, size));
    return SHARD_OK;
}

/* A sample of a .cls and a .txt of `size` bytes that do not compress. */
static shard_status add_sample(pack_chunk *chunk, int number, size_t size)
{
    char key[32];
    uint8_t *text = malloc(size + 1);
    uint32_t x = (uint32_t)number;
    for (size_t i = 0; i < size; i++)
        text[i] = (uint8_t)((x = x * 1664525 + 1013904223) >> 24);
    snprintf(key, sizeof key, "dog/%04d", number);
    shard_status status = begin(chunk, key);
    if (status == SHARD_OK)
        status = add_component(chunk, "cls", "7", 1);
    if (status == SHARD_OK)
        status = add_component(chunk, "txt", text, size);
    free(text);
    if (status == SHARD_OK)
        return pack_chunk_end_sample(chunk, 7, NULL);
    pack_chunk_drop_sample(chunk);
    return status;
}

/* Write a chunk as a shard of its own, its index made from what the chunk tells. */
static void save(const pack_chunk *chunk, const char *name)
{
    shard_writer w;
    uint8_t hash[SHARD_HASH_SIZE];
    char path[512], index_path[600];
    shard_index_builder *builder = malloc(sizeof *builder);
    snprintf(path, sizeof path, "%s", test_path(name));
    snprintf(index_path, sizeof index_path, "%s.sidx", path);
    shard_index_builder_init(builder, path, test_path(""), true, &alloc);
    assert_int_equal(shard_writer_open(&w, path, chunk->codec, &alloc, NULL), SHARD_OK);
    for (size_t i = 0; i < chunk->segments; i++) {
        const pack_chunk_segment *s = &chunk->segment[i];
        shard_segment segment = {pack_chunk_stored(chunk) + s->offset, s->size, s->tar_size,
                                 s->crc};
        assert_int_equal(shard_writer_append(&w, &segment, NULL), SHARD_OK);
    }
    assert_int_equal(pack_chunk_tell(chunk, 0, 0, chunk->samples, 0, builder, NULL), SHARD_OK);
    assert_int_equal(shard_writer_end_tar(&w, &encoders, NULL), SHARD_OK);
    assert_int_equal(shard_writer_end_file(&w, hash, NULL), SHARD_OK);
    shard_index_facts facts = {w.out.size, w.tar_size, chunk->codec, hash};
    assert_int_equal(shard_index_builder_save(builder, &facts, index_path, false, NULL), SHARD_OK);
    assert_int_equal(shard_writer_commit(&w, false, NULL), SHARD_OK);
    shard_index_builder_clear(builder);
    free(builder);
}

/* What the chunk told of a shard is what is found in it. */
static void check_shard(const char *name, int samples)
{
    char index_path[600], built_path[600];
    size_t size, built_size;
    shard_index *index;
    shard_index_info info;
    snprintf(index_path, sizeof index_path, "%s.sidx", test_path(name));
    snprintf(built_path, sizeof built_path, "%s.built", test_path(name));
    assert_int_equal(shard_index_build(test_path(name), built_path, NULL, NULL), SHARD_OK);
    assert_int_equal(shard_index_open(&index, index_path, NULL, NULL), SHARD_OK);
    shard_index_get_info(index, &info);
    assert_int_equal(info.samples, samples);
    assert_int_equal(info.components, 2 * samples);
    if (info.codec != SHARD_CODEC_ZSTD) { /* frames are the lane's to tell */
        uint8_t *told = test_read_file(index_path, &size);
        uint8_t *built = test_read_file(built_path, &built_size);
        assert_int_equal(size, built_size);
        assert_memory_equal(told, built, size);
        free(told);
        free(built);
    }
    shard_index_close(index);
}

static void a_chunk_becomes_a_shard(void **state)
{
    (void)state;
    static const size_t sizes[] = {0, 1, 511, 512, 513, 5000, 200000};
    for (size_t c = 0; c < COUNT(codecs); c++) {
        pack_chunk chunk;
        test_folder();
        init(&chunk, codecs[c], &alloc);
        for (int i = 0; i < (int)COUNT(sizes); i++)
            assert_int_equal(add_sample(&chunk, i, sizes[i]), SHARD_OK);
        assert_int_equal(pack_chunk_close(&chunk, NULL), SHARD_OK);
        save(&chunk, "a.tar");
        check_shard("a.tar", COUNT(sizes));
        pack_chunk_free(&chunk);
    }
}

static void plain_samples_are_segments_of_their_own(void **state)
{
    (void)state;
    pack_chunk chunk;
    init(&chunk, SHARD_CODEC_PLAIN, &alloc);
    for (int i = 0; i < 3; i++)
        assert_int_equal(add_sample(&chunk, i, 600), SHARD_OK);
    assert_int_equal(chunk.segments, 3);
    assert_int_equal(chunk.segment[1].offset, 2560);
    assert_int_equal(chunk.segment[1].size, 2560);
    assert_int_equal(chunk.segment[1].tar_size, 2560);
    assert_int_equal(pack_chunk_stored_size(&chunk), 3 * 2560);
    assert_int_equal(pack_chunk_close(&chunk, NULL), SHARD_OK);
    assert_int_equal(chunk.segments, 3);
    pack_chunk_free(&chunk);
}

static void frames_end_at_the_first_sample_that_fills_them(void **state)
{
    (void)state;
    enum { SIZE = 20000, TAR_SIZE = 1024 + 512 + 20480, A_FRAME = 6 };
    for (size_t c = 1; c < COUNT(codecs); c++) {
        pack_chunk chunk;
        init(&chunk, codecs[c], &alloc);
        for (int i = 0; i < 2 * A_FRAME + 1; i++) {
            assert_int_equal(add_sample(&chunk, i, SIZE), SHARD_OK);
            assert_int_equal(chunk.segments, (i + 1) / A_FRAME);
        }
        assert_true((A_FRAME - 1) * TAR_SIZE < PACK_FRAME_LEAST);
        assert_int_equal(chunk.segment[1].tar_size, A_FRAME * TAR_SIZE);
        assert_int_equal(chunk.segment[1].samples, A_FRAME);
        assert_int_equal(chunk.segment[1].offset, chunk.segment[0].size);
        assert_int_equal(pack_chunk_close(&chunk, NULL), SHARD_OK);
        assert_int_equal(chunk.segments, 3);
        assert_int_equal(chunk.segment[2].samples, 1);
        assert_int_equal(chunk.sample[2 * A_FRAME].tar_offset, 2 * A_FRAME * TAR_SIZE);
        pack_chunk_free(&chunk);
    }
}

static void a_dropped_sample_leaves_no_trace(void **state)
{
    (void)state;
    for (size_t c = 0; c < COUNT(codecs); c++) {
        pack_chunk chunk;
        test_folder();
        init(&chunk, codecs[c], &alloc);
        assert_int_equal(add_sample(&chunk, 0, 600), SHARD_OK);
        for (int i = 0; i < 3; i++) {
            assert_int_equal(begin(&chunk, "wrong"), SHARD_OK);
            for (int j = 0; j < i; j++)
                assert_int_equal(add_component(&chunk, j ? "txt" : "cls", "x", 1), SHARD_OK);
            pack_chunk_drop_sample(&chunk);
        }
        assert_int_equal(add_sample(&chunk, 1, 600), SHARD_OK);
        assert_int_equal(chunk.consumed, 2);
        assert_int_equal(pack_chunk_close(&chunk, NULL), SHARD_OK);
        save(&chunk, "a.tar");
        check_shard("a.tar", 2);
        pack_chunk_free(&chunk);
    }
}

static void what_was_left_out_is_consumed_and_told(void **state)
{
    (void)state;
    pack_chunk chunk;
    init(&chunk, SHARD_CODEC_PLAIN, &alloc);
    assert_int_equal(add_sample(&chunk, 0, 1), SHARD_OK);
    assert_int_equal(begin(&chunk, "wrong"), SHARD_OK);
    pack_chunk_drop_sample(&chunk);
    assert_int_equal(pack_chunk_skip_sample(&chunk, "wrong", "cannot read", NULL), SHARD_OK);
    assert_int_equal(add_sample(&chunk, 2, 1), SHARD_OK);
    assert_int_equal(chunk.skips, 1);
    assert_int_equal(chunk.skip[0].consumed, 2);
    assert_string_equal((char *)chunk.text.data + chunk.skip[0].name, "wrong");
    assert_string_equal((char *)chunk.text.data + chunk.skip[0].reason, "cannot read");
    assert_int_equal(chunk.sample[1].consumed, 3);
    assert_int_equal(chunk.consumed, 3);
    pack_chunk_free(&chunk);
}

static void an_emptied_chunk_makes_the_same_bytes_again(void **state)
{
    (void)state;
    for (size_t c = 0; c < COUNT(codecs); c++) {
        pack_chunk chunk;
        uint8_t *first = NULL;
        size_t size = 0;
        init(&chunk, codecs[c], &alloc);
        for (int round = 0; round < 2; round++) {
            for (int i = 0; i < 10; i++)
                assert_int_equal(add_sample(&chunk, i, 30000), SHARD_OK);
            assert_int_equal(pack_chunk_close(&chunk, NULL), SHARD_OK);
            assert_int_equal(chunk.samples, 10);
            if (round == 1) {
                assert_int_equal(pack_chunk_stored_size(&chunk), size);
                assert_memory_equal(pack_chunk_stored(&chunk), first, size);
            } else {
                size = pack_chunk_stored_size(&chunk);
                first = malloc(size);
                memcpy(first, pack_chunk_stored(&chunk), size);
            }
            pack_chunk_reset(&chunk);
            assert_int_equal(pack_chunk_stored_size(&chunk), 0);
        }
        free(first);
        pack_chunk_free(&chunk);
    }
}

static void paths_have_a_longest(void **state)
{
    (void)state;
    pack_chunk chunk;
    uint8_t *payload;
    shard_error err;
    char key[FMT_KEY_MAX + 1];
    memset(key, 'k', FMT_KEY_MAX);
    key[FMT_KEY_MAX] = 0;
    init(&chunk, SHARD_CODEC_PLAIN, &alloc);
    assert_int_equal(begin(&chunk, key), SHARD_OK);
    assert_int_equal(add_component(&chunk, "x", "1", 1), SHARD_OK);
    assert_int_equal(pack_chunk_begin_component(&chunk, &sample, "xy", 1, &payload, &err),
                     SHARD_ELIMIT);
    assert_non_null(strstr(err.message, "sample \"kkk"));
    assert_non_null(strstr(err.message, "4096"));
    pack_chunk_free(&chunk);
}

static bool fill_with(test_allocator *allocator, void *context)
{
    const shard_codec *codec = context;
    fmt_alloc failing = test_fmt_alloc(allocator);
    pack_chunk chunk;
    init(&chunk, *codec, &failing);
    shard_status status = SHARD_OK;
    for (int i = 0; i < 20 && status == SHARD_OK; i++)
        status = add_sample(&chunk, i, 20000);
    if (status == SHARD_OK)
        status = pack_chunk_skip_sample(&chunk, "a.jpg", "cannot read", NULL);
    if (status == SHARD_OK)
        status = pack_chunk_close(&chunk, NULL);
    assert_true(status == SHARD_OK || status == SHARD_ENOMEM);
    pack_chunk_free(&chunk);
    return status == SHARD_OK;
}

static void short_memory_is_told(void **state)
{
    (void)state;
    for (size_t c = 0; c < COUNT(codecs); c++) {
        shard_codec codec = codecs[c];
        assert_in_range(test_every_allocation(fill_with, &codec), 10, 60);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_chunk_becomes_a_shard),
        TEST(plain_samples_are_segments_of_their_own),
        TEST(frames_end_at_the_first_sample_that_fills_them),
        TEST(a_dropped_sample_leaves_no_trace),
        TEST(what_was_left_out_is_consumed_and_told),
        TEST(an_emptied_chunk_makes_the_same_bytes_again),
        TEST(paths_have_a_longest),
        TEST(short_memory_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
