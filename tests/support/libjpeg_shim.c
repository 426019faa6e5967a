/* SPDX-License-Identifier: Apache-2.0 */
/*
 * LD_PRELOAD: a libjpeg that is not what it seems to be, as SHIM_LIBJPEG says.
 *
 *     DEAF     what its entropy decoder was replaced by is not called
 *     OTHER    it makes other pixels of what comes from a replacement
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>

#include <jpegint.h>

static boolean (*stock)(j_decompress_ptr in, JBLOCKROW *to); /* of the image at hand */

static void *real(const char *name)
{
    void *found = dlsym(RTLD_NEXT, name);
    if (!found)
        abort();
    return found;
}

static int is(const char *kind)
{
    const char *set = getenv("SHIM_LIBJPEG");
    return set && strcmp(set, kind) == 0;
}

static void be_deaf(j_decompress_ptr in)
{
    if (is("DEAF"))
        in->entropy->decode_mcu = stock;
}

boolean jpeg_start_decompress(j_decompress_ptr in)
{
    boolean (*next)(j_decompress_ptr);
    *(void **)&next = real("jpeg_start_decompress");
    boolean done = next(in);
    stock = in->entropy->decode_mcu;
    return done;
}

JDIMENSION jpeg_skip_scanlines(j_decompress_ptr in, JDIMENSION count)
{
    JDIMENSION (*next)(j_decompress_ptr, JDIMENSION);
    *(void **)&next = real("jpeg_skip_scanlines");
    be_deaf(in);
    return next(in, count);
}

JDIMENSION jpeg_read_scanlines(j_decompress_ptr in, JSAMPARRAY rows, JDIMENSION count)
{
    JDIMENSION (*next)(j_decompress_ptr, JSAMPARRAY, JDIMENSION);
    *(void **)&next = real("jpeg_read_scanlines");
    be_deaf(in);
    JDIMENSION got = next(in, rows, count);
    if (is("OTHER") && in->entropy->decode_mcu != stock)
        rows[0][0] ^= 1;
    return got;
}
