/* SPDX-License-Identifier: Apache-2.0 */
#include "pack/input/input.h"

#include <string.h>

#include "utf8.h"

shard_status pack_input_new(pack_input **out, size_t size, const pack_input_type *type,
                            const shard_pack_opts *opts, const fmt_alloc *alloc, shard_error *err)
{
    pack_names names;
    SHARD_TRY(pack_names_init(&names, opts, err));
    pack_input *input = shard_alloc_zeroed(alloc, 1, size);
    *out = input;
    if (!input)
        return shard_fail_memory(err);
    input->type = type;
    input->names = names;
    input->samples = SHARD_UNKNOWN;
    input->alloc = *alloc;
    return SHARD_OK;
}

void pack_input_close(pack_input *input)
{
    if (!input)
        return;
    input->type->close(input);
    fmt_alloc alloc = input->alloc;
    for (size_t i = 0; i < input->skip_count; i++) {
        shard_alloc_free(&alloc, (void *)(uintptr_t)input->skips[i].name);
        shard_alloc_free(&alloc, (void *)(uintptr_t)input->skips[i].reason);
    }
    shard_alloc_free(&alloc, input->skips);
    shard_alloc_free(&alloc, input);
}

shard_status pack_input_fail_empty(const pack_input *input, const char *source, shard_error *err)
{
    const pack_ignored *ignored = &input->ignored;
    return shard_fail(
        err, SHARD_EDATA, source, SHARD_NO_OFFSET,
        "no samples found (files without extension: %llu, hidden: %llu, with reserved "
        "names: %llu; samples left out: %zu)",
        (unsigned long long)ignored->no_extension, (unsigned long long)ignored->hidden,
        (unsigned long long)ignored->reserved, input->skip_count);
}

shard_status pack_input_check_class(const char *name, shard_error *err)
{
    if (fmt_utf8_ok(name, strlen(name)))
        return SHARD_OK;
    return shard_fail(err, SHARD_EDATA, name, SHARD_NO_OFFSET,
                      "the name of this class folder is not UTF-8, as a manifest needs it");
}

shard_status pack_input_skip(pack_input *input, const char *name, const char *reason,
                             shard_error *err)
{
    if (!shard_alloc_grow(&input->alloc, &input->skips, &input->skip_capacity,
                          input->skip_count + 1, sizeof *input->skips))
        return shard_fail_memory(err);
    shard_set_skip *skip = &input->skips[input->skip_count++];
    skip->name = shard_alloc_text(&input->alloc, name);
    skip->reason = shard_alloc_text(&input->alloc, reason);
    return skip->name && skip->reason ? SHARD_OK : shard_fail_memory(err);
}
