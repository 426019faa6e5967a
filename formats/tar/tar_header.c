/* SPDX-License-Identifier: Apache-2.0 */
#include "tar/tar_header.h"

#include <string.h>

/* Field offsets and sizes: POSIX.1-2017, pax, table "ustar Header Block". */
enum {
    NAME = 0,
    NAME_SIZE = 100,
    MODE = 100,
    UID = 108,
    GID = 116,
    ID_SIZE = 8,
    SIZE = 124,
    MTIME = 136,
    NUMBER_SIZE = 12,
    CHECKSUM = 148,
    CHECKSUM_SIZE = 8,
    TYPE = 156,
    MAGIC = 257,
    MAGIC_SIZE = 8, /* magic and version */
    DEVICES = 329,
    PREFIX = 345,
    PREFIX_SIZE = 155,
};

static const char POSIX_MAGIC[] =
    "ustar"; /* then NUL and "00"; some writers leave the version out */
static const char GNU_MAGIC[] = "ustar  ";

#define OCTAL_MAX(digits) ((UINT64_C(1) << (3 * (digits))) - 1)

static size_t bounded_length(const uint8_t *field, size_t size)
{
    const uint8_t *end = memchr(field, 0, size);
    return end ? (size_t)(end - field) : size;
}

bool fmt_tar_is_zero_block(const uint8_t block[FMT_TAR_BLOCK])
{
    return block[0] == 0 && memcmp(block, block + 1, FMT_TAR_BLOCK - 1) == 0;
}

/* Octal digits with spaces or NULs around them; an empty field is 0. */
static bool parse_octal(const uint8_t *field, size_t size, uint64_t *out)
{
    size_t i = 0;
    uint64_t value = 0;
    while (i < size && (field[i] == ' ' || field[i] == 0))
        i++;
    for (; i < size && field[i] >= '0' && field[i] <= '7'; i++)
        value = value << 3 | (uint64_t)(field[i] - '0');
    while (i < size && (field[i] == ' ' || field[i] == 0))
        i++;
    *out = value;
    return i == size;
}

/* GNU base-256: the top bit marks it, the rest is a big-endian number in two's complement. */
static bool parse_base256(const uint8_t *field, size_t size, uint64_t *out)
{
    uint64_t value = 0;
    if (field[0] != 0x80)
        return false; /* negative, or more than 88 bits */
    for (size_t i = 1; i < size; i++) {
        if (value >> 55)
            return false; /* past INT64_MAX */
        value = value << 8 | field[i];
    }
    *out = value;
    return true;
}

static bool parse_number(const uint8_t *field, size_t size, uint64_t *out)
{
    return field[0] & 0x80 ? parse_base256(field, size, out) : parse_octal(field, size, out);
}

/* The sum of all bytes, the checksum field itself read as spaces. */
static uint32_t unsigned_sum(const uint8_t *block)
{
    uint32_t sum = 0;
    for (size_t i = 0; i < FMT_TAR_BLOCK; i++)
        sum += block[i];
    for (size_t i = CHECKSUM; i < CHECKSUM + CHECKSUM_SIZE; i++)
        sum += (uint32_t)' ' - block[i];
    return sum;
}

/* What some old Unix tars stored: the sum of signed chars. */
static uint32_t signed_sum(const uint8_t *block)
{
    uint32_t sum = unsigned_sum(block);
    for (size_t i = 0; i < FMT_TAR_BLOCK; i++)
        if (block[i] & 0x80 && (i < CHECKSUM || i >= CHECKSUM + CHECKSUM_SIZE))
            sum -= 256;
    return sum;
}

static fmt_status check_sum(const uint8_t *block, uint64_t offset, fmt_fault *fault)
{
    uint64_t stored;
    if (!parse_octal(block + CHECKSUM, CHECKSUM_SIZE, &stored))
        return fmt_fail(fault, FMT_EINVALID, "not a tar header (no checksum)", offset);
    uint32_t sum = unsigned_sum(block);
    if (sum == stored || signed_sum(block) == stored)
        return FMT_OK;
    return fmt_fail_values(fault, FMT_ECHECKSUM, "tar header checksum", offset, sum, stored);
}

static fmt_tar_kind kind_of(uint8_t type)
{
    switch (type) {
    case 0:
    case '0':
    case '7': /* contiguous file: POSIX says treat it as a regular one */
        return FMT_TAR_FILE;
    case '1':
        return FMT_TAR_HARD_LINK;
    case '2':
        return FMT_TAR_SYMBOLIC_LINK;
    case '3':
    case '4':
    case '6':
        return FMT_TAR_SPECIAL;
    case '5':
        return FMT_TAR_DIRECTORY;
    case 'x':
    case 'X': /* Solaris */
        return FMT_TAR_PAX;
    case 'g':
        return FMT_TAR_PAX_GLOBAL;
    case 'L':
        return FMT_TAR_GNU_LONG_NAME;
    case 'K':
        return FMT_TAR_GNU_LONG_LINK;
    case 'S':
        return FMT_TAR_GNU_SPARSE;
    default:
        return FMT_TAR_OTHER;
    }
}

/* The path: name, after prefix and '/' in ustar. GNU keeps other fields where ustar has prefix. */
static void copy_path(const uint8_t *block, fmt_tar_header *out)
{
    size_t n = 0;
    bool ustar = memcmp(block + MAGIC, POSIX_MAGIC, sizeof POSIX_MAGIC) == 0;
    if (ustar && block[PREFIX] != 0) {
        n = bounded_length(block + PREFIX, PREFIX_SIZE);
        memcpy(out->path, block + PREFIX, n);
        out->path[n++] = '/';
    }
    size_t name = bounded_length(block + NAME, NAME_SIZE);
    memcpy(out->path + n, block + NAME, name);
    out->path_size = n + name;
    out->path[out->path_size] = 0;
}

fmt_status fmt_tar_header_parse(const uint8_t block[FMT_TAR_BLOCK], uint64_t offset,
                                fmt_tar_header *out, fmt_fault *fault)
{
    fmt_status status = check_sum(block, offset, fault);
    if (status != FMT_OK)
        return status;
    if (!parse_number(block + SIZE, NUMBER_SIZE, &out->size))
        return fmt_fail(fault, FMT_EINVALID, "tar header: size is not a number in range", offset);
    out->kind = kind_of(block[TYPE]);
    copy_path(block, out);
    return FMT_OK;
}

/* ---- writing ---- */

/* `width` - 1 octal digits and a NUL. */
static void put_octal(uint8_t *field, size_t width, uint64_t value)
{
    field[--width] = 0;
    while (width-- > 0) {
        field[width] = (uint8_t)('0' + (value & 7));
        value >>= 3;
    }
}

static void put_base256(uint8_t *field, size_t width, uint64_t value)
{
    while (--width > 0) {
        field[width] = (uint8_t)value;
        value >>= 8;
    }
    field[0] = 0x80;
}

/*
 * Where to cut a path into prefix and name: the first '/' that leaves at most 100 bytes of name,
 * with at most 155 before it. 0: the name field alone holds the path. SIZE_MAX: it fits no ustar
 * header.
 */
static size_t split_path(const char *path, size_t size)
{
    if (size <= NAME_SIZE)
        return 0;
    for (size_t cut = size - NAME_SIZE - 1; cut <= PREFIX_SIZE && cut < size - 1; cut++)
        if (cut > 0 && path[cut] == '/')
            return cut;
    return SIZE_MAX;
}

static void put_header(uint8_t *block, uint8_t type, const char *prefix, size_t prefix_size,
                       const char *name, size_t name_size, uint64_t size, uint64_t mtime, bool gnu)
{
    memset(block, 0, FMT_TAR_BLOCK);
    memcpy(block + NAME, name, name_size);
    memcpy(block + PREFIX, prefix, prefix_size);
    put_octal(block + MODE, ID_SIZE, 0644);
    put_octal(block + UID, ID_SIZE, 0);
    put_octal(block + GID, ID_SIZE, 0);
    if (size <= OCTAL_MAX(NUMBER_SIZE - 1))
        put_octal(block + SIZE, NUMBER_SIZE, size);
    else
        put_base256(block + SIZE, NUMBER_SIZE, size);
    put_octal(block + MTIME, NUMBER_SIZE, mtime);
    block[TYPE] = type;
    if (gnu) {
        memcpy(block + MAGIC, GNU_MAGIC, MAGIC_SIZE);
    } else {
        memcpy(block + MAGIC, "ustar\00000", MAGIC_SIZE);
        put_octal(block + DEVICES, ID_SIZE, 0);
        put_octal(block + DEVICES + ID_SIZE, ID_SIZE, 0);
    }
    /* Six digits, NUL, space: the form every implementation since v7 has written. */
    put_octal(block + CHECKSUM, CHECKSUM_SIZE - 1, unsigned_sum(block));
    block[CHECKSUM + CHECKSUM_SIZE - 1] = ' ';
}

/* A GNU 'L' member: its payload is the path with a NUL, for the header that follows. */
static size_t put_long_name(uint8_t *out, const char *path, size_t path_size)
{
    static const char name[] = "././@LongLink";
    put_header(out, 'L', "", 0, name, sizeof name - 1, path_size + 1, 0, true);
    memcpy(out + FMT_TAR_BLOCK, path, path_size);
    memset(out + FMT_TAR_BLOCK + path_size, 0, 1 + fmt_tar_padding(path_size + 1));
    return FMT_TAR_BLOCK + path_size + 1 + fmt_tar_padding(path_size + 1);
}

size_t fmt_tar_header_write(uint8_t *out, const char *path, size_t path_size, uint64_t size,
                            uint64_t mtime)
{
    size_t n = 0;
    size_t cut = split_path(path, path_size);
    bool large = size > OCTAL_MAX(NUMBER_SIZE - 1);
    if (cut == SIZE_MAX ||
        (cut > 0 && large)) { /* GNU headers, which large sizes ask for, have no prefix */
        n = put_long_name(out, path, path_size);
        put_header(out + n, '0', "", 0, path, NAME_SIZE, size, mtime, true);
    } else if (cut == 0) {
        put_header(out, '0', "", 0, path, path_size, size, mtime, large);
    } else {
        put_header(out, '0', path, cut, path + cut + 1, path_size - cut - 1, size, mtime, false);
    }
    return n + FMT_TAR_BLOCK;
}
