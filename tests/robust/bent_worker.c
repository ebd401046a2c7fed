/* doppel-worker, but for its answers: some bytes of what comes with a fingerprint are others, or
 * are missing. Linked with --wrap=answer_send. $BENT_SEED says which. */
#include <stdlib.h>
#include <unistd.h>

#include "worker/protocol.h"

bool __real_answer_send(int socket, const struct doppel_outcome *outcome);
bool __wrap_answer_send(int socket, const struct doppel_outcome *outcome);

static uint64_t next_random(void)
{
    static uint64_t state;
    if (!state) {
        const char *seed = getenv("BENT_SEED");
        state = 0x9e3779b97f4a7c15u * (seed ? strtoull(seed, NULL, 10) + 1 : 1);
    }
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

/* Mostly near the beginning, where lengths are. */
static void bend(uint8_t *data, size_t size)
{
    size_t within = next_random() % 3 && size > 64 ? 64 : size;
    for (uint64_t flips = 1 + next_random() % 3; flips; flips--)
        data[next_random() % within] ^= (uint8_t)(1u << next_random() % 8);
}

bool __wrap_answer_send(int socket, const struct doppel_outcome *outcome)
{
    struct doppel_outcome bent = *outcome;
    if (bent.attachment_size && next_random() % 2)
        bend(bent.attachment, bent.attachment_size);
    else if (bent.attachment_size && next_random() % 4 == 0)
        bent.attachment_size = next_random() % bent.attachment_size;
    return __real_answer_send(socket, &bent);
}
