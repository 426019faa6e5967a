/* SPDX-License-Identifier: Apache-2.0 */
#include <shard/image.h>
#include <shard/index.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "record.h"
#include "set.h"
#include "tally.h"
#include "verbs.h"

typedef struct {
    common common;
    uint64_t images;
    bool has_images;
} info_args;

#define FIELD(name) offsetof(info_args, name)

static const opt opts[] = {
    {0, "images", OPT_NUMBER, FIELD(images), FIELD(has_images), "N",
     "images to look into for their sizes, spread over the set, else 1000; 0: none"},
};

static const opt_example examples[] = {
    {"shardtool info out.shards.json", "what is in a set"},
};

enum { IMAGES_DEFAULT = 1000, BAR = 40, SIZES_SHOWN = 8 };

typedef struct {
    const cli *cli;
    const shard_set *set;
    shard_set_info info;
    uint64_t samples, index_bytes, without_index, codecs[4];
    size_tally sample_sizes;
    tally_list components;

    uint64_t looked, not_images, progressive;
    tally_list formats, sizes;
    size_tally widths, heights;
} gathering;

/* ---- gathering ---- */

static int add_sample(void *context, shard_index *index, shard_index_sample *sample)
{
    gathering *g = context;
    uint64_t bytes = 0;
    for (uint32_t j = 0; j < sample->components; j++) {
        shard_index_component c;
        shard_error err;
        if (shard_index_get_component(index, sample, j, &c, &err) != SHARD_OK)
            return cli_error(g->cli, &err);
        size_tally_add(&tally_find(&g->components, c.name)->sizes, c.payload_size);
        bytes += c.payload_size;
    }
    g->samples++;
    size_tally_add(&g->sample_sizes, bytes);
    return EXIT_OK;
}

static int add_shard(gathering *g, uint64_t i)
{
    shard_index *index;
    shard_index_info info;
    shard_error err;
    shard_status status = shard_set_open_index(g->set, i, &index, &err);
    if (status == SHARD_ENOTFOUND) {
        g->without_index++;
        return EXIT_OK;
    }
    if (status != SHARD_OK)
        return cli_error(g->cli, &err);
    shard_index_get_info(index, &info);
    g->index_bytes += info.file_size;
    g->codecs[info.codec]++;
    int code = set_each_sample(g->cli, index, add_sample, g);
    shard_index_close(index);
    return code;
}

static void add_image(gathering *g, const shard_sample_component *component)
{
    shard_image_info image;
    char size[32];
    g->looked++;
    if (shard_image_examine(component->data, component->size, &image) != SHARD_OK) {
        g->not_images++;
        return;
    }
    snprintf(size, sizeof size, "%ux%u", image.width, image.height);
    size_tally_add(&tally_find(&g->formats, image.format)->sizes, component->size);
    size_tally_add(&tally_find(&g->sizes, size)->sizes, 0);
    size_tally_add(&g->widths, image.width);
    size_tally_add(&g->heights, image.height);
    g->progressive += image.progressive;
}

static bool is_image_name(const char *name)
{
    static const char *names[] = {"jpg", "jpeg", "png", "webp", "gif", "bmp"};
    const char *dot = strrchr(name, '.'), *last = dot ? dot + 1 : name;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(last, names[i]) == 0)
            return true;
    return false;
}

/* The images of one sample, up to `wanted` in all. What cannot be read here is verify's business.
 */
static void look_into(gathering *g, uint64_t id, uint64_t wanted)
{
    shard_set_place place;
    shard_sample sample;
    shard_sample_opts sample_opts = SHARD_SAMPLE_OPTS_INIT;
    if (shard_set_locate(g->set, id, &place, NULL) != SHARD_OK ||
        shard_set_read_sample(g->set, place, &sample, &sample_opts, NULL) != SHARD_OK)
        return;
    for (size_t i = 0; i < sample.count && g->looked < wanted; i++)
        if (is_image_name(sample.components[i].name))
            add_image(g, &sample.components[i]);
    shard_sample_free(&sample);
}

static uint64_t count_images(const gathering *g)
{
    uint64_t images = 0;
    for (size_t i = 0; i < g->components.count; i++)
        if (is_image_name(g->components.item[i].name))
            images += g->components.item[i].sizes.count;
    return images;
}

/* In samples from all over the set. */
static void look_into_images(gathering *g, uint64_t wanted)
{
    uint64_t images = count_images(g), samples = g->info.samples;
    if (images == 0 || samples == SHARD_UNKNOWN)
        return;
    double a_sample = (double)images / (double)samples;
    double enough = a_sample > 1 ? (double)wanted / a_sample + 1 : (double)wanted;
    uint64_t looks = enough < (double)samples ? (uint64_t)enough : samples;
    for (uint64_t i = 0; i < looks && !shard_cancel_is_set(g->cli->cancel); i++)
        look_into(g, i * (samples / looks) + i * (samples % looks) / looks, wanted);
}

/* What the manifest knows of components counts for shards without an index too. */
static void take_totals(gathering *g)
{
    for (size_t i = 0; i < g->info.component_count; i++) {
        const shard_set_component *known = &g->info.components[i];
        size_tally *sizes = &tally_find(&g->components, known->name)->sizes;
        sizes->count = known->count;
        sizes->total = known->bytes;
    }
}

/* ---- telling ---- */

static void print_tally(const char *name, const size_tally *t)
{
    printf("  ");
    size_t width = text_print_name(stdout, name, strlen(name));
    printf("%*s %12s  %10s  %9s  %9s  %9s\n", width < 16 ? 16 - (int)width : 0, "",
           text_count(t->count), text_size(t->total), text_size(t->least),
           text_size(t->count ? t->total / t->count : 0), text_size(t->most));
}

static void print_histogram(const size_tally *t)
{
    int first = 0, last = TALLY_BUCKETS - 1;
    uint64_t most = 1;
    while (first < last && t->bucket[first] == 0)
        first++;
    while (last > first && t->bucket[last] == 0)
        last--;
    for (int i = first; i <= last; i++)
        most = t->bucket[i] > most ? t->bucket[i] : most;
    for (int i = first; i <= last; i++) {
        int bar = (int)(t->bucket[i] * BAR / most);
        printf("  < %-9s %12s  %.*s\n", text_size(UINT64_C(1) << i), text_count(t->bucket[i]), bar,
               "########################################");
    }
}

static void print_images(gathering *g)
{
    if (g->looked == 0)
        return;
    printf("\nimages (%s looked into)\n", text_count(g->looked));
    for (size_t i = 0; i < g->formats.count; i++)
        printf("  %-5s %s\n", g->formats.item[i].name, text_count(g->formats.item[i].sizes.count));
    if (g->progressive > 0)
        printf("  progressive JPEG: %s (pack --jpeg-baseline makes them decode faster)\n",
               text_count(g->progressive));
    if (g->not_images > 0)
        printf("  not what their names say: %s\n", text_count(g->not_images));
    if (g->widths.count > 0)
        printf("  width %" PRIu64 " to %" PRIu64 ", mean %" PRIu64 "; height %" PRIu64
               " to %" PRIu64 ", mean %" PRIu64 "\n",
               g->widths.least, g->widths.most, g->widths.total / g->widths.count, g->heights.least,
               g->heights.most, g->heights.total / g->heights.count);
    for (size_t i = 0; i < g->sizes.count && i < SIZES_SHOWN; i++)
        printf("  %-11s %s\n", g->sizes.item[i].name, text_count(g->sizes.item[i].sizes.count));
}

static void print_head(const gathering *g)
{
    if (g->info.manifest)
        printf("manifest     %s%s\n", g->info.manifest, g->info.parts ? " (a part)" : "");
    printf("shards       %s\n", text_count(g->info.shards));
    if (g->info.samples != SHARD_UNKNOWN)
        printf("samples      %s\n", text_count(g->info.samples));
    if (g->info.bytes != SHARD_UNKNOWN)
        printf("bytes        %s\n", text_size(g->info.bytes));
    printf("indexes      %s", text_size(g->index_bytes));
    if (g->samples > 0)
        printf(", %.1f bytes a sample", (double)g->index_bytes / (double)g->samples);
    printf("\n");
    for (int i = 0; i < 4; i++)
        if (g->codecs[i] > 0)
            printf("%-12s %s\n", shard_codec_name((shard_codec)i),
                   text_things(g->codecs[i], "shard"));
    if (g->without_index > 0)
        printf("no index     %s (shardtool index makes them)\n",
               text_things(g->without_index, "shard"));
    if (g->info.class_count > 0)
        printf("classes      %zu\n", g->info.class_count);
    if (g->info.skip_count > 0)
        printf("left out     %s, listed in the manifest\n",
               text_things(g->info.skip_count, "sample"));
    if (g->info.manifest)
        printf("order        %s\n", g->info.sorted ? "keys ascend" : "keys do not ascend");
}

static void print_text(gathering *g)
{
    print_head(g);
    if (g->samples == 0)
        return;
    printf("\n  %-16s %12s  %10s  %9s  %9s  %9s\n", "component", "count", "bytes", "least", "mean",
           "most");
    for (size_t i = 0; i < g->components.count; i++)
        print_tally(g->components.item[i].name, &g->components.item[i].sizes);
    print_tally("(sample)", &g->sample_sizes);
    printf("\nbytes of a sample\n");
    print_histogram(&g->sample_sizes);
    print_images(g);
}

static void set_tally(record *r, const size_tally *t)
{
    record_number(r, "count", t->count);
    record_number(r, "bytes", t->total);
    record_number(r, "least", t->least);
    record_number(r, "most", t->most);
}

static void set_unknown(record *r, const char *key, uint64_t value)
{
    value == SHARD_UNKNOWN ? record_null(r, key) : record_number(r, key, value);
}

static void set_images(record *line, const gathering *g)
{
    record *images = record_object(line, "images");
    record_number(images, "looked", g->looked);
    record_number(images, "not_images", g->not_images);
    record_number(images, "progressive", g->progressive);
    record *formats = record_object(images, "formats");
    for (size_t i = 0; i < g->formats.count; i++)
        record_number(formats, g->formats.item[i].name, g->formats.item[i].sizes.count);
    record *sizes = record_object(images, "sizes");
    for (size_t i = 0; i < g->sizes.count; i++)
        record_number(sizes, g->sizes.item[i].name, g->sizes.item[i].sizes.count);
}

static void print_json(const gathering *g)
{
    record *line = record_new();
    if (g->info.manifest)
        record_name(line, "manifest", g->info.manifest, strlen(g->info.manifest));
    else
        record_null(line, "manifest");
    record_number(line, "shards", g->info.shards);
    set_unknown(line, "samples", g->info.samples);
    set_unknown(line, "bytes", g->info.bytes);
    record_number(line, "index_bytes", g->index_bytes);
    record_number(line, "without_index", g->without_index);
    record_number(line, "skipped", g->info.skip_count);
    record_bool(line, "sorted", g->info.sorted);
    record *codecs = record_object(line, "codecs");
    for (int i = 0; i < 4; i++)
        if (g->codecs[i] > 0)
            record_number(codecs, shard_codec_name((shard_codec)i), g->codecs[i]);
    record *components = record_object(line, "components");
    for (size_t i = 0; i < g->components.count; i++)
        set_tally(record_object(components, g->components.item[i].name),
                  &g->components.item[i].sizes);
    record *samples = record_object(line, "sample_sizes");
    set_tally(samples, &g->sample_sizes);
    record *histogram = record_array(samples, "below_power_of_2");
    for (int i = 0; i < TALLY_BUCKETS; i++)
        record_add_number(histogram, g->sample_sizes.bucket[i]);
    record *classes = record_array(line, "classes");
    for (size_t i = 0; i < g->info.class_count; i++)
        record_add_text(classes, g->info.classes[i]);
    set_images(line, g);
    record_print(line, stdout);
}

static int gather(gathering *g, const info_args *a)
{
    int code = EXIT_OK;
    for (uint64_t i = 0; i < g->info.shards && code == EXIT_OK; i++)
        code = add_shard(g, i);
    if (code != EXIT_OK)
        return code;
    take_totals(g);
    look_into_images(g, a->has_images ? a->images : IMAGES_DEFAULT);
    tally_sort_by_count(&g->components);
    tally_sort_by_count(&g->formats);
    tally_sort_by_count(&g->sizes);
    if (g->cli->common->json)
        print_json(g);
    else
        print_text(g);
    return EXIT_OK;
}

static int run(cli *c, void *args, int count, char **operands)
{
    shard_set *set;
    int code = set_open(c, count, operands, &set);
    if (code != EXIT_OK)
        return code;
    gathering *g = cli_allocate(1, sizeof *g);
    g->cli = c;
    g->set = set;
    shard_set_get_info(set, &g->info);
    code = gather(g, args);
    tally_free(&g->components);
    tally_free(&g->formats);
    tally_free(&g->sizes);
    free(g);
    shard_set_close(set);
    return code;
}

const verb verb_info = {
    .name = "info",
    .summary = "say what is in a set: counts, sizes, images",
    .operands = "SET...",
    .text =
        "Count samples, components and bytes, with a histogram of sample sizes and, of some "
        "images, "
        "their formats and dimensions. Reads indexes, and the images it looks into.\n\n" SET_TEXT,
    .opts = opts,
    .opt_count = sizeof opts / sizeof *opts,
    .examples = examples,
    .example_count = sizeof examples / sizeof *examples,
    .args_size = sizeof(info_args),
    .run = run,
};
