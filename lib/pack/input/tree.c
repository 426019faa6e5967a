/* SPDX-License-Identifier: Apache-2.0 */
#include "pack/input/tree.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>

#include "os/path.h"
#include "os/threads.h"
#include "pack/input/folder.h"

enum { DEPTH_MAX = 256, AHEAD_MOST = 1 << 18 };

/* A folder of the tree, until the walk has passed it. */
typedef struct node {
    struct node *parent;
    int depth;
    pack_folder folder;
    shard_status status; /* of reading it */
    shard_error *why;    /* where that is not SHARD_OK; NULL: memory is short */

    /* Those that nobody has begun to read, the next of the walk on top. */
    struct node *over, *under;
    bool taken, ready;

    size_t path_size;
    char path[]; /* relative to the root, with a final '/' */
} node;

typedef struct {
    pack_file_list *list;
    const pack_root *root;
    uint32_t root_number;
    const pack_walk_rules *rules;
    shard_error *err;

    pthread_mutex_t mutex; /* of all below, and of the nodes' places */
    pthread_cond_t changed;
    node *top;
    size_t ahead; /* entries that were read and that the walk has not passed */
    bool stopped;
} walk;

/* ---- nodes ---- */

static node *new_node(walk *w, node *parent, const char *name)
{
    size_t above = parent ? parent->path_size : 0, size = strlen(name);
    node *n = shard_alloc_zeroed(&w->list->alloc, 1, sizeof *n + above + size + 1);
    if (!n)
        return NULL;
    n->parent = parent;
    n->depth = parent ? parent->depth + 1 : 0;
    n->path_size = above + size;
    if (above > 0)
        memcpy(n->path, parent->path, above);
    memcpy(n->path + above, name, size);
    pack_folder_init(&n->folder, &w->list->alloc);
    return n;
}

/* With all that is below it. */
static void free_node(walk *w, node *n)
{
    if (!n)
        return;
    for (size_t i = 0; i < n->folder.count; i++)
        free_node(w, n->folder.entry[i].below);
    pack_folder_clear(&n->folder);
    shard_alloc_free(&w->list->alloc, n->why);
    shard_alloc_free(&w->list->alloc, n);
}

static bool is_cycle(const node *n)
{
    for (const node *above = n->parent; above; above = above->parent)
        if (above->folder.device == n->folder.device && above->folder.inode == n->folder.inode)
            return true;
    return false;
}

/* ---- reading a folder: any thread ---- */

static shard_status add_subfolders(walk *w, node *n, shard_error *err)
{
    for (size_t i = 0; i < n->folder.count; i++) {
        pack_folder_entry *e = &n->folder.entry[i];
        if (e->kind != PACK_ENTRY_FOLDER)
            continue;
        if (n->path_size + e->size >= SHARD_PATH_MAX)
            return pack_folder_fail(w->root, n->path, e->name, "cannot enter the folder",
                                    ENAMETOOLONG, err);
        e->below = new_node(w, n, e->name);
        if (!e->below)
            return shard_fail_memory(err);
    }
    return SHARD_OK;
}

static shard_status read_folder(walk *w, node *n, shard_error *err)
{
    if (shard_cancel_is_set(w->rules->cancel))
        return shard_fail(err, SHARD_ECANCEL, NULL, SHARD_NO_OFFSET, "cancelled");
    SHARD_TRY(pack_folder_read(&n->folder, w->root, n->path, w->list->names, w->rules->links, err));
    if (is_cycle(n) || n->depth == DEPTH_MAX)
        return pack_folder_fail(w->root, n->path, "", "cannot enter the folder", ELOOP, err);
    return add_subfolders(w, n, err);
}

static void read_node(walk *w, node *n)
{
    shard_error why;
    n->status = read_folder(w, n, &why);
    if (n->status == SHARD_OK)
        return;
    n->why = shard_alloc_zeroed(&w->list->alloc, 1, sizeof why);
    if (n->why)
        *n->why = why;
}

/* ---- which folder next: with the mutex held ---- */

static void push(walk *w, node *n)
{
    n->under = w->top;
    if (w->top)
        w->top->over = n;
    w->top = n;
}

static void take(walk *w, node *n)
{
    n->taken = true;
    if (n->over)
        n->over->under = n->under;
    else
        w->top = n->under;
    if (n->under)
        n->under->over = n->over;
    n->over = n->under = NULL;
}

static void read_taken(walk *w, node *n)
{
    pthread_mutex_unlock(&w->mutex);
    read_node(w, n);
    pthread_mutex_lock(&w->mutex);
    n->ready = true;
    w->ahead += n->folder.count;
    for (size_t i = n->folder.count; i > 0; i--)
        if (n->folder.entry[i - 1].below)
            push(w, n->folder.entry[i - 1].below);
    pthread_cond_broadcast(&w->changed);
}

static void *read_ahead(void *context)
{
    walk *w = context;
    pthread_mutex_lock(&w->mutex);
    while (!w->stopped) {
        node *n = w->ahead < AHEAD_MOST ? w->top : NULL;
        if (n) {
            take(w, n);
            read_taken(w, n);
        } else {
            pthread_cond_wait(&w->changed, &w->mutex);
        }
    }
    pthread_mutex_unlock(&w->mutex);
    return NULL;
}

/* ---- the walk: one thread ---- */

static void wait_for(walk *w, node *n)
{
    pthread_mutex_lock(&w->mutex);
    if (!n->taken) {
        take(w, n);
        read_taken(w, n);
    }
    while (!n->ready)
        pthread_cond_wait(&w->changed, &w->mutex);
    pthread_mutex_unlock(&w->mutex);
}

static void pass(walk *w, node *n)
{
    pthread_mutex_lock(&w->mutex);
    w->ahead -= n->folder.count;
    pthread_cond_broadcast(&w->changed);
    pthread_mutex_unlock(&w->mutex);
    free_node(w, n);
}

static shard_status add_file(walk *w, const node *n, const pack_folder_entry *e)
{
    char path[SHARD_PATH_MAX];
    if (n->path_size + e->size >= sizeof path)
        return pack_folder_fail(w->root, n->path, e->name, "cannot open", ENAMETOOLONG, w->err);
    memcpy(path, n->path, n->path_size);
    memcpy(path + n->path_size, e->name, e->size + 1);
    return pack_file_list_add(w->list, w->root_number, path, n->path_size + e->size, w->err);
}

/* A folder that cannot be opened is the caller's to judge; anything else ends the walk. */
static shard_status fail_node(walk *w, const node *n)
{
    if (!n->why)
        return shard_fail_memory(w->err);
    if (!n->folder.is_open && n->parent && n->status != SHARD_ECANCEL)
        return w->rules->unreadable(w->rules->context, n->why, w->err);
    if (w->err)
        *w->err = *n->why;
    return n->status;
}

static shard_status walk_node(walk *w, node *n);

static shard_status take_entry(walk *w, const node *n, pack_folder_entry *e)
{
    switch (e->kind) {
    case PACK_ENTRY_FILE:
        return add_file(w, n, e);
    case PACK_ENTRY_BROKEN:
        return w->rules->unreadable(w->rules->context, e->why, w->err);
    case PACK_ENTRY_FOLDER:
        break;
    }
    SHARD_TRY(walk_node(w, e->below));
    pass(w, e->below);
    e->below = NULL;
    return SHARD_OK;
}

static shard_status walk_node(walk *w, node *n)
{
    wait_for(w, n);
    if (n->status != SHARD_OK)
        return fail_node(w, n);
    w->list->ignored->special += n->folder.special;
    for (size_t i = 0; i < n->folder.count; i++)
        SHARD_TRY(take_entry(w, n, &n->folder.entry[i]));
    return SHARD_OK;
}

static shard_status walk_from(walk *w, node *root)
{
    enum { AHEAD_THREADS_MOST = 15 };
    shard_threads threads;
    uint32_t wanted = w->rules->threads > 1 ? w->rules->threads - 1 : 0;
    push(w, root);
    shard_threads_start(&threads, wanted < AHEAD_THREADS_MOST ? wanted : AHEAD_THREADS_MOST,
                        read_ahead, w);
    shard_status status = walk_node(w, root);
    pthread_mutex_lock(&w->mutex);
    w->stopped = true;
    pthread_cond_broadcast(&w->changed);
    pthread_mutex_unlock(&w->mutex);
    shard_threads_join(&threads);
    return status;
}

static shard_status run(walk *w)
{
    node *root = new_node(w, NULL, "");
    if (!root)
        return shard_fail_memory(w->err);
    shard_status status = walk_from(w, root);
    free_node(w, root);
    return status;
}

shard_status pack_tree_walk(pack_file_list *list, uint32_t root, const pack_walk_rules *rules,
                            shard_error *err)
{
    walk w = {
        .list = list, .root = &list->root[root], .root_number = root, .rules = rules, .err = err};
    if (pthread_mutex_init(&w.mutex, NULL) != 0)
        return shard_fail_memory(err);
    shard_status status = SHARD_ENOMEM;
    if (pthread_cond_init(&w.changed, NULL) == 0) {
        status = run(&w);
        pthread_cond_destroy(&w.changed);
    }
    pthread_mutex_destroy(&w.mutex);
    return status;
}
