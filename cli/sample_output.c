/* SPDX-License-Identifier: Apache-2.0 */
#include "sample_output.h"

#include <stdlib.h>
#include <string.h>

#include "record.h"

/* ---- tar ---- */

static bool write_stdout(void *context, const void *bytes, size_t size)
{
    (void)context;
    return fwrite(bytes, 1, size, stdout) == size;
}

static int write_members(const cli *c, const shard_sample *sample)
{
    shard_error err;
    shard_status status = shard_sample_to_members(sample, write_stdout, NULL, &err);
    return status == SHARD_OK ? EXIT_OK : cli_error(c, &err);
}

/* ---- JSON ---- */

static char *to_base64(const unsigned char *in, size_t size)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char *out = cli_allocate((size + 2) / 3 * 4 + 1, 1), *at = out;
    for (size_t i = 0; i < size; i += 3) {
        size_t n = size - i < 3 ? size - i : 3;
        unsigned bits = (unsigned)in[i] << 16 | (n > 1 ? (unsigned)in[i + 1] << 8 : 0) |
                        (n > 2 ? in[i + 2] : 0);
        *at++ = digits[bits >> 18];
        *at++ = digits[bits >> 12 & 63];
        *at++ = n > 1 ? digits[bits >> 6 & 63] : '=';
        *at++ = n > 2 ? digits[bits & 63] : '=';
    }
    *at = 0;
    return out;
}

static void print_object(const shard_sample *sample, uint64_t id)
{
    record *line = record_new();
    record_name(line, "key", sample->key, sample->key_size);
    if (id == SHARD_UNKNOWN)
        record_null(line, "id");
    else
        record_number(line, "id", id);
    record *components = record_object(line, "components");
    for (size_t i = 0; i < sample->count; i++) {
        const shard_sample_component *component = &sample->components[i];
        if (record_exact_text(components, component->name, component->data, component->size))
            continue;
        char *text = to_base64(component->data, component->size);
        record_text(record_object(components, component->name), "base64", text);
        free(text);
    }
    record_print(line, stdout);
}

/* ---- a batch ---- */

static int write_sample(const cli *c, sample_output kind, const shard_batch *batch, uint32_t row)
{
    switch (kind) {
    case SAMPLE_OUTPUT_KEYS:
        text_print_name(stdout, batch->keys[row], strlen(batch->keys[row]));
        putchar('\n');
        return EXIT_OK;
    case SAMPLE_OUTPUT_TAR:
        return write_members(c, &batch->samples[row]);
    case SAMPLE_OUTPUT_JSONL:
        print_object(&batch->samples[row], batch->ids[row]);
        return EXIT_OK;
    default:
        return EXIT_OK;
    }
}

int sample_output_batch(const cli *c, sample_output kind, const shard_batch *batch)
{
    int code = EXIT_OK;
    for (uint32_t row = 0; row < batch->rows && code == EXIT_OK; row++)
        if (batch->valid[row])
            code = write_sample(c, kind, batch, row);
    if (code == EXIT_OK && ferror(stdout)) {
        shard_error err = {.status = SHARD_EIO,
                           .offset = SHARD_NO_OFFSET,
                           .message = "cannot write to standard output"};
        return cli_error(c, &err);
    }
    return code;
}

void sample_output_end(sample_output kind)
{
    static const char end_mark[1024];
    if (kind == SAMPLE_OUTPUT_TAR)
        fwrite(end_mark, 1, sizeof end_mark, stdout);
}
