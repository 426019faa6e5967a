/* SPDX-License-Identifier: Apache-2.0 */
/* What a loader delivered, row after row, to be compared. What is not said to fail dies. */
#ifndef TEST_DELIVERY_H
#define TEST_DELIVERY_H

#include <shard/loader.h>

enum { DELIVERY_KEY = 24 };

typedef struct {
    uint64_t epoch, position; /* of its batch */
    uint64_t id;
    bool valid;
    char key[DELIVERY_KEY];
    uint32_t sum; /* of all bytes of its tensors or components, and of their names */
} delivered_row;

/* Starts as zeros. */
typedef struct {
    delivered_row *row;
    size_t rows, capacity, batches, valid;
} delivery;

void delivery_clear(delivery *d);

/* Shards, patterns or a manifest of the test's folder; the list ends with NULL. */
shard_status test_open_loader(shard_loader **out, const char *const *names,
                              const shard_loader_opts *opts, shard_error *err);

/* A loader that opens, or the test dies. */
shard_loader *test_loader(const char *const *names, const shard_loader_opts *opts);

/* Take up to `batches` batches, each released at once, and check what all batches must be like.
 * What shard_loader_next said last. */
shard_status delivery_take(delivery *d, shard_loader *loader, size_t batches, shard_error *err);

/* An epoch, which must end well. */
void delivery_take_epoch(delivery *d, shard_loader *loader);

/* Deliver so many batches and stop in mid-flight; the state that is left. */
void delivery_stop_after(delivery *d, const char *const *names, const shard_loader_opts *opts,
                         size_t batches, char state[SHARD_STATE_SIZE]);

/* One row. */
void delivery_add(delivery *d, const shard_batch *batch, uint32_t row);

/* All that a loader of these options delivers in its first epoch. */
delivery test_deliver(const char *const *names, const shard_loader_opts *opts);

/* Whether the valid rows are the same in the same order, whatever the batches. */
bool delivery_same_samples(const delivery *a, const delivery *b);

/* Whether all rows are, and in the same batches. */
bool delivery_same(const delivery *a, const delivery *b);

/* The ids of valid rows, sorted, in memory of the caller's: room for `rows` of them. */
void delivery_sorted_ids(const delivery *d, uint64_t *ids);

#endif
