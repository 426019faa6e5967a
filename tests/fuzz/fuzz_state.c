/* SPDX-License-Identifier: Apache-2.0 */
/* A loader's state: a text is refused, or what it says is written and read again as the same. */
#include "fuzz.h"

#include <shard/state.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    shard_state state, again;
    shard_error err;
    char text[SHARD_STATE_SIZE], second[SHARD_STATE_SIZE];
    uint8_t *copy = fuzz_copy(data, size);
    shard_status status = shard_state_parse(&state, (const char *)copy, size, &err);
    free(copy);
    if (status != SHARD_OK) {
        FUZZ_CHECK(err.status == status && err.message[0]);
        return 0;
    }
    FUZZ_CHECK(shard_state_format(&state, text, &err) == SHARD_OK);
    FUZZ_CHECK(shard_state_parse(&again, text, strlen(text), &err) == SHARD_OK);
    FUZZ_CHECK(shard_state_format(&again, second, &err) == SHARD_OK);
    FUZZ_CHECK(strcmp(text, second) == 0);
    return 0;
}
