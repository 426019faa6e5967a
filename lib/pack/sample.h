/* SPDX-License-Identifier: Apache-2.0 */
/* A sample on its way from an input into a shard: names as they will be stored, and where bytes
 * are. */
#ifndef PACK_SAMPLE_H
#define PACK_SAMPLE_H

#include "core/alloc.h"
#include "core/error.h"
#include "naming/sample_name.h"

typedef struct {
    char name[FMT_COMPONENT_MAX + 1]; /* as it will be stored: lower case, renamed */

    /* Where its bytes are: a file to open, an open file, or memory. */
    const char *path; /* relative to `folder`; NULL: not to be opened */
    int folder;
    const char *folder_path; /* for errors; NULL: of no folder */
    int file;                /* an open file, closed with the sample; -1: none */
    const uint8_t *data;
    size_t size;   /* of data, or of the open file */
    size_t offset; /* of data in the sample's `bytes`, until pack_sample_settle */
    bool in_bytes;
} pack_component;

/* Memory is kept from one sample to the next: nothing is allocated in steady state. */
typedef struct {
    char key[FMT_KEY_MAX + 1]; /* as it will be stored */
    size_t key_size;
    bool renamed;              /* a byte of it was replaced */
    pack_component *component; /* ascending by name */
    size_t components, capacity;
    uint8_t *bytes; /* room for contents that the input makes up */
    size_t bytes_size, bytes_capacity;
    fmt_alloc alloc;
} pack_sample;

void pack_sample_init(pack_sample *sample, const fmt_alloc *alloc);
void pack_sample_clear(pack_sample *sample);

/*
 * Begin anew, with this key; dots and control characters in it are replaced. SHARD_EDATA where that
 * gives none that can be read back.
 */
shard_status pack_sample_begin(pack_sample *sample, const char *key, size_t key_size,
                               shard_error *err);

/*
 * Add a component, in any order. `*out` is to be filled before the next call, which may move it.
 * SHARD_EDATA: the sample has one of this name, or the name cannot be one.
 */
shard_status pack_sample_add(pack_sample *sample, const char *name, size_t name_size,
                             pack_component **out, shard_error *err);

/* `bytes` will move no more: let the components that are in it point to their places. */
void pack_sample_settle(pack_sample *sample);

/* The component of this name, or NULL. */
pack_component *pack_sample_find(const pack_sample *sample, const char *name);

/* Fail over this sample: "KEY: ..." */
SHARD_PRINTF(4, 5)
shard_status pack_sample_fail(const pack_sample *sample, shard_status status, shard_error *err,
                              const char *text, ...);

#endif
