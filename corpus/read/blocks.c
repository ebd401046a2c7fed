/* All blocks of a corpus, worked on by several threads, delivered in order. */
#include "corpus/read/blocks.h"

#include <pthread.h>
#include <stdlib.h>

#include "core/ordered.h"

struct block_place {
    enum doppel_status status; /* of reading its block; NOT_FOUND: the end */
    struct doppel_error error;
};

struct block_state {
    const struct blocks_run *run;
    struct block_place *places;
    pthread_mutex_t lock;
    pthread_cond_t turn;
    size_t next; /* piece that reads next: blocks are read in order */
    enum doppel_status status;
    struct doppel_error *error;
};

static void parse_block(void *context, size_t piece, size_t slot)
{
    struct block_state *state = context;
    struct block_place *place = &state->places[slot];
    struct line_block block = {0};
    pthread_mutex_lock(&state->lock);
    while (state->next != piece)
        pthread_cond_wait(&state->turn, &state->lock);
    place->status = reader_next(state->run->reader, &block, &place->error);
    state->next++;
    pthread_cond_broadcast(&state->turn);
    pthread_mutex_unlock(&state->lock);
    if (place->status)
        return;
    state->run->work(state->run->context, slot, &block);
    pthread_mutex_lock(&state->lock);
    reader_take_back(state->run->reader, &block);
    pthread_mutex_unlock(&state->lock);
}

static bool deliver_block_records(void *context, size_t piece, size_t slot)
{
    struct block_state *state = context;
    struct block_place *place = &state->places[slot];
    (void)piece;
    state->status = place->status;
    if (!place->status)
        state->status = state->run->deliver(state->run->context, slot, state->error);
    else if (place->status != DOPPEL_E_NOT_FOUND && state->error)
        *state->error = place->error;
    return !state->status;
}

static struct ordered make_run(uint32_t threads, struct block_state *state)
{
    return (struct ordered){.context = state,
                            .threads = threads,
                            .pieces = SIZE_MAX, /* the last one says so */
                            .work = parse_block,
                            .deliver = deliver_block_records};
}

size_t blocks_slots(uint32_t threads)
{
    struct ordered run = make_run(threads, NULL);
    return ordered_slots(&run);
}

enum doppel_status blocks_run(const struct blocks_run *run, struct doppel_error *error)
{
    struct block_state state = {.run = run, .error = error};
    state.places = calloc(blocks_slots(run->threads), sizeof *state.places);
    if (!state.places)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory to read a corpus");
    pthread_mutex_init(&state.lock, NULL);
    pthread_cond_init(&state.turn, NULL);
    struct ordered ordered = make_run(run->threads, &state);
    ordered_run(&ordered);
    pthread_cond_destroy(&state.turn);
    pthread_mutex_destroy(&state.lock);
    free(state.places);
    return state.status == DOPPEL_E_NOT_FOUND ? DOPPEL_OK : state.status;
}
