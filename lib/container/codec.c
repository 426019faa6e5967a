/* SPDX-License-Identifier: Apache-2.0 */
#include <shard/codec.h>

#include <string.h>

#include "container/decoder.h"

typedef struct {
    uint8_t bytes[6];
    uint8_t size;
    shard_codec codec;
} magic;

static const magic magics[] = {
    {{0x28, 0xb5, 0x2f, 0xfd}, 4, SHARD_CODEC_ZSTD},          /* RFC 8878 */
    {{0x1f, 0x8b}, 2, SHARD_CODEC_GZIP},                      /* RFC 1952 */
    {{0xfd, '7', 'z', 'X', 'Z', 0x00}, 6, SHARD_CODEC_OTHER}, /* xz */
    {{'B', 'Z', 'h'}, 3, SHARD_CODEC_OTHER},                  /* bzip2 */
    {{0x04, 0x22, 0x4d, 0x18}, 4, SHARD_CODEC_OTHER},         /* lz4 */
    {{'L', 'Z', 'I', 'P'}, 4, SHARD_CODEC_OTHER},             /* lzip */
};

shard_codec shard_codec_detect(const uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < sizeof magics / sizeof *magics; i++)
        if (size >= magics[i].size && memcmp(bytes, magics[i].bytes, magics[i].size) == 0)
            return magics[i].codec;
    /* Sixteen magic numbers introduce a skippable zstd frame; some writers begin with one. */
    if (size >= 4 && (fmt_load32(bytes) & 0xfffffff0u) == 0x184d2a50u)
        return SHARD_CODEC_ZSTD;
    return SHARD_CODEC_PLAIN;
}

const char *shard_codec_name(shard_codec codec)
{
    switch (codec) {
    case SHARD_CODEC_PLAIN:
        return "tar";
    case SHARD_CODEC_ZSTD:
        return "tar.zst";
    case SHARD_CODEC_GZIP:
        return "tar.gz";
    case SHARD_CODEC_OTHER:
        break;
    }
    return "other";
}
