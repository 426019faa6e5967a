/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a member's path names a sample and a component: "dog/01.seg.png" is component "seg.png" of
 * sample "dog/01". The rule is that of webdataset 1.0.2 (docs/format/naming.md).
 */
#ifndef FMT_SAMPLE_NAME_H
#define FMT_SAMPLE_NAME_H

#include "fmt.h"

enum {
    FMT_KEY_MAX = 4094,      /* a path is a key, a dot and a component in FMT_TAR_PATH_MAX bytes */
    FMT_COMPONENT_MAX = 255, /* bytes in a component's name */
};

typedef enum {
    FMT_NAME_COMPONENT,
    FMT_NAME_NO_EXTENSION, /* "README" */
    FMT_NAME_HIDDEN,       /* ".DS_Store" */
    FMT_NAME_RESERVED, /* "__meta__/x.json": readers skip what stands under __...__ at the root */
    FMT_NAME_TOO_LONG, /* a component's name of more than FMT_COMPONENT_MAX bytes */
} fmt_name_kind;

/* Where the component's name begins is behind the key and its dot: path + key_size + 1. */
typedef struct {
    size_t key_size;
    size_t component_size;
} fmt_name;

/* Split a path; `out` is set where the answer is FMT_NAME_COMPONENT. */
fmt_name_kind fmt_name_split(const char *path, size_t path_size, fmt_name *out);

/* Copy a component's name in lower case (ASCII letters; other bytes as they are). */
void fmt_component_copy(char *out, const char *component, size_t size);

/*
 * The names under which the packer stores a sample, chosen so that every reader of the field splits
 * them alike: in the key, dots and control characters become '_'; a component's letters become
 * lower case, its control characters and bytes that are not UTF-8 '_'. `out` has room for `size`
 * bytes. True where a byte of the key changed.
 */
bool fmt_key_write(char *out, const char *key, size_t size);
void fmt_component_write(char *out, const char *component, size_t size);

/* Readers find a key as it was stored: it has bytes, no '/' at either end, no reserved folder. */
bool fmt_key_ok(const char *key, size_t size);

#endif
