/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Image files to pixels, for tests that compare them with what others make of the same files.
 *
 *   decode_image [OPTION...] FILE...
 *
 * Writes for each file a line, "OK SIZE" and that many bytes, or a status and a message. With
 * --time, how many it decodes a second instead. With --libjpeg, libjpeg decodes all of a JPEG
 * image; with --which, a line before each says who decoded its scan.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "decode/image_decoder.h"
#include "decode/image_opts.h"
#include "files.h"

static shard_image_opts opts = SHARD_IMAGE_OPTS_INIT;
static shard_crop part;
static bool has_part, timing, formats, plain, which;
static uint32_t draw_width, draw_height;
static uint64_t key;

static void die(const char *what)
{
    fprintf(stderr, "decode_image: %s\n", what);
    exit(2);
}

/* "1,2,3": how many there are, `most` at most. */
static int numbers(const char *text, double *out, int most)
{
    int count = 0;
    for (char *end; count < most; text = end + 1) {
        out[count++] = strtod(text, &end);
        if (*end != ',')
            break;
    }
    return count;
}

/* Which of these words it is; the list ends with NULL. */
static int word(const char *text, const char *const *words)
{
    for (int i = 0; words[i]; i++)
        if (strcmp(words[i], text) == 0)
            return i;
    die("no such word");
    return 0;
}

static void set_option(int option, const char *value)
{
    static const char *const fits[] = {"resize", "center", "random", NULL};
    static const char *const layouts[] = {"u8", "f32", "f16", NULL};
    double n[6] = {0};
    int count = value ? numbers(value, n, 6) : 0;
    switch (option) {
    case 's':
        opts.width = (uint32_t)n[0];
        opts.height = (uint32_t)n[1];
        break;
    case 'f':
        opts.fit = (shard_image_fit)word(value, fits);
        break;
    case 'l':
        opts.layout = (shard_image_layout)word(value, layouts);
        break;
    case 'h':
        opts.shorter = (uint32_t)n[0];
        break;
    case 'p':
        opts.flip = n[0];
        break;
    case 'm':
        opts.memory_max = (uint64_t)n[0];
        break;
    case 'n':
        for (int c = 0; c < 3; c++) {
            opts.mean[c] = (float)n[c];
            opts.deviation[c] = (float)n[3 + c];
        }
        break;
    case 'k':
        key = strtoull(value, NULL, 10);
        break;
    case 'd':
        draw_width = (uint32_t)n[0];
        draw_height = (uint32_t)n[1];
        break;
    case 'b':
        part = (shard_crop){n[0], n[1], n[2], n[3], count > 4 && n[4] != 0};
        has_part = true;
        break;
    default:
        die("see its source");
    }
}

static void read_options(int argc, char **argv)
{
    static const struct option table[] = {
        {"size", 1, NULL, 's'},    {"fit", 1, NULL, 'f'},  {"layout", 1, NULL, 'l'},
        {"shorter", 1, NULL, 'h'}, {"flip", 1, NULL, 'p'}, {"memory", 1, NULL, 'm'},
        {"numbers", 1, NULL, 'n'}, {"key", 1, NULL, 'k'},  {"box", 1, NULL, 'b'},
        {"draw", 1, NULL, 'd'},    {"grey", 0, NULL, 1},   {"fast", 0, NULL, 2},
        {"as-stored", 0, NULL, 3}, {"time", 0, NULL, 4},   {"formats", 0, NULL, 5},
        {"libjpeg", 0, NULL, 6},   {"which", 0, NULL, 7},  {NULL, 0, NULL, 0},
    };
    for (int option; (option = getopt_long(argc, argv, "", table, NULL)) != -1;) {
        bool *flags[] = {NULL,    &opts.grey, &opts.fast, &opts.as_stored,
                         &timing, &formats,   &plain,     &which};
        if (option >= 1 && option <= 7)
            *flags[option] = true;
        else
            set_option(option, optarg);
    }
}

static shard_status decode(shard_image_decoder *decoder, const uint8_t *bytes, size_t size,
                           void *out, shard_error *err)
{
    if (has_part)
        return shard_image_decode_part(decoder, (fmt_span){bytes, size}, &part, out, err);
    return shard_image_decode(decoder, bytes, size, key, out, err);
}

static void decode_file(shard_image_decoder *decoder, const char *path, uint8_t *out)
{
    shard_error err;
    size_t size, out_size = shard_image_decoder_size(decoder);
    uint8_t *bytes = test_read_file(path, &size);
    shard_status status = decode(decoder, bytes, size, out, &err);
    if (which)
        puts(shard_image_decoder_used_ours(decoder) ? "ours" : "libjpeg");
    if (status == SHARD_OK) {
        printf("OK %zu\n", out_size);
        fwrite(out, 1, out_size, stdout);
    } else {
        printf("%s %s\n", shard_status_name(status), err.message);
    }
    free(bytes);
}

/* The part that the key draws of an image of this size, as --box takes it. */
static void draw(void)
{
    shard_image_opts read;
    shard_crop crop;
    if (shard_image_opts_read(&opts, &read, NULL) != SHARD_OK)
        die("bad options");
    shard_crop_choose(&read, draw_width, draw_height, key, &crop);
    printf("%.17g %.17g %.17g %.17g %d\n", crop.x, crop.y, crop.width, crop.height, crop.mirror);
}

/* What else than JPEG the library was built for. */
static void print_formats(void)
{
#ifdef SHARD_HAVE_PNG
    puts("png");
#endif
#ifdef SHARD_HAVE_WEBP
    puts("webp");
#endif
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Images a second of processor time; each file by a key of its own. */
static void time_files(shard_image_decoder *decoder, char **paths, int count, uint8_t *out)
{
    uint8_t **bytes = calloc((size_t)count, sizeof *bytes);
    size_t *sizes = calloc((size_t)count, sizeof *sizes);
    if (!bytes || !sizes)
        die("no memory");
    for (int i = 0; i < count; i++)
        bytes[i] = test_read_file(paths[i], &sizes[i]);
    for (int round = 0; round < 4; round++) { /* the first one warms up */
        double begin = seconds();
        int failed = 0;
        for (int i = 0; i < count; i++, key++)
            failed += decode(decoder, bytes[i], sizes[i], out, NULL) != SHARD_OK;
        if (round > 0)
            printf("%.1f images/s, %d failed\n", count / (seconds() - begin), failed);
    }
    for (int i = 0; i < count; i++)
        free(bytes[i]);
    free(bytes);
    free(sizes);
}

int main(int argc, char **argv)
{
    shard_image_decoder *decoder;
    shard_error err;
    read_options(argc, argv);
    if (formats) {
        print_formats();
        return 0;
    }
    if (draw_width > 0) {
        draw();
        return 0;
    }
    if (shard_image_decoder_open(&decoder, &opts, NULL, &err) != SHARD_OK)
        die(err.message);
    shard_image_decoder_use_ours(decoder, !plain);
    uint8_t *out = malloc(shard_image_decoder_size(decoder));
    if (!out)
        die("no memory");
    if (timing)
        time_files(decoder, argv + optind, argc - optind, out);
    else
        for (int i = optind; i < argc; i++)
            decode_file(decoder, argv[i], out);
    free(out);
    shard_image_decoder_close(decoder);
    return 0;
}
