/* SPDX-License-Identifier: Apache-2.0 */
#include <shard/state.h>

#include <stdio.h>
#include <string.h>

#include "core/error.h"
#include "json/json.h"

static bool is_name(const char *name)
{
    size_t size = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-");
    return size > 0 && size < sizeof((shard_state *)0)->order && name[size] == 0;
}

static bool is_stream(const shard_state *s)
{
    return strcmp(s->order, "stream-1") == 0;
}

static shard_status check(const shard_state *s, const char *url, shard_status otherwise,
                          shard_error *err)
{
    if (!is_name(s->order))
        return shard_fail(err, otherwise, url, SHARD_NO_OFFSET, "state: \"order\" is not a name");
    if (s->seed >= SHARD_ORDER_SEED_MAX)
        return shard_fail(err, otherwise, url, SHARD_NO_OFFSET, "state: \"seed\" is too large");
    if (s->epoch >= SHARD_ORDER_EPOCHS_MAX)
        return shard_fail(err, otherwise, url, SHARD_NO_OFFSET, "state: \"epoch\" is too large");
    if (s->position >= SHARD_ORDER_SAMPLES_MAX)
        return shard_fail(err, otherwise, url, SHARD_NO_OFFSET, "state: \"position\" is too large");
    if (s->round >= SHARD_ORDER_EPOCHS_MAX || s->departures >= SHARD_ORDER_SAMPLES_MAX ||
        s->shard >= SHARD_ORDER_SAMPLES_MAX || s->first > s->departures)
        return shard_fail(err, otherwise, url, SHARD_NO_OFFSET,
                          "state: \"round\", \"departures\", \"shard\" or \"first\" is too large");
    return SHARD_OK;
}

shard_status shard_state_format(const shard_state *state, char out[SHARD_STATE_SIZE],
                                shard_error *err)
{
    SHARD_TRY(check(state, NULL, SHARD_EINVAL, err));
    int size =
        snprintf(out, SHARD_STATE_SIZE,
                 "{\"order\":\"%s\",\"seed\":%llu,\"epoch\":%llu,\"position\":%llu,"
                 "\"set\":\"%08x\",\"opts\":\"%08x\"",
                 state->order, (unsigned long long)state->seed, (unsigned long long)state->epoch,
                 (unsigned long long)state->position, state->set_digest, state->opts_digest);
    if (is_stream(state))
        size += snprintf(out + size, SHARD_STATE_SIZE - (size_t)size,
                         ",\"round\":%llu,\"departures\":%llu,\"shard\":%llu,\"first\":%llu",
                         (unsigned long long)state->round, (unsigned long long)state->departures,
                         (unsigned long long)state->shard, (unsigned long long)state->first);
    snprintf(out + size, SHARD_STATE_SIZE - (size_t)size, "}");
    return SHARD_OK;
}

static shard_status fail_field(const char *name, const char *what, shard_error *err)
{
    return shard_fail(err, SHARD_EFORMAT, NULL, SHARD_NO_OFFSET, "state: \"%s\" is not %s", name,
                      what);
}

static shard_status get_number(const fmt_json *object, const char *name, uint64_t *out,
                               shard_error *err)
{
    const fmt_json *value = fmt_json_get(object, name);
    if (!value || fmt_json_kind_of(value) != FMT_JSON_INTEGER || fmt_json_integer(value) < 0)
        return fail_field(name, "a number", err);
    *out = (uint64_t)fmt_json_integer(value);
    return SHARD_OK;
}

static shard_status get_digest(const fmt_json *object, const char *name, uint32_t *out,
                               shard_error *err)
{
    static const char digits[] = "0123456789abcdef";
    const fmt_json *value = fmt_json_get(object, name);
    fmt_span text = value ? fmt_json_string(value) : (fmt_span){0};
    if (!text.data || text.size != 8)
        return fail_field(name, "a digest", err);
    *out = 0;
    for (size_t i = 0; i < text.size; i++) {
        const char *digit = memchr(digits, text.data[i], sizeof digits - 1);
        if (!digit)
            return fail_field(name, "a digest", err);
        *out = *out << 4 | (uint32_t)(digit - digits);
    }
    return SHARD_OK;
}

static shard_status get_name(const fmt_json *object, shard_state *out, shard_error *err)
{
    const fmt_json *value = fmt_json_get(object, "order");
    fmt_span text = value ? fmt_json_string(value) : (fmt_span){0};
    if (!text.data || text.size >= sizeof out->order || memchr(text.data, 0, text.size))
        return fail_field("order", "a name", err);
    memcpy(out->order, text.data, text.size);
    return SHARD_OK;
}

static shard_status get_fields(const fmt_json *object, shard_state *out, shard_error *err)
{
    *out = (shard_state){0};
    if (fmt_json_kind_of(object) != FMT_JSON_OBJECT)
        return shard_fail(err, SHARD_EFORMAT, NULL, SHARD_NO_OFFSET, "state: not a JSON object");
    SHARD_TRY(get_name(object, out, err));
    SHARD_TRY(get_number(object, "seed", &out->seed, err));
    SHARD_TRY(get_number(object, "epoch", &out->epoch, err));
    SHARD_TRY(get_number(object, "position", &out->position, err));
    SHARD_TRY(get_digest(object, "set", &out->set_digest, err));
    SHARD_TRY(get_digest(object, "opts", &out->opts_digest, err));
    if (is_stream(out)) {
        SHARD_TRY(get_number(object, "round", &out->round, err));
        SHARD_TRY(get_number(object, "departures", &out->departures, err));
        SHARD_TRY(get_number(object, "shard", &out->shard, err));
        SHARD_TRY(get_number(object, "first", &out->first, err));
    }
    return check(out, NULL, SHARD_EFORMAT, err);
}

shard_status shard_state_parse(shard_state *out, const char *text, size_t size, shard_error *err)
{
    fmt_json *object;
    fmt_fault fault;
    fmt_status parsed = fmt_json_parse(&object, (fmt_span){(const uint8_t *)text, size}, &fault);
    if (parsed != FMT_OK)
        return shard_fail_fmt(err, parsed, &fault, "(state)", 0);
    shard_status status = get_fields(object, out, err);
    fmt_json_free(object);
    return status;
}
