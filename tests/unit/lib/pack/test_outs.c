/* SPDX-License-Identifier: Apache-2.0 */
#include "pack/outs.h"

#include <stdio.h>

#include "files.h"
#include "test.h"

enum { OUTS_MAX = 4 };

static pack_outs outs;
static fmt_alloc alloc;

static int setup(void **state)
{
    (void)state;
    alloc = shard_alloc_from(NULL);
    return 0;
}

static shard_status init(const char *const *names, const char *manifest, shard_error *err)
{
    shard_pack_opts opts = SHARD_PACK_OPTS_INIT;
    opts.outs = names;
    while (opts.out_count < OUTS_MAX && names[opts.out_count])
        opts.out_count++;
    opts.manifest = manifest;
    return pack_outs_init(&outs, &opts, &alloc, err);
}

static void init_ok(const char *const *names, const char *manifest)
{
    shard_error err;
    if (init(names, manifest, &err) != SHARD_OK)
        fail_msg("%s: %s", names[0], err.message);
}

static void check_names(const char *first, const char *last)
{
    char name[SHARD_PATH_MAX];
    assert_int_equal(pack_outs_name(&outs, 0, name, NULL), SHARD_OK);
    assert_string_equal(name, first);
    assert_int_equal(pack_outs_name(&outs, outs.count - 1, name, NULL), SHARD_OK);
    assert_string_equal(name, last);
}

static void names_say_shards_codec_and_manifest(void **state)
{
    (void)state;
    static const struct {
        const char *names[OUTS_MAX];
        uint64_t count;
        shard_codec codec;
        const char *first, *last, *manifest, *journal;
    } sets[] = {
        {{"out.tar"},
         1,
         SHARD_CODEC_PLAIN,
         "out.tar",
         "out.tar",
         "out.shards.json",
         ".out.shards.json.journal"},
        {{"out-{000..099}.tar"},
         100,
         SHARD_CODEC_PLAIN,
         "out-000.tar",
         "out-099.tar",
         "out.shards.json",
         ".out.shards.json.journal"},
        {{"x/y/out_<0..2>.tar.zst"},
         3,
         SHARD_CODEC_ZSTD,
         "x/y/out_0.tar.zst",
         "x/y/out_2.tar.zst",
         "x/y/out.shards.json",
         "x/y/.out.shards.json.journal"},
        {{"/x/{0..2}.tgz"},
         3,
         SHARD_CODEC_GZIP,
         "/x/0.tgz",
         "/x/2.tgz",
         "/x/set.shards.json",
         "/x/.set.shards.json.journal"},
        {{"{0..2}.tar.gz"},
         3,
         SHARD_CODEC_GZIP,
         "0.tar.gz",
         "2.tar.gz",
         "set.shards.json",
         ".set.shards.json.journal"},
        {{"x/-{0..1}.tzst"},
         2,
         SHARD_CODEC_ZSTD,
         "x/-0.tzst",
         "x/-1.tzst",
         "x/set.shards.json",
         "x/.set.shards.json.journal"},
        {{"out-08.tar", "out-09.tar", "out-10.tar"},
         3,
         SHARD_CODEC_PLAIN,
         "out-08.tar",
         "out-10.tar",
         "out.shards.json",
         ".out.shards.json.journal"},
        {{"a-{0..1}.tar", "b-{0..2}.tar"},
         5,
         SHARD_CODEC_PLAIN,
         "a-0.tar",
         "b-2.tar",
         "a.shards.json",
         ".a.shards.json.journal"},
        {{"run2.tar"},
         1,
         SHARD_CODEC_PLAIN,
         "run2.tar",
         "run2.tar",
         "run2.shards.json",
         ".run2.shards.json.journal"},
    };
    for (size_t i = 0; i < COUNT(sets); i++) {
        init_ok(sets[i].names, NULL);
        assert_int_equal(outs.count, sets[i].count);
        assert_int_equal(outs.codec, sets[i].codec);
        check_names(sets[i].first, sets[i].last);
        assert_string_equal(outs.manifest, sets[i].manifest);
        assert_string_equal(outs.journal, sets[i].journal);
        assert_false(outs.is_stdout);
        pack_outs_clear(&outs);
    }
}

static void a_counter_goes_on_without_end(void **state)
{
    (void)state;
    char name[SHARD_PATH_MAX];
    init_ok((const char *[]){"x/out-%06d.tar.zst", NULL}, NULL);
    assert_int_equal(outs.count, FMT_PATTERN_ENDLESS);
    assert_string_equal(outs.manifest, "x/out.shards.json");
    assert_int_equal(pack_outs_name(&outs, 12, name, NULL), SHARD_OK);
    assert_string_equal(name, "x/out-000012.tar.zst");
    assert_int_equal(pack_outs_name(&outs, 12345678, name, NULL), SHARD_OK);
    assert_string_equal(name, "x/out-12345678.tar.zst");
    pack_outs_clear(&outs);
}

static void standard_output_is_alone(void **state)
{
    (void)state;
    init_ok((const char *[]){"-", NULL}, NULL);
    assert_true(outs.is_stdout);
    assert_int_equal(outs.count, 1);
    assert_int_equal(outs.codec, SHARD_CODEC_PLAIN);
    assert_string_equal(outs.folder, ".");
    pack_outs_clear(&outs);
}

static void an_option_overrules_suffixes(void **state)
{
    (void)state;
    shard_pack_opts opts = SHARD_PACK_OPTS_INIT;
    const char *name = "out.bin";
    opts.outs = &name;
    opts.out_count = 1;
    opts.has_codec = true;
    opts.codec = SHARD_CODEC_GZIP;
    assert_int_equal(pack_outs_init(&outs, &opts, &alloc, NULL), SHARD_OK);
    assert_int_equal(outs.codec, SHARD_CODEC_GZIP);
    pack_outs_clear(&outs);
    opts.codec = SHARD_CODEC_OTHER;
    assert_int_equal(pack_outs_init(&outs, &opts, &alloc, NULL), SHARD_EINVAL);
}

static void a_manifest_may_have_a_name_of_its_own(void **state)
{
    (void)state;
    init_ok((const char *[]){"x/out-{0..1}.tar", NULL}, "x/set.json");
    assert_string_equal(outs.manifest, "x/set.json");
    assert_string_equal(outs.journal, "x/.set.json.journal");
    pack_outs_clear(&outs);
}

static void parts_have_manifests_of_their_own(void **state)
{
    (void)state;
    static const char *const names[] = {"out-{0..9}.tar"};
    static const char *const manifests[] = {NULL, "mine.json"};
    for (size_t i = 0; i < COUNT(manifests); i++) {
        char first[SHARD_PATH_MAX];
        shard_pack_opts opts = SHARD_PACK_OPTS_INIT;
        opts.outs = names;
        opts.out_count = 1;
        opts.manifest = manifests[i];
        opts.part = 1;
        opts.parts = 12;
        assert_int_equal(pack_outs_init(&outs, &opts, &alloc, NULL), SHARD_OK);
        if (i == 0)
            assert_string_equal(outs.manifest, "out.part-00001-of-00012.shards.json");
        memcpy(first, outs.manifest, sizeof first);
        pack_outs_clear(&outs);
        opts.part = 2;
        assert_int_equal(pack_outs_init(&outs, &opts, &alloc, NULL), SHARD_OK);
        assert_string_not_equal(outs.manifest, first);
        pack_outs_clear(&outs);
    }
}

static void names_that_do_not_go_together_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *names[OUTS_MAX], *manifest, *about, *message;
    } sets[] = {
        {{NULL}, NULL, "", "no output was named"},
        {{"out"}, NULL, "out", "a shard's name ends in .tar, .tar.zst or .tar.gz"},
        {{"out.zst"}, NULL, "out.zst", "a shard's name ends in .tar, .tar.zst or .tar.gz"},
        {{"a.tar", "b.tar.gz"}, NULL, "b.tar.gz", "all shards of a set are compressed alike"},
        {{"a-%d.tar", "b.tar"}, NULL, "a-%d.tar", "a name with a counter stands alone"},
        {{"a.tar", "b-%d.tar"}, NULL, "b-%d.tar", "a name with a counter stands alone"},
        {{"x/a.tar", "y/b.tar"}, NULL, "y/b.tar", "shards and their manifest stand in one folder"},
        {{"x/a.tar"}, "a.json", "a.json", "shards and their manifest stand in one folder"},
        {{"x{0..1}/a.tar"}, NULL, "x.shards.json", "shards and their manifest stand in one folder"},
        {{"a.tar", "-"}, NULL, "-", "a shard's name ends in .tar, .tar.zst or .tar.gz"},
    };
    for (size_t i = 0; i < COUNT(sets); i++) {
        shard_error err;
        assert_int_equal(init(sets[i].names, sets[i].manifest, &err), SHARD_EINVAL);
        assert_string_equal(err.message, sets[i].message);
        assert_string_equal(err.url, sets[i].about);
    }
}

/* Two lanes would write to one file. */
static void a_name_stands_once(void **state)
{
    (void)state;
    static const char *const sets[][3] = {
        {"a.tar", "a.tar"}, {"a-{x,y,x}.tar"}, {"a-{0..5}.tar", "a-3.tar"}};
    for (size_t i = 0; i < COUNT(sets); i++) {
        shard_error err;
        shard_status status = init(sets[i], NULL, &err);
        if (status == SHARD_OK)
            pack_outs_clear(&outs);
        assert_int_equal(status, SHARD_EINVAL);
    }
}

static void long_names_are_refused(void **state)
{
    (void)state;
    char name[SHARD_PATH_MAX + 16], out[SHARD_PATH_MAX];
    shard_error err;
    memset(name, 'n', sizeof name);
    strcpy(name + SHARD_PATH_MAX - 8, ".tar"); /* the shard's name fits, the manifest's does not */
    assert_int_equal(init((const char *[]){name, NULL}, NULL, &err), SHARD_EINVAL);
    memset(name, 'n', sizeof name);
    strcpy(name + SHARD_PATH_MAX - 6, "{9..10}.tar");
    assert_int_equal(init((const char *[]){name, NULL}, "m.json", &err), SHARD_OK);
    assert_int_equal(pack_outs_name(&outs, 0, out, &err), SHARD_OK);
    assert_int_equal(pack_outs_name(&outs, 1, out, &err), SHARD_EINVAL);
    assert_string_equal(err.message, "the name of shard 1 is too long");
    pack_outs_clear(&outs);
}

static void what_is_there_is_named(void **state)
{
    (void)state;
    shard_error err;
    test_folder();
    assert_int_equal(pack_outs_absent(test_path("a.tar"), &err), SHARD_OK);
    test_write_file(test_path("a.tar"), "", 0);
    assert_int_equal(pack_outs_absent(test_path("a.tar"), &err), SHARD_EEXIST);
    assert_string_equal(err.url, test_path("a.tar"));
}

static bool init_with(test_allocator *allocator, void *context)
{
    static const char *const names[] = {"a-{0..1}.tar", "b-{0..1}.tar"};
    fmt_alloc failing = test_fmt_alloc(allocator);
    shard_pack_opts opts = SHARD_PACK_OPTS_INIT;
    (void)context;
    opts.outs = names;
    opts.out_count = 2;
    shard_status status = pack_outs_init(&outs, &opts, &failing, NULL);
    assert_true(status == SHARD_OK || status == SHARD_ENOMEM);
    if (status == SHARD_OK)
        pack_outs_clear(&outs);
    return status == SHARD_OK;
}

static void short_memory_is_told(void **state)
{
    (void)state;
    assert_in_range(test_every_allocation(init_with, NULL), 1, 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(names_say_shards_codec_and_manifest, setup),
        cmocka_unit_test_setup(a_counter_goes_on_without_end, setup),
        cmocka_unit_test_setup(standard_output_is_alone, setup),
        cmocka_unit_test_setup(an_option_overrules_suffixes, setup),
        cmocka_unit_test_setup(a_manifest_may_have_a_name_of_its_own, setup),
        cmocka_unit_test_setup(parts_have_manifests_of_their_own, setup),
        cmocka_unit_test_setup(names_that_do_not_go_together_are_refused, setup),
        cmocka_unit_test_setup(a_name_stands_once, setup),
        cmocka_unit_test_setup(long_names_are_refused, setup),
        cmocka_unit_test_setup(what_is_there_is_named, setup),
        cmocka_unit_test_setup(short_memory_is_told, setup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
