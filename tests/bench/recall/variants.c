/* Originals that show the same thing, or are the same file twice: their aligned pixels agree. */
#include "rates.h"

#include <stdio.h>
#include <stdlib.h>

#include "image/pixels.h"

/* Different pictures, aligned as well as they can be, stay under this. */
static const double SAME_AGREEMENT = .85;

static double agreement_of(const struct subject *a, const struct subject *b)
{
    struct doppel_image_judge_options options = doppel_image_judge_options_default();
    double forth = pixels_agreement(&a->original, &b->original, &options);
    double back = pixels_agreement(&b->original, &a->original, &options);
    return forth > back ? forth : back;
}

bool *find_variants(const struct collection *list)
{
    bool *variants = calloc(list->count * list->count, sizeof *variants);
    for (size_t i = 0; i < list->count; i++)
        for (size_t j = i + 1; j < list->count; j++) {
            const struct subject *a = &list->subjects[i], *b = &list->subjects[j];
            if (!a->readable || !b->readable || a->gated || b->gated)
                continue;
            double agreement = agreement_of(a, b);
            if (agreement < SAME_AGREEMENT)
                continue;
            printf("variants, no strangers: %s %s (pixels agree by %.2f)\n", a->name, b->name,
                   agreement);
            variants[i * list->count + j] = variants[j * list->count + i] = true;
        }
    return variants;
}
