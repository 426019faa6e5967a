/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tar reader: whatever the pieces in which an archive arrives, and whether payloads are read or
 * skipped, the same is said of it.
 *
 * Input: a byte of modes, seven bytes that say how large the pieces are, the archive.
 */
#include "mend.h"
#include "tar/tar_reader.h"

enum {
    MEND = 1, /* make the header checksums right, which no mutation would */
    NO_END_NEEDED = 2,
    CONTROL = 7,
};

/* All that the reader said of an archive. */
typedef struct {
    uint64_t members; /* hashes of what was told */
    uint64_t payloads;
    uint64_t end; /* of the last member, with its padding */
    uint64_t payload_left;
    fmt_status status;
    fmt_fault fault;
    uint64_t offset;
} transcript;

static void add(uint64_t *hash, const void *bytes, size_t size)
{
    const uint8_t *p = bytes;
    for (size_t i = 0; i < size; i++) /* FNV-1a */
        *hash = (*hash ^ p[i]) * UINT64_C(0x100000001b3);
}

static void note_member(transcript *t, const fmt_tar_member *m)
{
    uint64_t numbers[] = {(uint64_t)m->kind, m->header_offset, m->payload_offset, m->size,
                          m->path_size};
    FUZZ_CHECK(m->path_size > 0 && m->path_size <= FMT_TAR_PATH_MAX);
    FUZZ_CHECK(strlen(m->path) == m->path_size);
    FUZZ_CHECK(m->header_offset % FMT_TAR_BLOCK == 0 && m->payload_offset % FMT_TAR_BLOCK == 0);
    FUZZ_CHECK(m->header_offset >= t->end && m->header_offset < m->payload_offset);
    t->end = m->payload_offset + m->size + fmt_tar_padding(m->size);
    add(&t->members, numbers, sizeof numbers);
    add(&t->members, m->path, m->path_size);
}

static void note(transcript *t, const fmt_tar_reader *r, fmt_span piece)
{
    if (r->event == FMT_TAR_MEMBER) {
        FUZZ_CHECK(t->payload_left == 0);
        note_member(t, &r->member);
        t->payload_left = r->member.size;
        FUZZ_CHECK(fmt_tar_reader_payload_left(r) == r->member.size);
        return;
    }
    FUZZ_CHECK(r->payload.data >= piece.data &&
               r->payload.data + r->payload.size <= piece.data + piece.size);
    FUZZ_CHECK(r->payload.size <= t->payload_left);
    add(&t->payloads, r->payload.data, r->payload.size);
    t->payload_left -= r->payload.size;
    FUZZ_CHECK(fmt_tar_reader_payload_left(r) == t->payload_left);
}

static void begin(transcript *t, fmt_tar_reader *r, uint8_t mode)
{
    memset(r, 0xa5, sizeof *r); /* what init leaves out must not matter */
    *t = (transcript){.status = FMT_NEED_MORE};
    fmt_tar_reader_init(r, 0);
    r->missing_end_ok = mode & NO_END_NEEDED;
}

static void finish(transcript *t, fmt_tar_reader *r)
{
    if (t->status == FMT_NEED_MORE) {
        t->status = fmt_tar_reader_finish(r);
        t->offset = r->offset;
    }
    t->fault = r->fault;
    FUZZ_CHECK(t->status == FMT_OK || t->fault.what);
}

/* Small pieces of any size, and those around whole blocks. */
static size_t piece_size(uint8_t control)
{
    if (control < 0x80)
        return (size_t)control + 1;
    return (size_t)FMT_TAR_BLOCK * ((control & 0x0fu) + 1) + (control >> 4 & 7u) - 4;
}

/* `control` NULL: the archive in one piece. */
static void read_in_pieces(transcript *t, fmt_span archive, uint8_t mode, const uint8_t *control)
{
    fmt_tar_reader reader;
    size_t at = 0;
    begin(t, &reader, mode);
    for (size_t i = 0; at < archive.size && t->status == FMT_NEED_MORE; i++) {
        size_t size = control ? piece_size(control[i % CONTROL]) : archive.size;
        fmt_span piece = {archive.data + at, size < archive.size - at ? size : archive.size - at};
        fmt_span left = piece;
        at += piece.size;
        while ((t->status = fmt_tar_reader_push(&reader, &left)) == FMT_OK)
            note(t, &reader, piece);
        FUZZ_CHECK(t->status != FMT_NEED_MORE || (left.size == 0 && reader.offset == at));
    }
    finish(t, &reader);
}

/* Headers alone. False where a skip led past the archive's end. */
static bool read_headers(transcript *t, fmt_span archive, uint8_t mode)
{
    fmt_tar_reader reader;
    fmt_span left = archive;
    begin(t, &reader, mode);
    while ((t->status = fmt_tar_reader_push(&reader, &left)) == FMT_OK) {
        FUZZ_CHECK(reader.event == FMT_TAR_MEMBER);
        note_member(t, &reader.member);
        uint64_t skipped = fmt_tar_reader_skip(&reader);
        FUZZ_CHECK(reader.offset == t->end);
        if (skipped > left.size)
            return false;
        left.data += skipped;
        left.size -= (size_t)skipped;
    }
    finish(t, &reader);
    return true;
}

static void check_same_end(const transcript *a, const transcript *b)
{
    FUZZ_CHECK(a->members == b->members);
    FUZZ_CHECK(a->status == b->status);
    FUZZ_CHECK(a->offset == b->offset);
    if (a->status == FMT_OK)
        return;
    FUZZ_CHECK(strcmp(a->fault.what, b->fault.what) == 0);
    FUZZ_CHECK(a->fault.offset == b->fault.offset);
    FUZZ_CHECK(a->fault.expected == b->fault.expected && a->fault.got == b->fault.got);
    FUZZ_CHECK(strcmp(a->fault.name, b->fault.name) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    transcript whole, pieces, headers;
    fmt_span in = {data, size};
    uint8_t mode = fuzz_take_byte(&in), control[CONTROL];
    for (int i = 0; i < CONTROL; i++)
        control[i] = fuzz_take_byte(&in);
    uint8_t *copy = fuzz_copy(in.data, in.size);
    if (mode & MEND)
        fuzz_mend_tar(copy, in.size);
    fmt_span archive = {copy, in.size};
    read_in_pieces(&whole, archive, mode, NULL);
    read_in_pieces(&pieces, archive, mode, control);
    check_same_end(&whole, &pieces);
    FUZZ_CHECK(whole.payloads == pieces.payloads);
    if (read_headers(&headers, archive, mode)) {
        check_same_end(&whole, &headers);
    } else {
        FUZZ_CHECK(headers.members == whole.members);
        FUZZ_CHECK(whole.status == FMT_ETRUNCATED);
    }
    free(copy);
    return 0;
}
