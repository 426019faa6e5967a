/* SPDX-License-Identifier: Apache-2.0 */
/**
 * File trees, tables and archives into shards: `shardtool pack` as a function.
 *
 * The same input and options give the same bytes, whatever the number of threads, and whether the
 * work was done at once, resumed after a kill, or divided among machines. Shards and their indexes
 * appear under their names whole; the manifest is written last.
 */
#ifndef SHARD_PACK_H
#define SHARD_PACK_H

#include <stddef.h>

#include <shard/cancel.h>
#include <shard/codec.h>
#include <shard/memory.h>
#include <shard/status.h>

SHARD_BEGIN_DECLS

typedef enum shard_pack_policy {
    SHARD_PACK_ERROR = 0, /**< stop */
    SHARD_PACK_SKIP = 1,  /**< leave the sample out, count it, list it in the manifest */
} shard_pack_policy;

typedef enum shard_pack_links {
    SHARD_PACK_LINKS_FOLLOW = 0, /**< pack what symbolic links lead to */
    SHARD_PACK_LINKS_SKIP = 1,
    SHARD_PACK_LINKS_ERROR = 2,
} shard_pack_links;

/** How far the work is. Called from any of pack's threads, one call at a time, at most every 50 ms.
 */
typedef struct shard_pack_progress {
    uint64_t samples;       /**< packed or skipped so far */
    uint64_t samples_total; /**< UINT64_MAX while it is not known */
    uint64_t bytes_in, bytes_out;
} shard_pack_progress;

typedef void (*shard_pack_progress_fn)(void *context, const shard_pack_progress *progress);

/** A shard that will be written, for dry runs: called in order. `samples` UINT64_MAX: not known. */
typedef void (*shard_pack_plan_fn)(void *context, const char *shard, uint64_t samples);

typedef struct shard_pack_opts {
    size_t size;                      /**< of this struct; SHARD_PACK_OPTS_INIT sets it */
    const shard_allocator *allocator; /**< NULL: malloc */
    const shard_cancel *cancel;       /**< NULL: cannot be cancelled */

    /* ---- what is packed: sources, or files_from, or table ---- */

    const char *const *sources; /**< directories and files, or archives; "-": a tar on stdin */
    size_t source_count;
    const char *files_from; /**< file with one path a line ("-": stdin); NULL: none */
    bool files_from_nul;    /**< its paths end with NUL bytes instead */
    const char *base;       /**< paths of files_from and of the table are relative to this folder */
    const char *table;      /**< .jsonl or .csv: a sample a row, in the order of the rows */
    const char *table_key;  /**< its column of keys; NULL: "key" or "__key__" */
    const char *const
        *table_files; /**< "COLUMN" or "COLUMN=COMPONENT": columns that are paths; none:
                         those whose value in the first row is an existing file */
    size_t table_file_count;
    const char *const *table_fields; /**< "COLUMN=COMPONENT": columns that become a component of
                                        their own; the others become `.json` */
    size_t table_field_count;

    /* ---- what becomes of names ---- */

    bool key_last_dot; /**< the key ends at the last dot of a file's name; else at the first */
    const char *const *renames; /**< "jpeg=jpg": components to be called otherwise */
    size_t rename_count;
    shard_pack_links links;

    /* ---- what a sample is ---- */

    bool label_from_dir;        /**< add `.cls`, the number of the first folder in the key */
    const char *const *require; /**< components that each sample must have */
    size_t require_count;
    shard_pack_policy missing; /**< what if it has not */
    bool shuffle;              /**< in a random order that `seed` decides; else ascending keys */
    uint64_t seed;

    /* ---- images ---- */

    bool jpeg_baseline;      /**< progressive JPEG to baseline, without loss */
    uint32_t resize_shorter; /**< scale JPEG down to this shorter side; 0: do not */
    uint32_t quality;        /**< of resized JPEG, 1 to 100; 0: 90 */
    bool strip;              /**< drop JPEG metadata but ICC profile and orientation */

    /* ---- where it goes ---- */

    const char *const
        *outs; /**< one or several names or patterns, of .tar, .tar.zst or .tar.gz shards;
                  "%06d": as many as needed; "-": one tar on stdout, without an index */
    size_t out_count;
    bool has_codec; /**< use `codec`, whatever the names say */
    shard_codec codec;
    int level;            /**< of zstd (1 to 19) or gzip (1 to 9); 0: 3 and 6 */
    const char *manifest; /**< NULL: named after the shards */
    uint64_t max_size;    /**< bytes of tar a shard, with a counter in the name; 0: no limit */
    uint64_t max_samples; /**< samples a shard, likewise */
    uint64_t mtime;       /**< of all members, in seconds since 1970 */

    /* ---- how ---- */

    uint32_t part, parts;       /**< pack the shards of part 1..parts only; 0 of 0: all */
    shard_pack_policy on_error; /**< what if a file cannot be read or an image not decoded */
    bool resume;                /**< go on where a killed run stopped */
    bool force;                 /**< replace shards that exist */
    bool sync;                  /**< fsync each file before it gets its name */
    bool dry_run;               /**< plan only: no file is touched */
    uint32_t threads;           /**< 0: as many as there are cores */
    uint64_t memory; /**< bytes for buffers and images, apart from the list of names; 0: 32 MiB a
                          thread, and up to 256 MiB a thread for an image that is worked on */
    shard_pack_progress_fn on_progress;
    shard_pack_plan_fn on_plan;
    void *context; /**< of both */
} shard_pack_opts;

#define SHARD_PACK_OPTS_INIT            \
    {                                   \
        .size = sizeof(shard_pack_opts) \
    }

typedef struct shard_pack_summary {
    uint64_t samples, shards;
    uint64_t bytes_in;  /**< of the files and rows packed */
    uint64_t bytes_out; /**< of the shards */
    uint64_t skipped;   /**< samples left out by `missing` or `on_error` */
    uint64_t ignored_no_extension, ignored_hidden, ignored_reserved, ignored_special; /**< files */
    uint64_t renamed; /**< samples whose key had a dot or control character replaced */
    uint64_t classes; /**< class folders, with label_from_dir */
    uint64_t resumed; /**< shards that an earlier run had written */
    uint64_t jpeg_baselined, jpeg_resized, jpeg_stripped, images_kept; /**< with an image option */
    bool labels_clustered; /**< neighbours share labels far more often than chance: see `shuffle` */
    char manifest[4096];   /**< path of the manifest, "" where none was written */
} shard_pack_summary;

/**
 * Pack. Returns when all is written, or at the first error; then shards that were complete stay and
 * `resume` goes on from there. `summary` is filled as far as the work came.
 * Errors: SHARD_EINVAL (options), SHARD_ENOTFOUND and SHARD_EIO (files), SHARD_EEXIST (outputs,
 * without `force` or `resume`), SHARD_EBUSY (another pack on the same outputs), SHARD_EDATA
 * (samples: missing or repeated components, names that collide, images that cannot be decoded,
 * files that change while they are read, another input on resume), SHARD_ELIMIT, SHARD_ECANCEL,
 * SHARD_ENOMEM.
 */
SHARD_NODISCARD SHARD_API shard_status shard_pack(const shard_pack_opts *opts,
                                                  shard_pack_summary *summary, shard_error *err);

SHARD_END_DECLS

#endif
