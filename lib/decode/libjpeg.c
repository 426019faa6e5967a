/* SPDX-License-Identifier: Apache-2.0 */
#include "decode/libjpeg.h"

#include "jpeg/jpeg_markers.h"

enum { SCANS_MOST = 100 }; /* a progressive file of a few KB can ask for thousands of passes */

/* ---- what libjpeg calls back ---- */

static void on_error(j_common_ptr info)
{
    shard_libjpeg *lib = info->client_data;
    info->err->format_message(info, lib->message);
    longjmp(lib->failed, 1);
}

/* Level -1 is a warning: the data are damaged, or nearly always so. */
static void on_message(j_common_ptr info, int level)
{
    int code = info->err->msg_code;
    bool harmless = code == JWRN_EXTRANEOUS_DATA || code == JWRN_ADOBE_XFORM ||
                    code == JWRN_JFIF_MAJOR || code == JWRN_BOGUS_PROGRESSION;
    if (level < 0 && !harmless)
        on_error(info);
}

static void on_output(j_common_ptr info)
{
    (void)info; /* nothing is printed */
}

static void on_progress(j_common_ptr info)
{
    shard_libjpeg *lib = info->client_data;
    if (!info->is_decompressor || lib->in.input_scan_number <= SCANS_MOST)
        return;
    info->err->msg_code = JERR_CANT_SUSPEND; /* none of those that mean something below */
    snprintf(lib->message, sizeof lib->message, "more than %d scans", SCANS_MOST);
    longjmp(lib->failed, 1);
}

/* ---- the work ---- */

void shard_libjpeg_init(shard_libjpeg *lib)
{
    *lib = (shard_libjpeg){.entropy = NULL};
    lib->in.err = jpeg_std_error(&lib->errors);
    lib->in.client_data = lib;
    lib->errors.error_exit = on_error;
    lib->errors.emit_message = on_message;
    lib->errors.output_message = on_output;
    lib->progress.progress_monitor = on_progress;
}

static void keep_markers(shard_libjpeg *lib, int keep)
{
    const unsigned most = 0xffff;
    if (keep == SHARD_LIBJPEG_EXIF)
        jpeg_save_markers(&lib->in, FMT_JPEG_APP1, most);
    if (keep != SHARD_LIBJPEG_ALL_MARKERS)
        return;
    jpeg_save_markers(&lib->in, FMT_JPEG_COM, most);
    for (int app = 0; app < 16; app++)
        jpeg_save_markers(&lib->in, FMT_JPEG_APP0 + app, most);
}

static shard_status describe(const shard_libjpeg *lib, shard_error *err)
{
    shard_status status = SHARD_EDATA;
    switch (lib->errors.msg_code) {
    case JERR_OUT_OF_MEMORY:
        status = SHARD_ENOMEM;
        break;
    case JERR_BAD_PRECISION:   /* 12 bits */
    case JERR_SOF_UNSUPPORTED: /* lossless, hierarchical */
    case JERR_ARITH_NOTIMPL:
    case JERR_CCIR601_NOTIMPL:
    case JERR_CONVERSION_NOTIMPL:
    case JERR_FRACT_SAMPLE_NOTIMPL:
    case JERR_NOT_COMPILED:
    case JERR_NOTIMPL: /* lossless, by libjpeg-turbo 3 */
        status = SHARD_EUNSUPPORTED;
        break;
    default:
        break;
    }
    return shard_fail(err, status, NULL, SHARD_NO_OFFSET, "JPEG: %s", lib->message);
}

/*
 * A new decompressor for each image, which costs a few calls of malloc: one that is used again
 * keeps the last image's tables, and an image that lacks its own would be decoded with them.
 */
shard_status shard_libjpeg_run(shard_libjpeg *lib, fmt_span image, int keep,
                               shard_libjpeg_work work, void *arguments, shard_error *err)
{
    shard_status status;
    lib->in.mem = NULL; /* for jpeg_destroy, where creating fails */
    if (setjmp(lib->failed) == 0) {
        jpeg_create_decompress(&lib->in);
        lib->in.progress = &lib->progress;
        jpeg_mem_src(&lib->in, image.data, image.size);
        keep_markers(lib, keep);
        jpeg_read_header(&lib->in, TRUE);
        status = work(lib, arguments, err);
    } else {
        status = describe(lib, err);
    }
    jpeg_destroy_decompress(&lib->in);
    return status;
}
