/* SPDX-License-Identifier: Apache-2.0 */
#include "launcher.h"

#include <stdlib.h>

bool launcher_number(const char *text, uint32_t *out)
{
    char *end;
    if (!text || *text < '0' || *text > '9')
        return false;
    unsigned long value = strtoul(text, &end, 10);
    *out = (uint32_t)value;
    return *end == 0 && value < UINT32_MAX;
}
