/* Originals that show the same thing: their edges agree as they lie, or their pixels once aligned.
 */
#include "rates.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "image/pixels.h"

/* Different pictures, aligned as well as they can be, stay under this. */
static const double SAME_AGREEMENT = .85;

/* The same of their edges as they lie, whatever their codes: 1 = the same ones. */
static const double SAME_EDGES = .35;

static double agreement_of(const struct subject *a, const struct subject *b)
{
    struct doppel_image_judge_options options = doppel_image_judge_options_default();
    double forth = pixels_agreement(&a->original, &b->original, &options);
    double back = pixels_agreement(&b->original, &a->original, &options);
    return forth > back ? forth : back;
}

/* ---- by edges ---- */

enum { SIDE = DOPPEL_IMAGE_THUMB_SIDE, EDGES = (SIDE - 2) * (SIDE - 2) };

/** The Laplacian of a thumb, of mean 0 and length 1: what two different pictures do not share, be
 * they ever so alike in their large parts. */
static void find_edges(const uint8_t *thumb, float *out)
{
    double sum = 0, squares = 0;
    for (int i = 0; i < EDGES; i++) {
        const uint8_t *at = thumb + (1 + i / (SIDE - 2)) * SIDE + 1 + i % (SIDE - 2);
        out[i] = (float)(4 * at[0] - at[-1] - at[1] - at[-SIDE] - at[SIDE]);
        sum += (double)out[i];
    }
    for (int i = 0; i < EDGES; i++) {
        out[i] -= (float)(sum / EDGES);
        squares += (double)(out[i] * out[i]);
    }
    for (int i = 0; i < EDGES; i++)
        out[i] /= (float)sqrt(squares + 1);
}

static double edges_agree(const float *a, const float *b)
{
    double sum = 0;
    for (int i = 0; i < EDGES; i++)
        sum += (double)(a[i] * b[i]);
    return sum;
}

/* ---- all pairs ---- */

static void note_variants(const struct collection *list, size_t i, size_t j, bool *variants)
{
    printf("variants, no strangers: %s %s\n", list->subjects[i].name, list->subjects[j].name);
    variants[i * list->count + j] = variants[j * list->count + i] = true;
}

bool *find_variants(const struct collection *list)
{
    bool *variants = calloc(list->count * list->count, sizeof *variants);
    float *edges = calloc(list->count * EDGES, sizeof *edges);
    for (size_t i = 0; i < list->count; i++)
        find_edges(list->subjects[i].original.thumb, edges + i * EDGES);
    for (size_t i = 0; i < list->count; i++)
        for (size_t j = i + 1; j < list->count; j++) {
            const struct subject *a = &list->subjects[i], *b = &list->subjects[j];
            if (!a->readable || !b->readable || a->gated || b->gated)
                continue;
            if (edges_agree(edges + i * EDGES, edges + j * EDGES) >= SAME_EDGES ||
                agreement_of(a, b) >= SAME_AGREEMENT)
                note_variants(list, i, j, variants);
        }
    free(edges);
    return variants;
}
