/* SPDX-License-Identifier: Apache-2.0 */
/* Tar archives in memory, byte by byte: what our writer never makes and others might. */
#ifndef TEST_TAR_BYTES_H
#define TEST_TAR_BYTES_H

#include <stddef.h>
#include <stdint.h>

typedef struct {
    uint8_t *bytes;
    size_t size, capacity;
} tar_bytes;

/* All die with abort() when memory is short: they are for tests. */
void tar_bytes_free(tar_bytes *tar);
void tar_bytes_add(tar_bytes *tar, const void *bytes, size_t size);
void tar_bytes_zeros(tar_bytes *tar, size_t size);

/* A ustar header block with this size field, and its checksum. Returns its offset. */
size_t tar_bytes_header(tar_bytes *tar, char type, const char *name, uint64_t size);

/* Write over a field of the header block at `offset` and mend its checksum. */
void tar_bytes_patch(tar_bytes *tar, size_t offset, size_t field, const void *bytes, size_t size);

/* Payload and padding. */
void tar_bytes_payload(tar_bytes *tar, const void *bytes, size_t size);

/* Header, payload, padding of a regular file. */
void tar_bytes_file(tar_bytes *tar, const char *name, const char *text);

/* A pax header of type `type` ('x' or 'g') whose body is `records`. */
void tar_bytes_pax(tar_bytes *tar, char type, const char *records, size_t size);

/* A GNU 'L' or 'K' member; the NUL is added. */
void tar_bytes_long(tar_bytes *tar, char type, const char *name);

/* The end mark. */
void tar_bytes_end(tar_bytes *tar);

#endif
