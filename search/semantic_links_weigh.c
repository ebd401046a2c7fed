/* Background and levels of rows that are compared all with all. */
#include <stdlib.h>

#include "core/try.h"
#include "search/semantic_links.h"

/* The share of a level that counts: measured to be better than all of it for vectors that are not
 * whitened, and as good for whitened ones (docs/methods.md). */
static const float share_of_level = 0.7F;

static enum doppel_status take_levels(struct semantic_linking *linking,
                                      struct doppel_vector_cohort *cohort,
                                      struct doppel_error *error)
{
    const size_t count = linking->chunks.count;
    const float *levels;
    enum doppel_status status;
    TRY(doppel_vector_cohort_levels(cohort, &levels, error));
    linking->levels = malloc((count + 1) * sizeof *linking->levels);
    if (!linking->levels)
        return semantic_linking_no_memory(error);
    for (size_t i = 0; i < count; i++)
        linking->levels[i] = share_of_level * levels[i];
done:
    return status;
}

static enum doppel_status find_row_levels(struct semantic_linking *linking,
                                          const struct doppel_vectors *vectors,
                                          struct doppel_error *error)
{
    struct doppel_vector_cohort_options options = doppel_vector_cohort_options_default();
    struct doppel_vector_cohort *cohort = NULL;
    enum doppel_status status;
    options.threads = doppel_run_jobs(linking->semantic->run);
    options.context = linking;
    options.stopped = semantic_linking_stopped;
    TRY(doppel_vector_cohort_make(vectors, &options, &cohort, error));
    TRY(take_levels(linking, cohort, error));
done:
    doppel_vector_cohort_free(cohort);
    return status;
}

enum doppel_status semantic_linking_weigh(struct semantic_linking *linking,
                                          struct doppel_error *error)
{
    struct doppel_semantic *semantic = linking->semantic;
    const struct doppel_vectors vectors = {linking->rows, linking->chunks.count,
                                           linking->dimension};
    struct doppel_vector_background_options options = doppel_vector_background_options_default();
    enum doppel_status status = DOPPEL_OK;
    semantic_weigh_no_more(semantic);
    if (!vectors.count)
        return DOPPEL_OK;
    if (semantic_is_scored(semantic))
        TRY(find_row_levels(linking, &vectors, error));
    options.groups = linking->text_of;
    options.levels = linking->levels;
    options.min_cosine = -1;
    options.threads = doppel_run_jobs(semantic->run);
    status = doppel_vector_background_make(&vectors, &options, &semantic->background, error);
    semantic->background_of = vectors.count;
    if (status == DOPPEL_E_EMPTY)
        status = DOPPEL_OK;
done:
    return status;
}
