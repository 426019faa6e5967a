/* SPDX-License-Identifier: Apache-2.0 */
#include "decode/jpeg_entropy.h"

#include <string.h>

#include "decode/huffman.h"

enum {
    /* Stuffing is taken out of the scan piece by piece, as far as it is decoded; an MCU has at most
     * 10 blocks of 64 codes and values of 26 bits each. */
    PIECE = 8 << 10,
    MCU_MOST = 2112,
    TABLES = NUM_HUFF_TBLS,
};

typedef struct {
    shard_huffman_table table;
    UINT8 lengths[16], symbols[256]; /* of which it was made */
    size_t count;
    bool good;
} made_table;

struct shard_jpeg_entropy {
    fmt_alloc alloc;
    shard_huffman huffman;
    shard_huffman_block blocks[SHARD_HUFFMAN_BLOCKS];
    bool needed[SHARD_HUFFMAN_BLOCKS]; /* of whose component something is wanted */
    size_t count;
    const uint8_t *scan, *end;    /* what is still stuffed; the end of the image */
    bool at_marker;               /* which stands at `scan` */
    uint32_t column, columns;     /* of MCUs: the next one's; how many there are */
    uint32_t wanted_from, wanted; /* these of them */
    uint32_t interval, to_restart, restarts;
    uint64_t mcus;
    bool gave_up;
    made_table dc[TABLES], ac[TABLES]; /* those of the last image that had one there */
    uint8_t bytes[PIECE + MCU_MOST + SHARD_HUFFMAN_PAD];
};

shard_status shard_jpeg_entropy_open(shard_jpeg_entropy **out, const fmt_alloc *alloc,
                                     shard_error *err)
{
    *out = shard_alloc_zeroed(alloc, 1, sizeof **out);
    if (!*out)
        return shard_fail_memory(err);
    (*out)->alloc = *alloc;
    return SHARD_OK;
}

void shard_jpeg_entropy_close(shard_jpeg_entropy *entropy)
{
    if (!entropy)
        return;
    fmt_alloc alloc = entropy->alloc;
    shard_alloc_free(&alloc, entropy);
}

bool shard_jpeg_entropy_gave_up(const shard_jpeg_entropy *entropy)
{
    return entropy && entropy->gave_up;
}

uint64_t shard_jpeg_entropy_mcus(const shard_jpeg_entropy *entropy)
{
    return entropy->mcus;
}

/* ---- the scan ---- */

/* There are more bytes than an MCU can have, or all up to a marker. False where the image ends
 * without one, or bytes stand before it that fill up: libjpeg looks at fewer bytes ahead, and
 * decides whether it minds. */
static bool fill(shard_jpeg_entropy *e)
{
    shard_huffman *h = &e->huffman;
    while (h->end - h->at < MCU_MOST && !e->at_marker) {
        size_t left = (size_t)(h->end - h->at), size = (size_t)(e->end - e->scan), used;
        if (size < 2 || (e->scan[0] == 0xff && e->scan[1] == 0xff))
            return false;
        memmove(e->bytes, h->at, left);
        size_t more =
            shard_huffman_unstuff(e->scan, size < PIECE ? size : PIECE, e->bytes + left, &used);
        h->at = e->bytes;
        h->end = e->bytes + left + more;
        e->scan += used;
        e->at_marker =
            size - used >= 2 && e->scan[0] == 0xff && e->scan[1] != 0 && e->scan[1] != 0xff;
    }
    return true;
}

static void begin_interval(shard_jpeg_entropy *e)
{
    e->at_marker = false;
    e->to_restart = e->interval;
    shard_huffman_begin(&e->huffman, e->bytes, 0);
}

/* The marker that is due must stand right here. */
static bool restart(shard_jpeg_entropy *e)
{
    if (!e->at_marker || shard_huffman_left(&e->huffman) > 0 ||
        e->scan[1] != JPEG_RST0 + e->restarts % 8)
        return false;
    e->scan += 2;
    e->restarts++;
    begin_interval(e);
    return true;
}

static bool next_mcu(shard_jpeg_entropy *e, JBLOCKROW *to)
{
    int16_t *coefficients[SHARD_HUFFMAN_BLOCKS];
    if (e->interval > 0 && e->to_restart == 0 && !restart(e))
        return false;
    if (!fill(e))
        return false;
    e->to_restart--;
    bool wanted = to && e->column - e->wanted_from < e->wanted;
    e->column = e->column + 1 < e->columns ? e->column + 1 : 0;
    e->mcus++;
    for (size_t i = 0; wanted && i < e->count; i++)
        coefficients[i] = e->needed[i] ? to[i][0] : NULL;
    return shard_huffman_mcu(&e->huffman, e->blocks, e->count, wanted ? coefficients : NULL);
}

static boolean decode_mcu(j_decompress_ptr in, JBLOCKROW *to)
{
    shard_libjpeg *lib = in->client_data;
    if (next_mcu(lib->entropy, to))
        return TRUE;
    lib->entropy->gave_up = true;
    ERREXIT(in, JERR_CANT_SUSPEND); /* does not come back */
    return FALSE;
}

/* ---- the image ---- */

static bool is_ordinary(const shard_libjpeg *lib)
{
    const struct jpeg_decompress_struct *in = &lib->in;
    return !in->progressive_mode && !in->arith_code && in->data_precision == 8 &&
           in->comps_in_scan == in->num_components && in->blocks_in_MCU <= SHARD_HUFFMAN_BLOCKS &&
           in->Ss == 0 && in->Se == DCTSIZE2 - 1 && in->Ah == 0 && in->Al == 0 &&
           in->unread_marker == 0;
}

/* Made anew only if it is another one: most encoders write the same for all images. */
static bool make_table(made_table *made, shard_huffman_class kind, const JHUFF_TBL *from)
{
    size_t count = 0;
    if (!from)
        return false;
    for (int length = 1; length <= 16; length++)
        count += from->bits[length];
    if (count > sizeof from->huffval)
        return false;
    if (made->good && made->count == count &&
        memcmp(made->lengths, from->bits + 1, sizeof made->lengths) == 0 &&
        memcmp(made->symbols, from->huffval, count) == 0)
        return true;
    made->count = count;
    memcpy(made->lengths, from->bits + 1, sizeof made->lengths);
    memcpy(made->symbols, from->huffval, count);
    made->good = shard_huffman_set(&made->table, kind, made->lengths, made->symbols, count);
    return made->good;
}

static bool make_tables(shard_jpeg_entropy *e, const shard_libjpeg *lib)
{
    for (int i = 0; i < lib->in.comps_in_scan; i++) {
        const jpeg_component_info *c = lib->in.cur_comp_info[i];
        if (c->dc_tbl_no >= TABLES || c->ac_tbl_no >= TABLES ||
            !make_table(&e->dc[c->dc_tbl_no], SHARD_HUFFMAN_DC,
                        lib->in.dc_huff_tbl_ptrs[c->dc_tbl_no]) ||
            !make_table(&e->ac[c->ac_tbl_no], SHARD_HUFFMAN_AC,
                        lib->in.ac_huff_tbl_ptrs[c->ac_tbl_no]))
            return false;
    }
    return true;
}

static void lay_out_mcu(shard_jpeg_entropy *e, const shard_libjpeg *lib)
{
    e->count = (size_t)lib->in.blocks_in_MCU;
    for (size_t i = 0; i < e->count; i++) {
        int component = lib->in.MCU_membership[i];
        const jpeg_component_info *c = lib->in.cur_comp_info[component];
        e->needed[i] = c->component_needed;
        e->blocks[i] = (shard_huffman_block){&e->dc[c->dc_tbl_no].table, &e->ac[c->ac_tbl_no].table,
                                             (uint8_t)component};
    }
}

bool shard_jpeg_entropy_begin(shard_jpeg_entropy *entropy, shard_libjpeg *lib)
{
    if (!entropy)
        return false;
    entropy->gave_up = false;
    entropy->mcus = 0;
    if (!is_ordinary(lib) || !make_tables(entropy, lib))
        return false;
    lay_out_mcu(entropy, lib);
    entropy->scan = lib->in.src->next_input_byte;
    entropy->end = entropy->scan + lib->in.src->bytes_in_buffer;
    entropy->column = entropy->wanted_from = 0;
    entropy->columns = entropy->wanted = lib->in.MCUs_per_row;
    entropy->interval = lib->in.restart_interval;
    entropy->restarts = 0;
    begin_interval(entropy);
    lib->entropy = entropy;
    lib->in.entropy->decode_mcu = decode_mcu;
    return true;
}

void shard_jpeg_entropy_columns(shard_jpeg_entropy *entropy, const shard_libjpeg *lib,
                                uint32_t left, uint32_t width)
{
    uint32_t across = lib->in.comps_in_scan == 1 ? 1 : (uint32_t)lib->in.max_h_samp_factor;
    uint32_t pixels = DCTSIZE * across / lib->in.scale_denom; /* of an MCU */
    entropy->wanted_from = left / pixels;
    entropy->wanted = (left + width + pixels - 1) / pixels - entropy->wanted_from;
}
