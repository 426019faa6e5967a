/* SPDX-License-Identifier: Apache-2.0 */
#include "manifest/manifest.h"

#include <stdio.h>
#include <stdlib.h>

#include "test.h"

typedef struct {
    char *text;
    size_t size;
} collected;

static bool collect(void *context, const char *text, size_t size)
{
    collected *c = context;
    c->text = realloc(c->text, c->size + size + 1);
    memcpy(c->text + c->size, text, size);
    c->size += size;
    c->text[c->size] = 0;
    return true;
}

static const char whole[] =
    "{\"format\": \"shardset\",\n"
    "\"version\": 1,\n"
    "\"samples\": 5,\n"
    "\"bytes\": 30,\n"
    "\"components\": {\"cls\": {\"count\": 5, \"bytes\": 5}, \"jpg\": {\"count\": 5, \"bytes\": "
    "20}},\n"
    "\"classes\": [\"cat\",\"dog\"],\n"
    "\"skipped\": [\n"
    "  {\"name\": \"a.jpg\", \"reason\": \"cannot read\"}],\n"
    "\"shards\": 2,\n"
    "\"names\": \"out-{0..1}.tar\",\n"
    "\"shard_samples\": [2,3],\n"
    "\"shard_bytes\": [10,20],\n"
    "\"shard_xxh3\": [\"000102030405060708090a0b0c0d0e0f\",\"ffffffffffffffffffffffffffffffff\"],\n"
    "\"first_keys\": [\"a\",\"b\"],\n"
    "\"last_key\": \"c\"\n"
    "}\n";

static fmt_status parse(fmt_manifest *m, const char *text, test_allocator *allocator,
                        fmt_fault *fault)
{
    static fmt_alloc alloc;
    alloc = test_fmt_alloc(allocator);
    fmt_manifest_init(m, &alloc);
    return fmt_manifest_parse(m, (fmt_span){(const uint8_t *)text, strlen(text)}, fault);
}

static void what_is_parsed_is_written_alike(void **state)
{
    (void)state;
    test_allocator allocator = {0};
    fmt_manifest m;
    fmt_fault fault;
    collected c = {0};
    assert_int_equal(parse(&m, whole, &allocator, &fault), FMT_OK);
    assert_int_equal(m.samples, 5);
    assert_int_equal(m.shards, 2);
    assert_string_equal(m.shard[1].name, "out-1.tar");
    assert_int_equal(m.shard[1].samples, 3);
    assert_int_equal(m.shard[0].hash[15], 15);
    assert_true(m.sorted && m.has_hashes);
    assert_string_equal(m.class_name[1], "dog");
    assert_string_equal(m.skip[0].reason, "cannot read");
    assert_string_equal(m.component[1].name, "jpg");
    assert_int_equal(fmt_manifest_write(&m, collect, &c), FMT_OK);
    assert_string_equal(c.text, whole);
    free(c.text);
    fmt_manifest_clear(&m);
    assert_int_equal(allocator.live, 0);
}

static void unknown_keys_are_ignored(void **state)
{
    (void)state;
    test_allocator allocator = {0};
    fmt_manifest m;
    fmt_fault fault;
    assert_int_equal(parse(&m,
                           "{\"format\":\"shardset\",\"version\":1,\"samples\":0,\"bytes\":0,"
                           "\"components\":{},\"shards\":0,\"names\":[],\"shard_samples\":[],"
                           "\"shard_bytes\":[],\"whatever\":{\"a\":1}}",
                           &allocator, &fault),
                     FMT_OK);
    fmt_manifest_clear(&m);
}

/* The whole manifest with one piece of its text replaced. */
static fmt_status parse_with(const char *old, const char *new, fmt_fault *fault)
{
    static char text[2 * sizeof whole];
    const char *at = strstr(whole, old);
    test_allocator allocator = {0};
    fmt_manifest m;
    assert_non_null(at);
    snprintf(text, sizeof text, "%.*s%s%s", (int)(at - whole), whole, new, at + strlen(old));
    fmt_status status = parse(&m, text, &allocator, fault);
    fmt_manifest_clear(&m);
    assert_int_equal(allocator.live, 0);
    return status;
}

static void wrong_values_are_refused_by_key(void **state)
{
    (void)state;
    static const struct {
        const char *old, *new, *key;
        fmt_status status;
    } lies[] = {
        {"shardset", "other", "format", FMT_EINVALID},
        {"\"format\"", "\"farmot\"", "format", FMT_EINVALID},
        {"\"version\": 1", "\"version\": 2", "", FMT_EUNSUPPORTED},
        {"\"version\": 1", "\"version\": \"1\"", "version", FMT_EINVALID},
        {"\"samples\": 5", "\"samples\": 6", "shard_samples", FMT_EINVALID},
        {"\"samples\": 5", "\"samples\": -5", "samples", FMT_EINVALID},
        {"\"samples\": 5", "\"samples\": 5.0", "samples", FMT_EINVALID},
        {"\"bytes\": 30", "\"bytes\": 31", "shard_bytes", FMT_EINVALID},
        {"\"shards\": 2", "\"shards\": 3", "shard_samples", FMT_EINVALID},
        {"\"shards\": 2", "\"shards\": 99999999999", "", FMT_ELIMIT},
        {"[2,3]", "[2,3,0]", "shard_samples", FMT_EINVALID},
        {"[2,3]", "[6,-1]", "shard_samples", FMT_EINVALID},
        {"[2,3]", "[9223372036854775807,9223372036854775807]", "shard_samples", FMT_ELIMIT},
        {"[2,3]", "{}", "shard_samples", FMT_EINVALID},
        {"out-{0..1}.tar", "out-{0..2}.tar", "names", FMT_EINVALID},
        {"out-{0..1}.tar", "../out-{0..1}.tar", "names", FMT_EINVALID},
        {"out-{0..1}.tar", "/out-{0..1}.tar", "names", FMT_EINVALID},
        {"out-{0..1}.tar", "http://x/{0..1}.tar", "names", FMT_EINVALID},
        {"\"out-{0..1}.tar\"", "[\"a.tar\"]", "names", FMT_EINVALID},
        {"\"out-{0..1}.tar\"", "[\"a.tar\",\"a/../b\"]", "names", FMT_EINVALID},
        {"\"out-{0..1}.tar\"", "[\"a.tar\",\"b\\u0000\"]", "names", FMT_EINVALID},
        {"\"out-{0..1}.tar\"", "[\"a.tar\",\"b\\n\"]", "names", FMT_EINVALID},
        {"\"out-{0..1}.tar\"", "[\"a.tar\",7]", "names", FMT_EINVALID},
        {"0001", "00G1", "shard_xxh3", FMT_EINVALID},
        {"0001", "001", "shard_xxh3", FMT_EINVALID},
        {"[\"a\",\"b\"]", "[\"b\",\"a\"]", "first_keys", FMT_EINVALID},
        {"[\"a\",\"b\"]", "[\"a\",\"a\"]", "first_keys", FMT_EINVALID},
        {"[\"a\",\"b\"]", "[\"a\"]", "first_keys", FMT_EINVALID},
        {"\"c\"", "\"a\"", "last_key", FMT_EINVALID},
        {"{\"count\": 5, \"bytes\": 20}", "[]", "components", FMT_EINVALID},
        {"\"count\": 5, \"bytes\": 20", "\"count\": 5", "bytes", FMT_EINVALID},
        {"\"cat\"", "1", "classes", FMT_EINVALID},
        {"\"reason\"", "\"raisin\"", "skipped", FMT_EINVALID},
        {"\"version\": 1", "\"version\": 1, \"part\": 3, \"parts\": 2", "part", FMT_EINVALID},
        {"\"version\": 1", "\"version\": 1, \"part\": 0, \"parts\": 2", "part", FMT_EINVALID},
        {"}\n", "", "", FMT_EINVALID},
    };
    for (size_t i = 0; i < COUNT(lies); i++) {
        fmt_fault fault;
        fmt_status status = parse_with(lies[i].old, lies[i].new, &fault);
        if (status != lies[i].status || strcmp(fault.name, lies[i].key) != 0)
            fail_msg("lie %zu: status %d, %s \"%s\"", i, status, fault.what, fault.name);
    }
}

static void every_truncation_is_an_error(void **state)
{
    (void)state;
    for (size_t size = 0; size < sizeof whole - 3; size++) {
        test_allocator allocator = {0};
        fmt_alloc alloc = test_fmt_alloc(&allocator);
        fmt_manifest m;
        fmt_fault fault;
        fmt_manifest_init(&m, &alloc);
        assert_int_equal(fmt_manifest_parse(&m, (fmt_span){(const uint8_t *)whole, size}, &fault),
                         FMT_EINVALID);
        fmt_manifest_clear(&m);
    }
}

static bool ignore(void *context, const char *text, size_t size)
{
    (void)context;
    (void)text;
    (void)size;
    return true;
}

static bool parse_whole(test_allocator *allocator, void *context)
{
    (void)context;
    fmt_manifest m;
    fmt_fault fault;
    fmt_status status = parse(&m, whole, allocator, &fault);
    assert_true(status == FMT_OK || status == FMT_ENOMEM);
    fmt_manifest_clear(&m);
    return status == FMT_OK;
}

/* jansson's memory. (Not when parsing: jansson 2.14 goes on with a key that it had no memory for.)
 */
static bool write_whole(test_allocator *allocator, void *context)
{
    test_allocate_json_with(allocator);
    fmt_status status = fmt_manifest_write(context, ignore, NULL);
    test_allocate_json_with(NULL);
    assert_true(status == FMT_OK || status == FMT_ENOMEM);
    return status == FMT_OK;
}

static void short_memory_is_told(void **state)
{
    (void)state;
    fmt_manifest m;
    fmt_fault fault;
    test_allocator none = {0};
    assert_true(test_every_allocation(parse_whole, NULL) >= 1);
    assert_int_equal(parse(&m, whole, &none, &fault), FMT_OK);
    assert_in_range(test_every_allocation(write_whole, &m), 10, 2000);
    fmt_manifest_clear(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_parsed_is_written_alike),
        cmocka_unit_test(unknown_keys_are_ignored),
        cmocka_unit_test(wrong_values_are_refused_by_key),
        cmocka_unit_test(every_truncation_is_an_error),
        cmocka_unit_test(short_memory_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
