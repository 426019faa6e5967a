/* SPDX-License-Identifier: Apache-2.0 */
#include <shard/loader.h>

#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "cli.h"
#include "image_spec.h"
#include "progress.h"
#include "rank.h"
#include "sample_output.h"
#include "set.h"
#include "signals.h"
#include "state_file.h"
#include "stream_report.h"
#include "verbs.h"

typedef struct {
    common common;
    uint64_t batch, seed, shuffle_samples, epoch, epochs, epoch_size, rank, world_size, threads,
        memory, stop_after;
    bool has_epochs, has_rank, has_world_size, has_stop, has_epoch;
    const char *image, *save_state, *resume;
    int shuffle, on_bad, to, layout;
    bool flip, fast, grey, drop_last, endless, no_checksums, keep_indexes, keys, force;
} stream_args;

#define FIELD(name) offsetof(stream_args, name)

static const opt opts[] = {
    {0, "batch", OPT_NUMBER, FIELD(batch), 0, "N", "samples of a batch; else 64"},
    {0, "image", OPT_TEXT, FIELD(image), 0, "HOW",
     "decode the image of each sample: rrc:224 (random-resized-crop), resize:256,center:224, "
     "center:224, resize:224, each also as 320x240; none: leave samples as stored (default)"},
    {0, "flip", OPT_FLAG, FIELD(flip), 0, NULL, "mirror every other image, at random"},
    {0, "fast", OPT_FLAG, FIELD(fast), 0, NULL, "decode JPEG a little less exactly"},
    {0, "grey", OPT_FLAG, FIELD(grey), 0, NULL, "one channel in place of three"},
    {0, "layout", OPT_CHOICE, FIELD(layout), 0, "u8|f32|f16",
     "bytes with channels innermost (default), or floats, channels outermost"},
    {0, "shuffle", OPT_CHOICE, FIELD(shuffle), 0, "none|shards|full",
     "none: as stored (default); shards: whole shards in a new order each epoch; full: blocks of "
     "samples in a new order, and mixed"},
    {0, "seed", OPT_NUMBER, FIELD(seed), 0, "S", "another seed gives another order; else 0"},
    {0, "shuffle-samples", OPT_NUMBER, FIELD(shuffle_samples), 0, "N",
     "full: samples that are mixed at a time, over all ranks; else 16384"},
    {0, "epoch", OPT_NUMBER, FIELD(epoch), FIELD(has_epoch), "E", "the first one; else 0"},
    {0, "epochs", OPT_NUMBER, FIELD(epochs), FIELD(has_epochs), "N", "how many; else 1"},
    {0, "epoch-size", OPT_NUMBER, FIELD(epoch_size), 0, "N",
     "samples of an epoch, over all ranks; the next one goes on where it stopped"},
    {0, "endless", OPT_FLAG, FIELD(endless), 0, NULL, "one epoch without end"},
    {0, "drop-last", OPT_FLAG, FIELD(drop_last), 0, NULL,
     "leave out the last samples of an epoch where they do not fill a batch"},
    {0, "rank", OPT_NUMBER, FIELD(rank), FIELD(has_rank), "R",
     "take the share of rank R; else as torchrun, MPI or srun say in the environment"},
    {0, "world-size", OPT_NUMBER, FIELD(world_size), FIELD(has_world_size), "W", "of W ranks"},
    {'j', "threads", OPT_NUMBER, FIELD(threads), 0, "N", "else as many as there are cores"},
    {0, "memory", OPT_SIZE, FIELD(memory), 0, "SIZE", "most memory for buffers; else 1GiB"},
    {0, "on-bad", OPT_CHOICE, FIELD(on_bad), 0, "error|substitute|mask",
     "a sample that cannot be decoded: ends all (default), is replaced by another, or left out"},
    {0, "no-checksums", OPT_FLAG, FIELD(no_checksums), 0, NULL,
     "do not compare samples with the checksums of the index"},
    {0, "keep-indexes", OPT_FLAG, FIELD(keep_indexes), 0, NULL,
     "write an index beside each shard that has none and was read to its end"},
    {0, "keys", OPT_FLAG, FIELD(keys), 0, NULL, "print the keys in the order of delivery"},
    {0, "to", OPT_CHOICE, FIELD(to), 0, "none|tar|jsonl",
     "write the samples to standard output: as one tar, or as lines of JSON"},
    {'f', "force", OPT_FLAG, FIELD(force), 0, NULL, "write a tar to a terminal too"},
    {0, "stop-after", OPT_NUMBER, FIELD(stop_after), FIELD(has_stop), "N",
     "stop with the batch in which the Nth sample is"},
    {0, "save-state", OPT_FILE, FIELD(save_state), 0, "FILE",
     "at the end, however it comes, write where it stopped"},
    {0, "resume", OPT_FILE, FIELD(resume), 0, "FILE",
     "go on from there: on any number of threads and ranks, in batches of any size"},
};

static const opt_example examples[] = {
    {"shardtool stream out.shards.json --image rrc:224 --flip --shuffle full",
     "how fast a trainer could be fed"},
    {"shardtool stream out.shards.json --shuffle full --seed 7 --epoch 3 --keys | head",
     "which samples epoch 3 begins with"},
    {"shardtool stream out.shards.json --stop-after 1000 --save-state s.json --to tar > a.tar",
     "the first thousand samples"},
    {"shardtool stream out.shards.json --resume s.json --to tar > b.tar", "and the rest"},
};

typedef struct {
    const cli *cli;
    const stream_args *args;
    sample_output output;
    shard_loader *loader;
    progress progress;
    char resumed[STATE_FILE_MOST];
} streaming;

/* ---- options ---- */

static int set_image(const streaming *s, shard_image_opts *image)
{
    const stream_args *a = s->args;
    const char *why;
    if (!image_spec_parse(a->image, image, &why))
        return cli_usage(s->cli->verb->name, "--image %s: %s", a->image, why);
    image->flip = a->flip ? 0.5 : 0;
    image->fast = a->fast;
    image->grey = a->grey;
    image->layout = (shard_image_layout)a->layout;
    for (int i = 0; i < 3; i++) { /* of ImageNet, as all the world normalises */
        static const float mean[] = {0.485F, 0.456F, 0.406F},
                           deviation[] = {0.229F, 0.224F, 0.225F};
        image->mean[i] = mean[i];
        image->deviation[i] = deviation[i];
    }
    return EXIT_OK;
}

static int set_rank(const streaming *s, shard_loader_opts *o)
{
    const stream_args *a = s->args;
    if (a->has_rank != a->has_world_size)
        return cli_usage(s->cli->verb->name, "--rank and --world-size go together");
    if (!a->has_rank)
        return rank_from_environment(s->cli, &o->rank, &o->world_size);
    if (a->rank >= a->world_size || a->world_size > UINT32_MAX)
        return cli_usage(s->cli->verb->name, "--rank is from 0 to --world-size less 1");
    o->rank = (uint32_t)a->rank;
    o->world_size = (uint32_t)a->world_size;
    return EXIT_OK;
}

static bool has_image(const stream_args *a)
{
    return a->image && strcmp(a->image, "none") != 0;
}

static int check(const streaming *s)
{
    const char *name = s->cli->verb->name;
    const stream_args *a = s->args;
    if (a->keys && s->output != SAMPLE_OUTPUT_KEYS)
        return cli_usage(name, "--keys and --to are two outputs: choose one");
    if (s->output != SAMPLE_OUTPUT_NONE && a->common.json)
        return cli_usage(name, "--json prints a summary where --keys and --to print samples");
    if (has_image(a) && (s->output == SAMPLE_OUTPUT_TAR || s->output == SAMPLE_OUTPUT_JSONL))
        return cli_usage(name, "--to writes samples as stored: leave out --image");
    if (!has_image(a) && (a->flip || a->fast || a->grey || a->layout))
        return cli_usage(name, "--flip, --fast, --grey and --layout are about --image");
    if (a->batch > UINT32_MAX || a->threads > UINT32_MAX)
        return cli_usage(name, "--batch and --threads are smaller numbers");
    if (a->has_epochs && a->epochs == 0)
        return cli_usage(name, "--epochs is at least 1");
    if (a->resume && a->has_epoch)
        return cli_usage(name, "--resume says which epoch: leave out --epoch");
    if (a->endless && (a->has_epochs || a->drop_last || a->epoch_size))
        return cli_usage(name, "--endless is one epoch, without size and end");
    if (s->output == SAMPLE_OUTPUT_TAR && isatty(STDOUT_FILENO) && !a->force)
        return cli_usage(name, "a tar goes to a file or another program, and this is a terminal "
                               "(--force writes it)");
    return EXIT_OK;
}

static uint64_t epochs(const stream_args *a)
{
    return a->has_epochs ? a->epochs : 1;
}

static void tell_bad(void *context, const char *key, uint64_t id, const shard_error *why)
{
    const streaming *s = context;
    (void)id;
    (void)key; /* stands in the message */
    progress_clear_line();
    if (!s->args->common.quiet)
        cli_report(s->cli, why);
}

static int set_options(streaming *s, shard_loader_opts *o)
{
    const stream_args *a = s->args;
    o->cancel = s->cli->cancel;
    o->batch = (uint32_t)a->batch;
    o->shuffle = (shard_shuffle)a->shuffle;
    o->seed = a->seed;
    o->shuffle_samples = a->shuffle_samples;
    o->epoch = a->epoch;
    o->end_epoch = a->resume || a->endless ? 0 : a->epoch + epochs(a);
    o->epoch_size = a->epoch_size;
    o->endless = a->endless;
    o->drop_last = a->drop_last;
    o->on_bad = (shard_bad_sample)a->on_bad;
    o->tell_bad = tell_bad;
    o->tell_context = s;
    o->threads = (uint32_t)a->threads;
    o->memory = a->memory;
    o->no_checksums = a->no_checksums;
    o->keep_indexes = a->keep_indexes;
    int code = check(s);
    if (code == EXIT_OK && a->resume)
        code = state_file_read(s->cli, a->resume, s->resumed);
    o->resume = a->resume ? s->resumed : NULL;
    return code == EXIT_OK ? set_rank(s, o) : code;
}

static int open_loader(streaming *s, int count, char **operands)
{
    shard_loader_opts o = SHARD_LOADER_OPTS_INIT;
    shard_image_opts image = SHARD_IMAGE_OPTS_INIT;
    shard_field fields[] = {
        {.component = "jpg;jpeg;png;webp",
         .name = "image",
         .kind = SHARD_FIELD_IMAGE,
         .image = &image},
        {.component = "cls", .kind = SHARD_FIELD_INTEGER, .optional = true},
    };
    shard_error err;
    int code = set_options(s, &o);
    if (code == EXIT_OK && has_image(s->args)) {
        code = set_image(s, &image);
        o.fields = fields;
        o.field_count = sizeof fields / sizeof *fields;
    }
    if (code != EXIT_OK)
        return code;
    if (count == 0)
        return cli_usage(s->cli->verb->name, "SET is missing");
    if (shard_loader_open(&s->loader, (const char *const *)operands, (size_t)count, &o, &err) !=
        SHARD_OK)
        return cli_error(s->cli, &err);
    return EXIT_OK;
}

/* ---- the stream ---- */

static void note_stream(const streaming *s)
{
    shard_loader_info info;
    shard_loader_get_info(s->loader, &info);
    if (strcmp(info.order, "stream-1") == 0)
        cli_note(s->cli, "without an index, or gzip: shards are read from front to end");
}

static void show_progress(streaming *s)
{
    shard_loader_stats stats;
    if (!s->cli->progress || s->output != SAMPLE_OUTPUT_NONE)
        return;
    shard_loader_get_stats(s->loader, &stats);
    progress_show_rate(&s->progress, "samples", stats.samples, stats.bytes);
}

static int stream_batch(streaming *s, const shard_batch *batch, uint64_t *samples)
{
    int code = sample_output_batch(s->cli, s->output, batch);
    *samples += batch->valid_count;
    shard_loader_release(s->loader, batch);
    show_progress(s);
    return code;
}

/* Until the epochs are over, or enough samples have come. */
static int stream(streaming *s)
{
    uint64_t left = epochs(s->args), samples = 0;
    const shard_batch *batch;
    shard_error err;
    while (left > 0 && (!s->args->has_stop || samples < s->args->stop_after)) {
        shard_status status = shard_loader_next(s->loader, &batch, &err);
        if (status == SHARD_END) {
            left--;
            continue;
        }
        if (status != SHARD_OK)
            return cli_error(s->cli, &err);
        int code = stream_batch(s, batch, &samples);
        if (code != EXIT_OK)
            return code;
    }
    sample_output_end(s->output);
    return EXIT_OK;
}

/* After Ctrl-C too: what was delivered is not delivered again. What did not get out is told of at
 * the very end. */
static int save_state(const streaming *s, const char *state)
{
    if (!s->args->save_state || !state)
        return EXIT_OK;
    if (fflush(stdout) != 0 || ferror(stdout))
        return EXIT_OK;
    return state_file_write(s->cli, s->args->save_state, state);
}

static int finish(streaming *s, int code)
{
    char state[SHARD_STATE_SIZE];
    shard_error err;
    stream_report report = {.seconds = progress_seconds(&s->progress)};
    progress_clear_line();
    if (shard_loader_get_state(s->loader, state, &err) == SHARD_OK)
        report.state = state;
    else if (s->args->save_state)
        return cli_error(s->cli, &err);
    int saved = save_state(s, report.state);
    shard_loader_get_stats(s->loader, &report.stats);
    shard_loader_get_info(s->loader, &report.info);
    if (code == EXIT_OK && s->cli->common->json)
        stream_report_json(&report);
    if (code == EXIT_OK && s->output == SAMPLE_OUTPUT_NONE)
        stream_report_text(s->cli, &report);
    return code != EXIT_OK ? code : saved;
}

/* A shuffle reads from hundreds of shards at a time; nothing here minds large descriptors. */
static void allow_open_files(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

static int run(cli *c, void *args, int count, char **operands)
{
    streaming s = {.cli = c, .args = args};
    s.output = s.args->to > 0 ? (s.args->to == 1 ? SAMPLE_OUTPUT_TAR : SAMPLE_OUTPUT_JSONL)
               : s.args->keys ? SAMPLE_OUTPUT_KEYS
                              : SAMPLE_OUTPUT_NONE;
    allow_open_files();
    progress_begin(&s.progress);
    int code = open_loader(&s, count, operands);
    if (code == EXIT_OK) {
        note_stream(&s);
        signals_leave_to_others(true); /* the loader's threads, while there is a loader */
        code = finish(&s, stream(&s));
        signals_leave_to_others(false);
    }
    shard_loader_close(s.loader);
    return code;
}

const verb verb_stream = {
    .name = "stream",
    .summary = "run the loader: how fast, in which order, or into a pipe",
    .operands = "SET...",
    .text = "Load SET as a trainer would: shuffled, read and decoded by threads, in batches, "
            "and throw the batches away, or write their samples to standard output. At the end it "
            "says how fast that was and who was waited for.\n\n" SET_TEXT,
    .opts = opts,
    .opt_count = sizeof opts / sizeof *opts,
    .examples = examples,
    .example_count = sizeof examples / sizeof *examples,
    .args_size = sizeof(stream_args),
    .run = run,
};
