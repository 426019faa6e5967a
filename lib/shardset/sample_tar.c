/* SPDX-License-Identifier: Apache-2.0 */
#include <shard/set.h>

#include <string.h>

#include "core/error.h"
#include "tar/tar_header.h"

static bool write_component(const shard_sample_component *c, const char *path, size_t path_size,
                            shard_write_fn write, void *context)
{
    static const uint8_t zeros[FMT_TAR_BLOCK];
    uint8_t header[FMT_TAR_HEADERS_MAX];
    size_t size = fmt_tar_header_write(header, path, path_size, c->size, 0);
    return write(context, header, size) && write(context, c->data, c->size) &&
           write(context, zeros, fmt_tar_padding(c->size));
}

static shard_status make_path(const shard_sample *sample, const shard_sample_component *c,
                              char path[FMT_TAR_PATH_MAX], size_t *size, shard_error *err)
{
    size_t name = strlen(c->name);
    *size = sample->key_size + 1 + name;
    if (*size > FMT_TAR_PATH_MAX)
        return shard_fail(err, SHARD_ELIMIT, NULL, SHARD_NO_OFFSET,
                          "path of sample \"%.200s\" is too long", sample->key);
    memcpy(path, sample->key, sample->key_size);
    path[sample->key_size] = '.';
    memcpy(path + sample->key_size + 1, c->name, name);
    return SHARD_OK;
}

static shard_status cannot_write(shard_error *err)
{
    return shard_fail(err, SHARD_EIO, NULL, SHARD_NO_OFFSET, "cannot write the sample");
}

shard_status shard_sample_to_members(const shard_sample *sample, shard_write_fn write,
                                     void *context, shard_error *err)
{
    for (size_t i = 0; i < sample->count; i++) {
        char path[FMT_TAR_PATH_MAX];
        size_t size;
        const shard_sample_component *c = &sample->components[i];
        SHARD_TRY(make_path(sample, c, path, &size, err));
        if (!write_component(c, path, size, write, context))
            return cannot_write(err);
    }
    return SHARD_OK;
}

shard_status shard_sample_to_tar(const shard_sample *sample, shard_write_fn write, void *context,
                                 shard_error *err)
{
    static const uint8_t end[FMT_TAR_END_SIZE];
    SHARD_TRY(shard_sample_to_members(sample, write, context, err));
    return write(context, end, sizeof end) ? SHARD_OK : cannot_write(err);
}
