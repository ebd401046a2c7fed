/* Candidates of pictures by their views, looked through by the threads that search. */
#include <stdlib.h>

#include "cluster/node/node_internal.h"

bool node_is_looked_through(const struct node_family_options *options)
{
    struct doppel_index_options table;
    return doppel_image_table_options(DOPPEL_SCHEME_PHASH64, DOPPEL_IMAGE_TABLE_CODES, &table) &&
           options->index.table == table.table && options->index.bits == table.bits &&
           options->index.design_radius == table.design_radius && options->low &&
           doppel_image_table_id(DOPPEL_SCHEME_PHASH64, UINT64_C(1) << options->low) == 1;
}

void node_questions_free(struct node_question *questions, size_t count)
{
    for (size_t i = 0; questions && i < count; i++)
        doppel_fingerprint_free(&questions[i].print);
    free(questions);
}

struct node_looking {
    const struct search_filter *filter;
    uint32_t query;
    ARRAY(struct doppel_index_hit) hits;
    bool no_memory;
};

/* @param id with the member in its lowest bits */
static bool note_looked(void *context, uint64_t id)
{
    struct node_looking *looking = context;
    const struct doppel_index_hit hit = {.payload = id, .query = looking->query};
    if (is_member_searched(looking->filter, (uint32_t)(id & (NODE_MEMBERS_MOST - 1))))
        looking->no_memory = !array_push(&looking->hits, hit);
    return !looking->no_memory;
}

static enum doppel_status look_for(const struct doppel_index *index,
                                   const struct node_question *question,
                                   struct node_looking *looking, struct doppel_error *error)
{
    /* who asks leaves out what is too flat to be found */
    const struct doppel_match_item item = {&question->print, DOPPEL_IMAGE_MIN_QUALITY};
    const struct doppel_image_request request = {
        .query = &item, .options = &question->options, .tables = {index}};
    const enum doppel_status status = doppel_images_look(&request, note_looked, looking, error);
    return looking->no_memory ? doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the candidates")
                              : status;
}

enum doppel_status node_look(const struct node_family *family, struct node_search *search,
                             const struct search_filter *filter)
{
    struct node_looking looking = {.filter = filter};
    enum doppel_status status = DOPPEL_OK;
    for (size_t i = 0; i < search->count && !status; i++) {
        looking.query = (uint32_t)i;
        status = look_for(family->index, &search->questions[i], &looking, &search->error);
    }
    if (status)
        array_free(&looking.hits);
    search->hits = looking.hits.items;
    search->hit_count = looking.hits.count;
    return status;
}
