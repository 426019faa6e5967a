/* SPDX-License-Identifier: Apache-2.0 */
#include "pack/engine/progress.h"

#include "os/clock.h"

enum { TELL_EVERY_MS = 50 };

shard_status pack_progress_init(pack_progress *progress, const shard_pack_opts *opts,
                                const pack_plan *plan, shard_error *err)
{
    uint64_t total = plan->samples;
    if (total != UINT64_MAX && !plan->rolls)
        total = pack_plan_first(plan, plan->last_shard) - pack_plan_first(plan, plan->first_shard);
    *progress = (pack_progress){.on_progress = opts->on_progress,
                                .context = opts->context,
                                .now = {.samples_total = total}};
    return pthread_mutex_init(&progress->mutex, NULL) == 0 ? SHARD_OK : shard_fail_memory(err);
}

void pack_progress_clear(pack_progress *progress)
{
    pthread_mutex_destroy(&progress->mutex);
}

void pack_progress_add(pack_progress *progress, uint64_t samples, uint64_t bytes_in,
                       uint64_t bytes_out)
{
    if (!progress->on_progress)
        return;
    pthread_mutex_lock(&progress->mutex);
    progress->now.samples += samples;
    progress->now.bytes_in += bytes_in;
    progress->now.bytes_out += bytes_out;
    uint64_t now = shard_clock_ns() / 1000000;
    if (now - progress->told_ms >= TELL_EVERY_MS) {
        progress->told_ms = now;
        progress->on_progress(progress->context, &progress->now);
    }
    pthread_mutex_unlock(&progress->mutex);
}
