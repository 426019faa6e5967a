/* SPDX-License-Identifier: Apache-2.0 */
/* CSV: records cover the text, and fields written with quotes are read as they were. */
#include "fuzz.h"

#include "pack/input/csv.h"

/* The fields of a record, written again with quotes. */
typedef struct {
    fuzz_text text;
    size_t fields;
} rewriting;

static shard_status put_field(void *context, size_t number, const char *text, size_t size)
{
    rewriting *r = context;
    FUZZ_CHECK(number == r->fields++);
    fuzz_put(&r->text, number == 0 ? "\"" : ",\"", number == 0 ? 1 : 2);
    for (size_t i = 0; i < size; i++)
        fuzz_put(&r->text, text[i] == '"' ? "\"\"" : text + i, text[i] == '"' ? 2 : 1);
    fuzz_put(&r->text, "\"", 1);
    return SHARD_OK;
}

static void check_record(fmt_span record)
{
    rewriting once = {0}, twice = {0};
    uint8_t *copy = fuzz_copy(record.data, record.size);
    shard_status status = pack_csv_fields((fmt_span){copy, record.size}, put_field, &once);
    FUZZ_CHECK(status == SHARD_OK || status == SHARD_EFORMAT);
    if (status == SHARD_OK && once.fields > 0) {
        fmt_span text = fuzz_text_span(&once.text);
        FUZZ_CHECK(pack_csv_record(text) == text.size);
        FUZZ_CHECK(pack_csv_fields(text, put_field, &twice) == SHARD_OK);
        FUZZ_CHECK(twice.fields == once.fields);
        FUZZ_CHECK(fuzz_same(text, fuzz_text_span(&twice.text)));
    }
    free(once.text.bytes);
    free(twice.text.bytes);
    free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fmt_span rest = {data, size};
    while (rest.size > 0) {
        size_t record = pack_csv_record(rest);
        FUZZ_CHECK(record > 0 && record <= rest.size);
        check_record((fmt_span){rest.data, record});
        rest.data += record;
        rest.size -= record;
    }
    return 0;
}
