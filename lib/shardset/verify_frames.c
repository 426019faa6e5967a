/* SPDX-License-Identifier: Apache-2.0 */
#include "shardset/verify_frames.h"

/* ---- seek table ---- */

static void tell_fault(shard_verify_frames *f, fmt_status status, const fmt_fault *fault)
{
    shard_error problem;
    shard_fail_fmt(&problem, status, fault, f->problems->path, 0);
    shard_problem_tell(f->problems, &problem);
}

static void find_table(shard_verify_frames *f)
{
    fmt_fault fault;
    uint64_t size = f->map.size;
    if (size < fmt_seek_table_size(0))
        return;
    const uint8_t *end = f->map.data + size;
    fmt_status status =
        fmt_seek_table_read_footer(end - FMT_SEEK_TABLE_FOOTER_SIZE, size, &f->table, &fault);
    if (status == FMT_END)
        return;
    const uint8_t *bytes = status == FMT_OK ? end - f->table.table_size : NULL;
    if (status == FMT_OK)
        status = fmt_seek_table_check(&f->table, bytes, size, &fault);
    if (status == FMT_OK)
        f->table_bytes = bytes;
    else
        tell_fault(f, status, &fault);
}

void shard_verify_frames_open(shard_verify_frames *f, bool seekable, const shard_index *index,
                              shard_problems *problems)
{
    shard_index_info info = {0};
    shard_error problem;
    if (index)
        shard_index_get_info(index, &info);
    *f = (shard_verify_frames){.problems = problems, .index = index, .indexed = info.frames};
    if (!seekable)
        return;
    if (shard_map_open(&f->map, problems->path, &problem) == SHARD_OK)
        find_table(f);
    else
        shard_problem_tell(problems, &problem);
}

void shard_verify_frames_close(shard_verify_frames *f)
{
    shard_map_close(&f->map);
}

/* ---- frames ---- */

static void compare_entry(shard_verify_frames *f, uint64_t stored, uint64_t tar)
{
    uint32_t stored_size, content_size;
    bool is_table = f->table_bytes && stored == f->map.size;
    if (!f->table_bytes || is_table || f->entry >= f->table.frames)
        return;
    fmt_seek_table_get(&f->table, f->table_bytes, f->entry++, &stored_size, &content_size);
    shard_problem_numbers(f->problems, SHARD_ESTALE, f->stored,
                          "size of a frame against the seek table", stored_size,
                          stored - f->stored);
    shard_problem_numbers(f->problems, SHARD_ESTALE, f->stored,
                          "content of a frame against the seek table", content_size, tar - f->tar);
}

/* The index leaves out frames without content. */
static void compare_indexed(shard_verify_frames *f, uint64_t stored, uint64_t tar)
{
    shard_index_frame expected;
    shard_error problem;
    if (f->indexed == 0 || tar == f->tar || f->frame++ >= f->indexed)
        return;
    if (shard_index_get_frame(f->index, f->frame - 1, &expected, &problem) != SHARD_OK) {
        shard_problem_tell(f->problems, &problem);
        return;
    }
    shard_problem_numbers(f->problems, SHARD_ESTALE, f->stored, "end of a frame against the index",
                          expected.stored_end, stored);
    shard_problem_numbers(f->problems, SHARD_ESTALE, f->stored,
                          "end of a frame's content against the index", expected.tar_end, tar);
}

shard_status shard_verify_frames_next(void *frames, uint64_t stored, uint64_t tar)
{
    shard_verify_frames *f = frames;
    compare_entry(f, stored, tar);
    compare_indexed(f, stored, tar);
    f->stored = stored;
    f->tar = tar;
    return SHARD_OK;
}

void shard_verify_frames_end(shard_verify_frames *f)
{
    if (f->table_bytes)
        shard_problem_numbers(f->problems, SHARD_ESTALE, SHARD_NO_OFFSET,
                              "frames against the seek table", f->table.frames, f->entry);
    if (f->indexed > 0)
        shard_problem_numbers(f->problems, SHARD_ESTALE, SHARD_NO_OFFSET,
                              "frames against the index", f->indexed, f->frame);
}
