/* SPDX-License-Identifier: Apache-2.0 */
/* Which kind of input the options ask for. */
#include "pack/input/entries.h"
#include "pack/input/input.h"

shard_status pack_input_open(pack_input **out, const shard_pack_opts *opts, bool counted,
                             const fmt_alloc *alloc, shard_error *err)
{
    size_t archives = 0;
    *out = NULL;
    if ((opts->source_count > 0) + (opts->files_from != NULL) + (opts->table != NULL) != 1)
        return shard_fail(err, SHARD_EINVAL, NULL, SHARD_NO_OFFSET,
                          "one kind of input is needed: sources, a list of files or a table");
    if (opts->table)
        return pack_table_open(out, opts, alloc, err);
    for (size_t i = 0; i < opts->source_count; i++)
        archives += pack_archive_kind_of(opts->sources[i]) != PACK_NO_ARCHIVE;
    if (archives == 0)
        return pack_files_open(out, opts, alloc, err);
    if (archives < opts->source_count)
        return shard_fail(err, SHARD_EINVAL, NULL, SHARD_NO_OFFSET,
                          "archives and other files do not go together: pack them one by one");
    return pack_archives_open(out, opts, counted, alloc, err);
}
