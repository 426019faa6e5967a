/* SPDX-License-Identifier: Apache-2.0 */
#include "npy/npy.h"

#include <string.h>

enum { MAGIC_SIZE = 6, VERSION_SIZE = 2 };

/* The header is a Python dictionary; this is what of one can stand there. */
typedef struct {
    const char *at, *end, *begin;
    fmt_fault *fault;
} text;

static fmt_status fail(const text *t, const char *what)
{
    return fmt_fail(t->fault, FMT_EINVALID, what, MAGIC_SIZE + (uint64_t)(t->at - t->begin));
}

static void skip_space(text *t)
{
    while (t->at < t->end && (*t->at == ' ' || *t->at == '\n' || *t->at == '\t'))
        t->at++;
}

/* Whether `c` stands next; then it is passed. */
static bool take(text *t, char c)
{
    skip_space(t);
    if (t->at == t->end || *t->at != c)
        return false;
    t->at++;
    return true;
}

static bool take_word(text *t, const char *word)
{
    size_t size = strlen(word);
    skip_space(t);
    if ((size_t)(t->end - t->at) < size || memcmp(t->at, word, size) != 0)
        return false;
    t->at += size;
    return true;
}

static fmt_status take_string(text *t, fmt_span *out)
{
    skip_space(t);
    if (t->at == t->end || (*t->at != '\'' && *t->at != '"'))
        return fail(t, "npy: a string is missing");
    char quote = *t->at++;
    const char *end = memchr(t->at, quote, (size_t)(t->end - t->at));
    if (!end)
        return fail(t, "npy: a string without its end");
    *out = (fmt_span){(const uint8_t *)t->at, (size_t)(end - t->at)};
    t->at = end + 1;
    return FMT_OK;
}

static fmt_status take_number(text *t, uint64_t *out)
{
    skip_space(t);
    if (t->at == t->end || *t->at < '0' || *t->at > '9')
        return fail(t, "npy: a number is missing");
    for (*out = 0; t->at < t->end && *t->at >= '0' && *t->at <= '9'; t->at++) {
        uint64_t digit = (uint64_t)(*t->at - '0');
        if (*out > (UINT64_MAX - digit) / 10)
            return fail(t, "npy: a number is too large");
        *out = *out * 10 + digit;
    }
    return FMT_OK;
}

static bool is(fmt_span span, const char *word)
{
    return span.size == strlen(word) && memcmp(span.data, word, span.size) == 0;
}

/* "<f4": byte order, kind and width. */
static fmt_status read_type(text *t, fmt_npy *out)
{
    fmt_span type;
    fmt_status status = take_string(t, &type);
    if (status != FMT_OK)
        return status;
    const char *at = (const char *)type.data;
    bool plain = type.size == 3 && at[0] != 0 && at[1] != 0 && strchr("<|", at[0]) &&
                 strchr("biuf", at[1]) && at[2] > '0' && at[2] <= '8' && strchr("1248", at[2]);
    uint32_t width = plain ? (uint32_t)(at[2] - '0') : 0;
    if (!plain || (at[0] == '|' && width > 1) || (at[1] == 'b' && width > 1) ||
        (at[1] == 'f' && width == 1))
        return fmt_fail_name(t->fault, FMT_EUNSUPPORTED, "npy: numbers of this type", MAGIC_SIZE,
                             at, type.size);
    out->kind = at[1];
    out->width = width;
    return FMT_OK;
}

static fmt_status read_shape(text *t, fmt_npy *out)
{
    if (!take(t, '('))
        return fail(t, "npy: \"shape\" is not a tuple");
    while (!take(t, ')')) {
        if (out->dims == FMT_NPY_DIMS_MAX)
            return fail(t, "npy: more than 32 dimensions");
        fmt_status status = take_number(t, &out->shape[out->dims]);
        if (status != FMT_OK)
            return status;
        out->dims++;
        if (!take(t, ',') && (t->at == t->end || *t->at != ')'))
            return fail(t, "npy: \"shape\" without its end");
    }
    return FMT_OK;
}

typedef struct {
    bool has_type, has_shape, has_order, fortran;
} seen;

static fmt_status read_entry(text *t, fmt_npy *out, seen *s)
{
    fmt_span key;
    fmt_status status = take_string(t, &key);
    if (status != FMT_OK)
        return status;
    if (!take(t, ':'))
        return fail(t, "npy: a key without its value");
    bool type = is(key, "descr"), shape = is(key, "shape"), order = is(key, "fortran_order");
    if ((type && s->has_type) || (shape && s->has_shape) || (order && s->has_order))
        return fail(t, "npy: a key that stands twice");
    s->has_type |= type;
    s->has_shape |= shape;
    s->has_order |= order;
    if (type)
        return read_type(t, out);
    if (shape)
        return read_shape(t, out);
    s->fortran = order && take_word(t, "True");
    return order && (s->fortran || take_word(t, "False")) ? FMT_OK
                                                          : fail(t, "npy: an unknown key or value");
}

static fmt_status read_dictionary(text *t, fmt_npy *out)
{
    seen s = {0};
    if (!take(t, '{'))
        return fail(t, "npy: the header is not a dictionary");
    while (!take(t, '}')) {
        fmt_status status = read_entry(t, out, &s);
        if (status != FMT_OK)
            return status;
        if (!take(t, ',') && (t->at == t->end || *t->at != '}'))
            return fail(t, "npy: the header without its end");
    }
    if (!s.has_type || !s.has_shape || !s.has_order)
        return fail(t, "npy: the header lacks a key");
    if (s.fortran && out->dims > 1)
        return fmt_fail(t->fault, FMT_EUNSUPPORTED, "npy: Fortran order", MAGIC_SIZE);
    return FMT_OK;
}

/* Bytes of the numbers; they must be all that is left of the file. */
static fmt_status check_size(fmt_npy *out, uint64_t left, fmt_fault *fault)
{
    uint64_t size = out->width;
    for (uint32_t i = 0; i < out->dims; i++) {
        if (out->shape[i] > 0 && size > UINT64_MAX / out->shape[i])
            return fmt_fail(fault, FMT_ELIMIT, "npy: the array is too large", MAGIC_SIZE);
        size *= out->shape[i];
    }
    out->size = size;
    if (left == size)
        return FMT_OK;
    return fmt_fail_values(fault, left < size ? FMT_ETRUNCATED : FMT_EINVALID,
                           "npy: bytes of the array", out->data, size, left);
}

fmt_status fmt_npy_read(fmt_npy *out, fmt_span in, fmt_fault *fault)
{
    *out = (fmt_npy){0};
    if (in.size < MAGIC_SIZE + VERSION_SIZE || memcmp(in.data, "\x93NUMPY", MAGIC_SIZE) != 0)
        return fmt_fail(fault, FMT_EINVALID, "npy: not a NumPy array", 0);
    uint8_t version = in.data[MAGIC_SIZE];
    size_t width = version == 1 ? 2 : 4, head = MAGIC_SIZE + VERSION_SIZE + width;
    if (version < 1 || version > 3)
        return fmt_fail_values(fault, FMT_EUNSUPPORTED, "npy: version", MAGIC_SIZE, 3, version);
    if (in.size < head)
        return fmt_fail(fault, FMT_ETRUNCATED, "npy: ends in its header", in.size);
    size_t size = width == 2 ? fmt_load16(in.data + 8) : fmt_load32(in.data + 8);
    if (size > in.size - head)
        return fmt_fail_values(fault, FMT_ETRUNCATED, "npy: bytes of the header", head, size,
                               in.size - head);
    const char *begin = (const char *)in.data + head;
    text t = {begin, begin + size, (const char *)in.data + MAGIC_SIZE, fault};
    fmt_status status = read_dictionary(&t, out);
    if (status != FMT_OK)
        return status;
    out->data = head + size;
    return check_size(out, in.size - out->data, fault);
}
