/* SPDX-License-Identifier: Apache-2.0 */
/* read_local SET: one shuffled epoch of a set, in batches of decoded images and their classes. */
#include <shard/shard.h>

#include <inttypes.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: read_local SET\n");
        return 2;
    }
    shard_image_opts image = SHARD_IMAGE_OPTS_INIT;
    image.fit = SHARD_IMAGE_RANDOM_CROP;
    image.width = image.height = 224;
    const shard_field fields[] = {
        {.component = "jpg;jpeg", .kind = SHARD_FIELD_IMAGE, .image = &image},
        {.component = "cls", .kind = SHARD_FIELD_INTEGER},
    };
    shard_loader_opts opts = SHARD_LOADER_OPTS_INIT;
    opts.fields = fields;
    opts.field_count = sizeof fields / sizeof *fields;
    opts.shuffle = SHARD_SHUFFLE_FULL;

    shard_loader *loader; /* NULL if it cannot be opened */
    const shard_batch *batch;
    shard_error err;
    const char *urls[] = {argv[1]}; /* a manifest, a shard, or a pattern of shards */
    shard_status status = shard_loader_open(&loader, urls, 1, &opts, &err);
    for (int number = 0; status == SHARD_OK; number++) {
        status = shard_loader_next(loader, &batch, &err);
        if (status != SHARD_OK)
            break;
        const shard_tensor *pixels = &batch->tensors[0], *classes = &batch->tensors[1];
        printf("batch %d: %" PRIu32 " of %" PRId64 "x%" PRId64 "x%" PRId64 ", first %s of class "
               "%" PRId64 "\n",
               number, batch->valid_count, pixels->shape[1], pixels->shape[2], pixels->shape[3],
               batch->keys[0], ((const int64_t *)classes->data)[0]);
        shard_loader_release(loader, batch);
    }
    shard_loader_close(loader);
    if (status == SHARD_END)
        return 0;
    fprintf(stderr, "%s%s%s\n", err.url, err.url[0] ? ": " : "", err.message);
    return 1;
}
