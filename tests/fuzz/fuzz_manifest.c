/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The manifest. Each input is parsed as it stands, and once more with its counts and totals made to
 * fit its columns, which no mutation would. What parses is written and parsed again, and must then
 * be written as the same text.
 */
#include "fuzz.h"

#include "core/alloc.h"
#include "manifest/manifest.h"

static void check_values(const fmt_manifest *m)
{
    uint64_t samples = 0, bytes = 0;
    for (size_t i = 0; i < m->shards; i++) {
        samples += m->shard[i].samples;
        bytes += m->shard[i].bytes;
        FUZZ_CHECK(fmt_manifest_name_ok(m->shard[i].name, strlen(m->shard[i].name)));
        FUZZ_CHECK(!m->sorted || m->shard[i].first_key);
    }
    FUZZ_CHECK(samples == m->samples && bytes == m->bytes);
    FUZZ_CHECK(m->part <= m->parts && (m->parts == 0 || m->part > 0));
}

/* False where the text is refused; else what the writer makes of it. */
static bool rewrite(fmt_span text, fuzz_text *out)
{
    fmt_alloc alloc = shard_alloc_from(NULL);
    fmt_manifest manifest;
    fmt_fault fault = {0};
    fmt_manifest_init(&manifest, &alloc);
    fmt_status status = fmt_manifest_parse(&manifest, text, &fault);
    if (status == FMT_OK) {
        check_values(&manifest);
        FUZZ_CHECK(fmt_manifest_write(&manifest, fuzz_put, out) == FMT_OK);
    } else {
        FUZZ_CHECK(fault.what);
    }
    fmt_manifest_clear(&manifest);
    return status == FMT_OK;
}

static void try_manifest(fmt_span text)
{
    fuzz_text first = {0}, second = {0};
    if (rewrite(text, &first)) {
        FUZZ_CHECK(rewrite(fuzz_text_span(&first), &second));
        FUZZ_CHECK(fuzz_same(fuzz_text_span(&first), fuzz_text_span(&second)));
    }
    free(first.bytes);
    free(second.bytes);
}

/* Set `total` to the sum of a column, where that is one. */
static void mend_total(fmt_json *root, const char *column, const char *total)
{
    const fmt_json *array = fmt_json_get(root, column);
    uint64_t sum = 0;
    for (size_t i = 0; array && i < fmt_json_size(array); i++) {
        const fmt_json *value = fmt_json_at(array, i);
        sum += value ? (uint64_t)fmt_json_integer(value) : 0;
    }
    fmt_json_set(root, total, fmt_json_new_integer((int64_t)(sum & INT64_MAX)));
}

static void try_mended(fmt_json *root)
{
    fuzz_text text = {0};
    const fmt_json *samples = fmt_json_get(root, "shard_samples");
    if (samples)
        fmt_json_set(root, "shards", fmt_json_new_integer((int64_t)fmt_json_size(samples)));
    mend_total(root, "shard_samples", "samples");
    mend_total(root, "shard_bytes", "bytes");
    FUZZ_CHECK(fmt_json_write(root, fuzz_put, &text) == FMT_OK);
    try_manifest(fuzz_text_span(&text));
    free(text.bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fmt_json *root;
    fmt_fault fault;
    try_manifest((fmt_span){data, size});
    if (fmt_json_parse(&root, (fmt_span){data, size}, &fault) != FMT_OK)
        return 0;
    if (fmt_json_kind_of(root) == FMT_JSON_OBJECT)
        try_mended(root);
    fmt_json_free(root);
    return 0;
}
