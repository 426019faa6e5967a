/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A shard read from front to end: a local file, a pipe or standard input; plain, zstd, gzip, or
 * whatever libarchive decompresses; indexed or not.
 *
 * Reading is strict: truncation at any byte, a bad checksum, data behind the end mark, and what the
 * tar readers of the field read in different ways are errors that name the offset. Format:
 * docs/format/tar.md, docs/format/naming.md.
 */
#ifndef SHARD_READER_H
#define SHARD_READER_H

#include <shard/cancel.h>
#include <shard/codec.h>
#include <shard/memory.h>
#include <shard/status.h>

SHARD_BEGIN_DECLS

/** Not thread-safe: one thread at a time. Any number of readers may run side by side. */
typedef struct shard_reader shard_reader;

typedef struct shard_reader_opts {
    size_t size;                      /**< of this struct; SHARD_READER_OPTS_INIT sets it */
    const shard_allocator *allocator; /**< NULL: malloc */
    const shard_cancel *cancel;       /**< NULL: cannot be cancelled */
    bool missing_end_ok; /**< accept a tar that stops at a member's edge without its end mark */
} shard_reader_opts;

#define SHARD_READER_OPTS_INIT            \
    {                                     \
        .size = sizeof(shard_reader_opts) \
    }

/** As the type letter of the tar header says. */
typedef enum shard_member_kind {
    SHARD_MEMBER_FILE,
    SHARD_MEMBER_DIRECTORY,
    SHARD_MEMBER_HARD_LINK,
    SHARD_MEMBER_SYMBOLIC_LINK,
    SHARD_MEMBER_SPECIAL, /**< device or fifo */
    SHARD_MEMBER_OTHER,   /**< a type letter without a meaning here; its payload is data */
} shard_member_kind;

/** One member of the tar. Pointers are valid until the next shard_reader_next. */
typedef struct shard_member {
    const char *path; /**< as stored; never to be used as a path to write to */
    size_t path_size; /**< a NUL follows these bytes */
    shard_member_kind kind;
    uint64_t header_offset;  /**< in the tar, of its first block, extended headers included */
    uint64_t payload_offset; /**< in the tar */
    uint64_t payload_size;

    bool is_component;  /**< a file whose name has a key and a component; else the rest is unset */
    bool begins_sample; /**< its key is not that of the component before it */
    size_t key_size;    /**< the key is the first bytes of `path` */
    const char *component; /**< lower-case, NUL-terminated */
} shard_member;

/**
 * Open a shard. `url` is a path, a file:// URL or "-" for standard input. `opts` may be NULL.
 * Errors: SHARD_ENOTFOUND, SHARD_EIO, SHARD_ETRUNCATED for an empty file, SHARD_ENOMEM.
 */
SHARD_NODISCARD SHARD_API shard_status shard_reader_open(shard_reader **out, const char *url,
                                                         const shard_reader_opts *opts,
                                                         shard_error *err);

/** NULL is allowed. */
SHARD_API void shard_reader_close(shard_reader *reader);

/**
 * Go to the next member; what was not read of the last one's payload is passed over. SHARD_END when
 * the archive is complete: its end mark was read and nothing but zeros follows. Errors:
 * SHARD_EFORMAT, SHARD_ETRUNCATED, SHARD_ECHECKSUM, SHARD_EUNSUPPORTED, SHARD_ELIMIT, SHARD_EIO,
 * SHARD_ECANCEL. After an error the reader can only be closed.
 */
SHARD_NODISCARD SHARD_API shard_status shard_reader_next(shard_reader *reader, shard_member *out,
                                                         shard_error *err);

/**
 * The next piece of the present member's payload, in place: valid until the next call. Pieces come
 * in order and add up to payload_size; size 0 follows the last. Errors as shard_reader_next.
 */
SHARD_NODISCARD SHARD_API shard_status shard_reader_payload(shard_reader *reader, const void **data,
                                                            size_t *size, shard_error *err);

/** How the shard is compressed, told by its first bytes. */
SHARD_API shard_codec shard_reader_codec(const shard_reader *reader);

SHARD_END_DECLS

#endif
