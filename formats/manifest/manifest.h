/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The manifest of a shardset, `NAME.shards.json`: what shards there are, how many samples and bytes
 * each holds, and what a sample is made of. Specification: docs/format/manifest.md.
 */
#ifndef FMT_MANIFEST_H
#define FMT_MANIFEST_H

#include "arena.h"
#include "json/json.h"

enum {
    FMT_MANIFEST_VERSION = 1,
    FMT_MANIFEST_HASH_SIZE = 16,
    FMT_MANIFEST_SHARDS_MAX = 100000000,
};

typedef struct {
    uint64_t samples;
    uint64_t bytes;                       /* of the stored shard */
    uint8_t hash[FMT_MANIFEST_HASH_SIZE]; /* XXH3-128 of the stored shard */
    const char *name;                     /* relative to the manifest's folder */
    const char *first_key;                /* where keys ascend through the set; else NULL */
} fmt_manifest_shard;

typedef struct {
    const char *name;
    uint64_t count, bytes;
} fmt_manifest_component;

/* A file or sample that was left out, and why. */
typedef struct {
    const char *name, *reason;
} fmt_manifest_skip;

typedef struct {
    uint64_t samples, bytes; /* of all shards */
    bool has_hashes;
    bool sorted;          /* keys ascend through the whole set, so first keys find a key's shard */
    const char *last_key; /* of the whole set, where sorted and not empty; else NULL */

    fmt_manifest_shard *shard;
    size_t shards;
    fmt_manifest_component *component; /* by name, ascending */
    size_t components;
    const char **class_name; /* of the numbers in `.cls` */
    size_t classes;
    fmt_manifest_skip *skip;
    size_t skips;
    uint32_t part, parts;    /* part 0 of 0: the set is whole */
    const char *pack_digest; /* the same in all parts of a set; NULL: unknown */
    const char *pattern; /* "out-{000..099}.tar", where all names follow it in order; else NULL */

    fmt_arena arena; /* of all the above, where fmt_manifest_parse made it */
} fmt_manifest;

/* Empty, and ready to be parsed into or filled in by hand. */
void fmt_manifest_init(fmt_manifest *manifest, const fmt_alloc *alloc);

/* Free what the arena holds; also after a parse that failed. */
void fmt_manifest_clear(fmt_manifest *manifest);

/* Parse a manifest. A fault names the key it is about. */
fmt_status fmt_manifest_parse(fmt_manifest *out, fmt_span text, fmt_fault *fault);

/* True for a relative name that stays below its folder: no "..", no absolute path, no URL. */
bool fmt_manifest_name_ok(const char *name, size_t size);

/*
 * Write a manifest, one key a line; the same contents give the same bytes. FMT_END when `sink`
 * answered false. Totals are written as they stand in the struct.
 */
fmt_status fmt_manifest_write(const fmt_manifest *manifest, fmt_json_sink sink, void *context);

#endif
