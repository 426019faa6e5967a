/* SPDX-License-Identifier: Apache-2.0 */
/*
 * train SET CHECKPOINT [OPTION...]: train a small net to tell a set's classes by its images.
 * Whatever ends it, the same command goes on from the last checkpoint, to the same weights, bit for
 * bit, as if nothing had happened. docs/guides/train.md walks through it.
 */
#include <shard/shard.h>

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "net.h"

enum { SIDE = 32, INPUTS = 3 * SIDE * SIDE, EXIT_USAGE = 2 };
enum { IMAGE, LABEL }; /* fields, in this order */

static const float learning_rate = 0.003F;

typedef struct {
    const char *set, *checkpoint;
    uint64_t epochs, batch, threads, hidden, every, seed;
} train_args;

typedef struct {
    train_args args;
    net net;
    uint64_t step, saved; /* batches that are in the weights; in the checkpoint */
    uint64_t epoch;
    shard_loader *loader;
    char state[SHARD_STATE_SIZE]; /* the loader's, behind the batch of `step` */
    double loss;                  /* sum over `samples`, since it was told last */
    uint64_t samples;
} trainer;

/* ---- errors: one line, and the exit status ---- */

static int fail(const shard_error *err)
{
    fprintf(stderr, "train: %s%s%s\n", err->url, err->url[0] ? ": " : "", err->message);
    return EXIT_FAILURE;
}

static int fail_file(const char *path, const char *why)
{
    fprintf(stderr, "train: %s: %s\n", path, why);
    return EXIT_FAILURE;
}

/* ---- options ---- */

static int usage(void)
{
    fprintf(stderr, "usage: train SET CHECKPOINT [--epochs N] [--batch N] [--threads N] "
                    "[--hidden N] [--every STEPS] [--seed N]\n");
    return EXIT_USAGE;
}

static bool read_number(const char *text, uint64_t least, uint64_t *out)
{
    char *end;
    *out = strtoull(text, &end, 10);
    return *text >= '0' && *text <= '9' && *end == 0 && *out >= least && *out <= UINT32_MAX;
}

static bool read_args(train_args *a, int argc, char **argv)
{
    const struct {
        const char *name;
        uint64_t *value, least;
    } options[] = {
        {"--epochs", &a->epochs, 1}, {"--batch", &a->batch, 1}, {"--threads", &a->threads, 0},
        {"--hidden", &a->hidden, 1}, {"--every", &a->every, 1}, {"--seed", &a->seed, 0},
    };
    const size_t count = sizeof options / sizeof *options;
    if (argc < 3 || argc % 2 == 0)
        return false;
    *a = (train_args){.set = argv[1], .checkpoint = argv[2]};
    a->epochs = a->every = 10;
    a->batch = 32;
    a->hidden = 16;
    for (int i = 3; i < argc; i += 2) {
        size_t o = 0;
        while (o < count && strcmp(argv[i], options[o].name) != 0)
            o++;
        if (o == count || !read_number(argv[i + 1], options[o].least, options[o].value))
            return false;
    }
    return true;
}

/* ---- the checkpoint: what is needed to go on, and nothing else ---- */

typedef struct {
    char magic[8];
    uint32_t hidden, classes;
    uint64_t step;
    char state[SHARD_STATE_SIZE];
} checkpoint_head; /* the weights follow; all of it in this machine's byte order */

static const char magic[8] = "train-1";

static bool write_to(const trainer *t, FILE *file)
{
    checkpoint_head head = {.hidden = t->net.hidden, .classes = t->net.classes, .step = t->step};
    memcpy(head.magic, magic, sizeof magic);
    memcpy(head.state, t->state, sizeof t->state);
    return fwrite(&head, sizeof head, 1, file) == 1 &&
           fwrite(t->net.weights, sizeof(float), t->net.count, file) == t->net.count &&
           fflush(file) == 0 && fsync(fileno(file)) == 0;
}

/* Written aside, then moved over: who is killed meanwhile keeps the checkpoint before. */
static int save(trainer *t)
{
    char aside[4096];
    const char *path = t->args.checkpoint;
    if ((size_t)snprintf(aside, sizeof aside, "%s.tmp", path) >= sizeof aside)
        return fail_file(path, strerror(ENAMETOOLONG));
    FILE *file = fopen(aside, "wb");
    if (!file)
        return fail_file(aside, strerror(errno));
    int why = write_to(t, file) ? 0 : errno;
    if (fclose(file) != 0 && why == 0)
        why = errno;
    if (why == 0 && rename(aside, path) != 0)
        why = errno;
    if (why != 0) {
        unlink(aside);
        return fail_file(aside, strerror(why));
    }
    t->saved = t->step;
    return EXIT_SUCCESS;
}

static int read_from(trainer *t, FILE *file)
{
    checkpoint_head head;
    shard_state state;
    shard_error err;
    const char *path = t->args.checkpoint;
    if (fread(&head, sizeof head, 1, file) != 1 || memcmp(head.magic, magic, sizeof magic) != 0 ||
        head.state[sizeof head.state - 1] != 0)
        return fail_file(path, "not a checkpoint of this program");
    if (head.hidden != t->net.hidden || head.classes != t->net.classes) {
        fprintf(stderr, "train: %s: of a net %u wide for %u classes, not %u wide for %u\n", path,
                head.hidden, head.classes, t->net.hidden, t->net.classes);
        return EXIT_FAILURE;
    }
    if (fread(t->net.weights, sizeof(float), t->net.count, file) != t->net.count ||
        getc(file) != EOF)
        return fail_file(path, "weights are missing, or more than these follow");
    t->step = t->saved = head.step;
    memcpy(t->state, head.state, sizeof t->state);
    if (shard_state_parse(&state, t->state, strlen(t->state), &err) != SHARD_OK)
        return fail_file(path, err.message);
    t->epoch = state.epoch;
    return EXIT_SUCCESS;
}

/* Without a checkpoint it begins with random weights, and `state` stays empty. */
static int load(trainer *t)
{
    FILE *file = fopen(t->args.checkpoint, "rb");
    if (!file)
        return errno == ENOENT ? EXIT_SUCCESS : fail_file(t->args.checkpoint, strerror(errno));
    int code = read_from(t, file);
    fclose(file);
    return code;
}

/* ---- opening ---- */

/* As many classes as the set's manifest names. */
static int make_net(trainer *t)
{
    shard_set *set;
    shard_set_info info;
    shard_error err;
    if (shard_set_open(&set, &t->args.set, 1, NULL, &err) != SHARD_OK)
        return fail(&err);
    shard_set_get_info(set, &info);
    uint32_t classes = (uint32_t)info.class_count;
    shard_set_close(set);
    if (classes == 0)
        return fail_file(t->args.set, "no classes: pack the set with --label-from dir");
    if (!net_init(&t->net, INPUTS, (uint32_t)t->args.hidden, classes, t->args.seed))
        return fail_file("net", strerror(ENOMEM));
    return EXIT_SUCCESS;
}

/* Called by shard_loader_next. */
static void tell_bad(void *context, const char *key, uint64_t id, const shard_error *why)
{
    (void)context;
    (void)key; /* stands in the message */
    (void)id;
    fprintf(stderr, "train: left out: %s: %s\n", why->url, why->message);
}

static int open_loader(trainer *t)
{
    shard_error err;
    shard_image_opts image = SHARD_IMAGE_OPTS_INIT;
    image.fit = SHARD_IMAGE_RANDOM_CROP;
    image.area_min = 0.5;
    image.area_max = 1;
    image.flip = 0.5;
    image.layout = SHARD_IMAGE_F32_NCHW;
    image.width = image.height = SIDE;
    for (int c = 0; c < 3; c++) {
        image.mean[c] = 0.5F;
        image.deviation[c] = 0.25F;
    }
    const shard_field fields[] = {
        [IMAGE] = {.component = "jpg;jpeg;png;webp", .kind = SHARD_FIELD_IMAGE, .image = &image},
        [LABEL] = {.component = "cls", .kind = SHARD_FIELD_INTEGER},
    };
    shard_loader_opts opts = SHARD_LOADER_OPTS_INIT;
    opts.fields = fields;
    opts.field_count = sizeof fields / sizeof *fields;
    opts.batch = (uint32_t)t->args.batch;
    opts.shuffle = SHARD_SHUFFLE_FULL;
    opts.seed = t->args.seed;
    opts.threads = (uint32_t)t->args.threads;
    opts.on_bad = SHARD_BAD_MASK;
    opts.tell_bad = tell_bad;
    opts.end_epoch = t->args.epochs;
    opts.resume = t->state[0] ? t->state : NULL;
    shard_status status = shard_loader_open(&t->loader, &t->args.set, 1, &opts, &err);
    if (status == SHARD_OK)
        return EXIT_SUCCESS;
    if (status == SHARD_ESTALE && opts.resume) /* the state, against this set and these options */
        return fail_file(t->args.checkpoint, err.message);
    return fail(&err);
}

/* ---- training ---- */

static int learn(trainer *t, const shard_batch *batch)
{
    const shard_tensor *image = &batch->tensors[IMAGE];
    const int64_t *label = batch->tensors[LABEL].data;
    for (uint32_t i = 0; i < batch->rows; i++) {
        if (!batch->valid[i]) /* behind the epoch's last sample, or a bad one */
            continue;
        if (label[i] < 0 || label[i] >= t->net.classes)
            return fail_file(batch->keys[i], "its class is not one of the manifest's");
        const float *pixels = (const float *)image->data + i * image->stride[0];
        t->loss += net_learn(&t->net, pixels, (uint32_t)label[i]);
        t->samples++;
    }
    net_step(&t->net, learning_rate);
    t->step++;
    return EXIT_SUCCESS;
}

/* What has been told has been saved before. */
static int save_and_tell(trainer *t)
{
    int code = save(t);
    if (code != EXIT_SUCCESS)
        return code;
    printf("epoch %" PRIu64 " step %" PRIu64 " loss %.6f\n", t->epoch, t->step,
           t->samples > 0 ? t->loss / (double)t->samples : 0);
    fflush(stdout);
    t->loss = 0;
    t->samples = 0;
    return EXIT_SUCCESS;
}

static int train(trainer *t)
{
    const shard_batch *batch;
    shard_error err;
    while (t->epoch < t->args.epochs) {
        shard_status status = shard_loader_next(t->loader, &batch, &err);
        if (status == SHARD_END) {
            t->epoch++;
            continue;
        }
        if (status != SHARD_OK)
            return fail(&err);
        int code = learn(t, batch);
        shard_loader_release(t->loader, batch);
        if (code != EXIT_SUCCESS)
            return code;
        /* Weights and state belong together: this state is behind the batch just learned. */
        if (shard_loader_get_state(t->loader, t->state, &err) != SHARD_OK)
            return fail(&err);
        if (t->step % t->args.every == 0)
            code = save_and_tell(t);
        if (code != EXIT_SUCCESS)
            return code;
    }
    return t->step > t->saved ? save(t) : EXIT_SUCCESS;
}

static void report(const trainer *t)
{
    shard_loader_stats stats;
    shard_loader_get_stats(t->loader, &stats);
    printf("%" PRIu64 " steps, weights %016" PRIx64 "\n", t->step, net_hash(&t->net));
    fprintf(stderr, "%" PRIu64 " samples; waited %.3f s for batches\n", stats.samples,
            stats.wait_s);
}

static int run(trainer *t)
{
    int code = make_net(t);
    if (code == EXIT_SUCCESS)
        code = load(t);
    if (code == EXIT_SUCCESS)
        code = open_loader(t);
    if (code == EXIT_SUCCESS)
        code = train(t);
    if (code == EXIT_SUCCESS)
        report(t);
    return code;
}

int main(int argc, char **argv)
{
    trainer t = {0};
    if (!read_args(&t.args, argc, argv))
        return usage();
    int code = run(&t);
    shard_loader_close(t.loader);
    net_clear(&t.net);
    return code;
}
