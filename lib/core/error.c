/* SPDX-License-Identifier: Apache-2.0 */
#define CORE_ERROR_C
#include "core/error.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void copy_cut(char *out, size_t capacity, const char *text)
{
    size_t size = strlen(text);
    if (size >= capacity)
        size = capacity - 1;
    memcpy(out, text, size);
    out[size] = 0;
}

static void begin(shard_error *err, shard_status status, const char *url, uint64_t offset)
{
    *err = (shard_error){.status = status, .offset = offset};
    copy_cut(err->url, sizeof err->url, url ? url : "");
}

shard_status shard_fail(shard_error *err, shard_status status, const char *url, uint64_t offset,
                        const char *format, ...)
{
    if (!err)
        return status;
    begin(err, status, url, offset);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(err->message, sizeof err->message, format, arguments);
    va_end(arguments);
    return status;
}

shard_status shard_fail_memory(shard_error *err)
{
    return shard_fail(err, SHARD_ENOMEM, NULL, SHARD_NO_OFFSET, "out of memory");
}

static shard_status status_of_errno(int code)
{
    switch (code) {
    case ENOENT:
        return SHARD_ENOTFOUND;
    case EEXIST:
        return SHARD_EEXIST;
    case ENOMEM:
        return SHARD_ENOMEM;
    default:
        return SHARD_EIO;
    }
}

shard_status shard_fail_errno(shard_error *err, const char *url, const char *what, int code)
{
    shard_status status = status_of_errno(code);
    char reason[128];
    if (strerror_r(code, reason, sizeof reason) != 0)
        snprintf(reason, sizeof reason, "error %d", code);
    shard_fail(err, status, url, SHARD_NO_OFFSET, "%s: %s", what, reason);
    if (err) {
        err->sys_errno = code;
        err->retryable = code == EAGAIN || code == EINTR || code == EBUSY || code == ETIMEDOUT;
    }
    return status;
}

static shard_status status_of_fmt(fmt_status status)
{
    switch (status) {
    case FMT_OK:
        return SHARD_OK;
    case FMT_END:
        return SHARD_END;
    case FMT_ETRUNCATED:
    case FMT_NEED_MORE:
        return SHARD_ETRUNCATED;
    case FMT_ECHECKSUM:
        return SHARD_ECHECKSUM;
    case FMT_EUNSUPPORTED:
        return SHARD_EUNSUPPORTED;
    case FMT_ELIMIT:
        return SHARD_ELIMIT;
    case FMT_ENOMEM:
        return SHARD_ENOMEM;
    case FMT_EINVALID:
        break;
    }
    return SHARD_EFORMAT;
}

/* File names may hold anything; a message is one line. */
static void put_name(char *out, size_t capacity, const char *name)
{
    size_t n = 0;
    for (; *name && n + 5 < capacity; name++) {
        unsigned char c = (unsigned char)*name;
        if (c < 0x20 || c == 0x7f)
            n += (size_t)snprintf(out + n, capacity - n, "\\x%02x", c);
        else
            out[n++] = (char)c;
    }
    out[n] = 0;
}

shard_status shard_fail_fmt(shard_error *err, fmt_status status, const fmt_fault *fault,
                            const char *url, uint64_t base)
{
    shard_status result = status_of_fmt(status);
    if (!err || result == SHARD_OK || result == SHARD_END)
        return result;
    begin(err, result, url, base + fault->offset);
    char name[sizeof fault->name * 4];
    put_name(name, sizeof name, fault->name);
    int n =
        snprintf(err->message, sizeof err->message, "%s%s%s", fault->what, *name ? " " : "", name);
    if (fault->has_values)
        snprintf(err->message + n, sizeof err->message - (size_t)n,
                 " (expected %" PRIu64 ", got %" PRIu64 ")", fault->expected, fault->got);
    return result;
}

const char *shard_status_name(shard_status status)
{
    switch (status) {
    case SHARD_OK:
        return "SHARD_OK";
    case SHARD_END:
        return "SHARD_END";
    case SHARD_EINVAL:
        return "SHARD_EINVAL";
    case SHARD_ENOMEM:
        return "SHARD_ENOMEM";
    case SHARD_ECANCEL:
        return "SHARD_ECANCEL";
    case SHARD_EIO:
        return "SHARD_EIO";
    case SHARD_ENOTFOUND:
        return "SHARD_ENOTFOUND";
    case SHARD_EEXIST:
        return "SHARD_EEXIST";
    case SHARD_EBUSY:
        return "SHARD_EBUSY";
    case SHARD_EFORMAT:
        return "SHARD_EFORMAT";
    case SHARD_ETRUNCATED:
        return "SHARD_ETRUNCATED";
    case SHARD_ECHECKSUM:
        return "SHARD_ECHECKSUM";
    case SHARD_EUNSUPPORTED:
        return "SHARD_EUNSUPPORTED";
    case SHARD_ELIMIT:
        return "SHARD_ELIMIT";
    case SHARD_ESTALE:
        return "SHARD_ESTALE";
    case SHARD_EDATA:
        return "SHARD_EDATA";
    }
    return "SHARD_UNKNOWN";
}
