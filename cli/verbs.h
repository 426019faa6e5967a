/* SPDX-License-Identifier: Apache-2.0 */
/* All verbs, in the order in which help lists them. */
#ifndef CLI_VERBS_H
#define CLI_VERBS_H

#include "opt.h"

extern const verb verb_pack, verb_merge, verb_index, verb_ls, verb_cat, verb_info, verb_order,
    verb_stream, verb_verify, verb_unpack, verb_completion, verb_man;

extern const verb *const verbs[];
extern const size_t verb_count;

const verb *find_verb(const char *name);

#endif
