/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files below a folder, under names that somebody else chose: no name leads out of the folder,
 * neither by
 * "..", nor from the root, nor through a symbolic link that stands in the way.
 */
#ifndef CLI_EXTRACT_H
#define CLI_EXTRACT_H

#include <shard/status.h>

#include <stdio.h>

typedef struct {
    int root;         /* descriptor of the folder */
    const char *path; /* its name, for errors */
    bool replace;     /* files that exist */

    /* The folder of the last file, kept open: the next one is often there too. */
    int folder;
    char folder_path[4096];
} extract;

/* Open, or make, the folder. */
shard_status extract_open(extract *e, const char *path, bool replace, shard_error *err);
void extract_close(extract *e);

/*
 * Create a file, and the folders above it. SHARD_EDATA for a name that leads out, SHARD_EEXIST for
 * one that exists. `*fd` is the caller's to close.
 */
shard_status extract_create(extract *e, const char *name, int *fd, shard_error *err);

/* Remove a file that was created and could not be completed. */
void extract_remove(extract *e, const char *name);

#endif
