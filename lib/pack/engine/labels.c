/* SPDX-License-Identifier: Apache-2.0 */
#include "pack/engine/labels.h"

void pack_labels_add(pack_labels *labels, pack_label_run *run, uint32_t label)
{
    if (label != 0) {
        labels->count[label % PACK_LABEL_SLOTS]++;
        labels->samples++;
    }
    if (label != 0 && run->last != 0) {
        labels->pairs++;
        labels->alike += label == run->last;
    }
    run->last = label;
}

bool pack_labels_clustered(const pack_labels *labels)
{
    const double excess_most = 0.25; /* of what lies between chance and certainty */
    double chance = 0;
    if (labels->pairs == 0)
        return false;
    for (int i = 0; i < PACK_LABEL_SLOTS; i++) {
        double share = (double)labels->count[i] / (double)labels->samples;
        chance += share * share;
    }
    double alike = (double)labels->alike / (double)labels->pairs;
    return chance < 1 && (alike - chance) / (1 - chance) > excess_most;
}
