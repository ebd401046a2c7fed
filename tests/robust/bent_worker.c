/* doppel-worker, but for its answers: some bytes of them are others, or are missing, or what they
 * say is something else. Linked with --wrap=answer_send. $BENT_SEED says which. */
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

/* Of what comes with the fingerprint some bytes, or the end. */
static void bend_attachment(struct doppel_outcome *outcome)
{
    if (outcome->attachment_size && next_random() % 4)
        bend(outcome->attachment, outcome->attachment_size);
    else if (outcome->attachment_size)
        outcome->attachment_size = next_random() % outcome->attachment_size;
}

static void bend_fingerprint(struct doppel_fingerprint *fingerprint)
{
    uint32_t count = fingerprint->count, at = count ? (uint32_t)(next_random() % count) : 0;
    switch (next_random() % 5) {
    case 0:
        fingerprint->count = at;
        break;
    case 1:
        fingerprint->version ^= 1;
        break;
    case 2:
        fingerprint->scheme = (enum doppel_scheme_id)(next_random() % 16);
        break;
    case 3:
        for (uint32_t i = at; i < count; i++) /* which still ascend */
            fingerprint->positions[i] += (uint32_t)(next_random() % 2) << next_random() % 31;
        break;
    default:
        if (count)
            bend((uint8_t *)&fingerprint->codes[at], sizeof *fingerprint->codes);
    }
}

static void bend_fields(struct doppel_outcome *outcome)
{
    switch (next_random() % 4) {
    case 0:
        outcome->kind = (enum doppel_kind)(next_random() % (DOPPEL_KIND_VIDEO + 1));
        break;
    case 1:
        outcome->quality = (uint8_t)(next_random() % 101);
        break;
    case 2:
        outcome->width = (uint32_t)next_random();
        outcome->height = (uint32_t)next_random();
        break;
    default:
        doppel_fail(&outcome->error, (enum doppel_status)(next_random() % (DOPPEL_E_CANCELLED + 1)),
                    "bent");
    }
}

/* Any bytes of the frame. */
static bool send_bent_frame(int socket, const struct doppel_outcome *outcome)
{
    uint8_t frame[PROTOCOL_MAX_BYTES];
    size_t size = answer_write(outcome, frame, sizeof frame);
    if (!size)
        return __real_answer_send(socket, outcome);
    bend(frame, size);
    return frame_send(socket, frame, size);
}

bool __wrap_answer_send(int socket, const struct doppel_outcome *outcome)
{
    struct doppel_outcome bent = *outcome;
    switch (next_random() % 8) {
    case 0:
    case 1:
        bend_attachment(&bent);
        break;
    case 2:
        bend_fingerprint(&bent.fingerprint);
        break;
    case 3:
        bend_fields(&bent);
        break;
    case 4:
        return send_bent_frame(socket, outcome);
    default: /* as it is */
        break;
    }
    return __real_answer_send(socket, &bent);
}
