/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libjpeg-turbo's decompressor by its libjpeg interface, as jpeg.c and jpeg_pixels.c share it:
 * errors come back as a status, damage is an error, nothing is printed. The one file that includes
 * jpeglib.h and jpegint.h.
 */
#ifndef DECODE_LIBJPEG_H
#define DECODE_LIBJPEG_H

#include <setjmp.h>
#include <stdio.h> /* jpeglib.h wants FILE */

#include <jerror.h>
#include <jpeglib.h>
#ifdef SHARD_HAVE_JPEGINT
#include <jpegint.h>
#endif

#include "core/alloc.h"
#include "core/error.h"

/* Stands first in a caller's struct where libjpeg calls the caller back. */
typedef struct {
    struct jpeg_decompress_struct in;
    struct jpeg_error_mgr errors;
    struct jpeg_progress_mgr progress;
    jmp_buf failed; /* where errors go: set by shard_libjpeg_run */
    char message[JMSG_LENGTH_MAX];
    struct shard_jpeg_entropy *entropy; /* who decodes the scan, where it is not libjpeg */
} shard_libjpeg;

enum { SHARD_LIBJPEG_EXIF = 1, SHARD_LIBJPEG_ALL_MARKERS };

/* Holds nothing that needs to be freed. */
void shard_libjpeg_init(shard_libjpeg *lib);

/*
 * Read the header of `image`, with the markers that `keep` names, and do the work, which may leave
 * by longjmp at any call of libjpeg.
 */
typedef shard_status (*shard_libjpeg_work)(shard_libjpeg *lib, void *arguments, shard_error *err);
shard_status shard_libjpeg_run(shard_libjpeg *lib, fmt_span image, int keep,
                               shard_libjpeg_work work, void *arguments, shard_error *err);

#endif
