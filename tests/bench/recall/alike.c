/* Unrelated items that are edited alike: what a feed of screenshots, or a page's one frame, is
 * like. */
#include "rates.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "edits.h"

const struct edit alike_edits[] = {
    {"border5black", edit_border_black, false},
    {"border10white", edit_border_white, false},
    {"bordercolour", edit_border_colour, false},
    {"letterbox", edit_letterbox, false},
    {"rotate5", edit_rotate5, false},
    {"logo", edit_logo, false},
    {"watermark", edit_watermark, false},
    {"memebar", edit_meme_bar, false},
    {"memeboth", edit_meme_both, false},
    {"phoneshot", edit_phone_shot, false},
    {"deskshot", edit_desktop_shot, false},
};

const int alike_count = sizeof alike_edits / sizeof *alike_edits;

static bool takes_part(const struct subject *subject)
{
    return subject->readable && !subject->gated && subject->held;
}

struct crew {
    const struct collection *list;
    const bool *variants;
    struct rate_options options;
    struct alike_count *counts;
    atomic_size_t next;
    pthread_mutex_t lock;
};

/** One subject's edits against the same edits of those after it. */
static void judge_subject(const struct crew *crew, size_t i, struct alike_count *counts)
{
    const struct collection *list = crew->list;
    for (int e = 0; e < alike_count; e++)
        for (size_t j = i + 1; j < list->count; j++) {
            if (!takes_part(&list->subjects[j]) || crew->variants[i * list->count + j])
                continue;
            double strength[RULES];
            judge_strengths(&list->subjects[i].alike[e], &list->subjects[j].alike[e],
                            crew->options.calibration, strength);
            counts[e].pairs++;
            for (int rule = 0; rule < RULES; rule++)
                counts[e].false_pairs[rule] += strength[rule] >= crew->options.limit;
        }
}

static void *work(void *context)
{
    struct crew *crew = context;
    struct alike_count *mine = calloc((size_t)alike_count, sizeof *mine);
    for (size_t i; (i = atomic_fetch_add(&crew->next, 1)) < crew->list->count;)
        if (takes_part(&crew->list->subjects[i]))
            judge_subject(crew, i, mine);
    pthread_mutex_lock(&crew->lock);
    for (int e = 0; e < alike_count; e++) {
        crew->counts[e].pairs += mine[e].pairs;
        for (int rule = 0; rule < RULES; rule++)
            crew->counts[e].false_pairs[rule] += mine[e].false_pairs[rule];
    }
    pthread_mutex_unlock(&crew->lock);
    free(mine);
    return NULL;
}

void rate_alike(const struct collection *list, const bool *variants,
                const struct rate_options *options, struct alike_count *counts)
{
    struct crew crew = {.list = list, .variants = variants, .options = *options, .counts = counts};
    pthread_mutex_init(&crew.lock, NULL);
    pthread_t threads[64];
    unsigned count = options->jobs < 64 ? options->jobs : 64;
    for (unsigned i = 0; i < count; i++)
        pthread_create(&threads[i], NULL, work, &crew);
    for (unsigned i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    pthread_mutex_destroy(&crew.lock);
}
