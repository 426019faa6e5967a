/* SPDX-License-Identifier: Apache-2.0 */
#include "tar_bytes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 512, CHECKSUM = 148 };

void tar_bytes_free(tar_bytes *tar)
{
    free(tar->bytes);
    *tar = (tar_bytes){0};
}

void tar_bytes_add(tar_bytes *tar, const void *bytes, size_t size)
{
    if (tar->size + size > tar->capacity) {
        tar->capacity = (tar->size + size) * 2;
        tar->bytes = realloc(tar->bytes, tar->capacity);
        if (!tar->bytes)
            abort();
    }
    if (size > 0)
        memcpy(tar->bytes + tar->size, bytes, size);
    tar->size += size;
}

void tar_bytes_zeros(tar_bytes *tar, size_t size)
{
    static const uint8_t zeros[BLOCK];
    for (; size > BLOCK; size -= BLOCK)
        tar_bytes_add(tar, zeros, BLOCK);
    tar_bytes_add(tar, zeros, size);
}

static void mend_checksum(uint8_t *block)
{
    unsigned sum = 0;
    memset(block + CHECKSUM, ' ', 8);
    for (int i = 0; i < BLOCK; i++)
        sum += block[i];
    snprintf((char *)block + CHECKSUM, 8, "%06o", sum);
}

size_t tar_bytes_header(tar_bytes *tar, char type, const char *name, uint64_t size)
{
    uint8_t block[BLOCK] = {0};
    size_t length = strlen(name);
    memcpy(block, name, length < 100 ? length : 100);
    memcpy(block + 100, "0000644", 7);
    snprintf((char *)block + 124, 12, "%011llo", (unsigned long long)size);
    block[156] = (uint8_t)type;
    memcpy(block + 257, "ustar\00000", 8);
    mend_checksum(block);
    tar_bytes_add(tar, block, BLOCK);
    return tar->size - BLOCK;
}

void tar_bytes_patch(tar_bytes *tar, size_t offset, size_t field, const void *bytes, size_t size)
{
    memcpy(tar->bytes + offset + field, bytes, size);
    mend_checksum(tar->bytes + offset);
}

void tar_bytes_payload(tar_bytes *tar, const void *bytes, size_t size)
{
    tar_bytes_add(tar, bytes, size);
    tar_bytes_zeros(tar, (BLOCK - size % BLOCK) % BLOCK);
}

void tar_bytes_file(tar_bytes *tar, const char *name, const char *text)
{
    tar_bytes_header(tar, '0', name, strlen(text));
    tar_bytes_payload(tar, text, strlen(text));
}

void tar_bytes_pax(tar_bytes *tar, char type, const char *records, size_t size)
{
    tar_bytes_header(tar, type, "PaxHeaders/x", size);
    tar_bytes_payload(tar, records, size);
}

void tar_bytes_long(tar_bytes *tar, char type, const char *name)
{
    size_t header = tar_bytes_header(tar, type, "././@LongLink", strlen(name) + 1);
    tar_bytes_patch(tar, header, 257, "ustar  ", 8);
    tar_bytes_payload(tar, name, strlen(name) + 1);
}

void tar_bytes_end(tar_bytes *tar)
{
    tar_bytes_zeros(tar, 2 * BLOCK);
}
