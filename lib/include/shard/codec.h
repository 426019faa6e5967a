/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHARD_CODEC_H
#define SHARD_CODEC_H

#include <shard/attrs.h>

SHARD_BEGIN_DECLS

/** How a shard's bytes hold its tar. Values are those of the index format. */
typedef enum shard_codec {
    SHARD_CODEC_PLAIN = 0, /**< `.tar`: the tar itself */
    SHARD_CODEC_ZSTD = 1,  /**< `.tar.zst`: independent frames, a seek table at the end */
    SHARD_CODEC_GZIP = 2,  /**< `.tar.gz`: readable from the start only */
    SHARD_CODEC_OTHER = 3, /**< xz, bzip2, lz4: read through libarchive, from the start only */
} shard_codec;

/** "tar", "tar.zst", "tar.gz" or "other". Static text. Thread-safe. */
SHARD_API const char *shard_codec_name(shard_codec codec);

SHARD_END_DECLS

#endif
