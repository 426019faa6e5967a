/* SPDX-License-Identifier: Apache-2.0 */
#include "delivery.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/crc32c.h"
#include "files.h"
#include "test.h"

enum { NAMES_MAX = 16, PATH_MAX_SIZE = 600 };

void delivery_clear(delivery *d)
{
    free(d->row);
    *d = (delivery){0};
}

/* ---- opening ---- */

shard_status test_open_loader(shard_loader **out, const char *const *names,
                              const shard_loader_opts *opts, shard_error *err)
{
    char paths[NAMES_MAX][PATH_MAX_SIZE];
    const char *pointers[NAMES_MAX];
    size_t count = 0;
    for (; names[count]; count++) {
        assert_true(count < NAMES_MAX);
        snprintf(paths[count], sizeof paths[count], "%s", test_path(names[count]));
        pointers[count] = paths[count];
    }
    return shard_loader_open(out, pointers, count, opts, err);
}

shard_loader *test_loader(const char *const *names, const shard_loader_opts *opts)
{
    shard_loader *loader;
    shard_error err;
    if (test_open_loader(&loader, names, opts, &err) != SHARD_OK)
        fail_msg("cannot open the loader: %s", err.message);
    return loader;
}

/* ---- rows ---- */

static uint32_t sum_tensor(uint32_t sum, const shard_tensor *t, uint32_t row)
{
    sum = shard_crc32c(sum, t->name, strlen(t->name));
    if (t->offsets)
        return t->lengths[row] > 0
                   ? shard_crc32c(sum, (uint8_t *)t->data + t->offsets[row], t->lengths[row])
                   : sum;
    size_t size = (size_t)t->stride[0] * shard_dtype_size(t->dtype);
    return shard_crc32c(sum, (uint8_t *)t->data + row * size, size);
}

static uint32_t sum_row(const shard_batch *batch, uint32_t row)
{
    uint32_t sum = 0;
    for (size_t t = 0; t < batch->tensor_count; t++)
        sum = sum_tensor(sum, &batch->tensors[t], row);
    for (size_t c = 0; batch->samples && c < batch->samples[row].count; c++) {
        const shard_sample_component *component = &batch->samples[row].components[c];
        sum = shard_crc32c(sum, component->name, strlen(component->name));
        sum = shard_crc32c(sum, component->data, component->size);
    }
    return sum;
}

void delivery_add(delivery *d, const shard_batch *batch, uint32_t row)
{
    if (d->rows == d->capacity) {
        d->capacity = d->capacity * 2 + 64;
        d->row = realloc(d->row, d->capacity * sizeof *d->row);
        assert_non_null(d->row);
    }
    delivered_row *r = &d->row[d->rows++];
    memset(r, 0, sizeof *r); /* they are compared as bytes */
    r->epoch = batch->epoch;
    r->position = batch->position;
    r->id = batch->ids[row];
    r->valid = batch->valid[row];
    assert_true(strlen(batch->keys[row]) < sizeof r->key);
    memcpy(r->key, batch->keys[row], strlen(batch->keys[row]));
    r->sum = sum_row(batch, row);
    d->valid += batch->valid[row];
}

static void check_batch(const shard_batch *batch)
{
    uint32_t valid = 0;
    for (uint32_t row = 0; row < batch->rows; row++) {
        valid += batch->valid[row];
        if (batch->valid[row])
            continue;
        assert_true(batch->ids[row] == SHARD_UNKNOWN);
        assert_string_equal(batch->keys[row], "");
    }
    assert_int_equal(valid, batch->valid_count);
    for (size_t t = 0; t < batch->tensor_count; t++)
        assert_int_equal(batch->tensors[t].shape[0], batch->rows);
}

shard_status delivery_take(delivery *d, shard_loader *loader, size_t batches, shard_error *err)
{
    for (; batches > 0; batches--) {
        const shard_batch *batch;
        shard_status status = shard_loader_next(loader, &batch, err);
        if (status != SHARD_OK) {
            assert_null(batch);
            return status;
        }
        check_batch(batch);
        for (uint32_t row = 0; row < batch->rows; row++)
            delivery_add(d, batch, row);
        d->batches++;
        shard_loader_release(loader, batch);
    }
    return SHARD_OK;
}

void delivery_stop_after(delivery *d, const char *const *names, const shard_loader_opts *opts,
                         size_t batches, char state[SHARD_STATE_SIZE])
{
    shard_loader *loader = test_loader(names, opts);
    shard_error err;
    assert_int_equal(delivery_take(d, loader, batches, &err), SHARD_OK);
    assert_int_equal(shard_loader_get_state(loader, state, &err), SHARD_OK);
    shard_loader_close(loader);
}

void delivery_take_epoch(delivery *d, shard_loader *loader)
{
    shard_error err;
    shard_status status = delivery_take(d, loader, SIZE_MAX, &err);
    if (status != SHARD_END)
        fail_msg("%s: %s", shard_status_name(status), err.message);
}

delivery test_deliver(const char *const *names, const shard_loader_opts *opts)
{
    delivery d = {0};
    shard_loader *loader = test_loader(names, opts);
    delivery_take_epoch(&d, loader);
    shard_loader_close(loader);
    return d;
}

/* ---- comparing ---- */

static const delivered_row *next_valid(const delivery *d, size_t *at)
{
    while (*at < d->rows && !d->row[*at].valid)
        ++*at;
    return *at < d->rows ? &d->row[(*at)++] : NULL;
}

bool delivery_same_samples(const delivery *a, const delivery *b)
{
    size_t i = 0, j = 0;
    for (;;) {
        const delivered_row *x = next_valid(a, &i), *y = next_valid(b, &j);
        if (!x || !y)
            return !x && !y;
        if (x->id != y->id || x->sum != y->sum || strcmp(x->key, y->key) != 0)
            return false;
    }
}

bool delivery_same(const delivery *a, const delivery *b)
{
    return a->rows == b->rows && memcmp(a->row, b->row, a->rows * sizeof *a->row) == 0;
}

static int compare(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

void delivery_sorted_ids(const delivery *d, uint64_t *ids)
{
    size_t count = 0;
    for (size_t i = 0; i < d->rows; i++)
        if (d->row[i].valid)
            ids[count++] = d->row[i].id;
    qsort(ids, count, sizeof *ids, compare);
}
