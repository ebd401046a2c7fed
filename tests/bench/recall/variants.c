/* Originals that show the same thing: their edges agree as they lie, or their pixels once aligned,
 * or a person said so. */
#include "rates.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "image/pixels.h"

/* Different photos and paintings, laid over each other as well as they can be, score more than
 * this; of discs, charts and pages of text some do not: for those a person has to make the list. */
enum { SAME_SCORE = 100 };

/* The same of their edges as they lie, whatever their codes: 1 = the same ones. */
static const double SAME_EDGES = .35;

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

/* ---- by name ---- */

static bool is_named(const struct subject *subject, const char *name)
{
    return strcmp(subject->name, name) == 0;
}

static void note_named(const struct collection *list, const char *a, const char *b, bool *variants)
{
    for (size_t i = 0; i < list->count; i++)
        for (size_t j = 0; is_named(&list->subjects[i], a) && j < list->count; j++)
            if (is_named(&list->subjects[j], b))
                variants[i * list->count + j] = variants[j * list->count + i] = true;
}

bool read_variants(const struct collection *list, const char *path, bool *variants)
{
    FILE *file = fopen(path, "r");
    if (!file)
        return false;
    for (char line[2 * 4096]; fgets(line, sizeof line, file);) {
        line[strcspn(line, "\n")] = 0;
        char *tab = strchr(line, '\t');
        if (!tab)
            continue;
        *tab = 0;
        note_named(list, line, tab + 1, variants);
    }
    fclose(file);
    return true;
}

/* ---- all pairs ---- */

static bool same_pixels(const struct subject *a, const struct subject *b)
{
    struct doppel_image_verify_options options = doppel_image_verify_options_default();
    return pixels_register(&a->original, &b->original, &options).score <= SAME_SCORE;
}

void find_variants(const struct collection *list, bool *variants)
{
    float *edges = calloc(list->count * EDGES, sizeof *edges);
    for (size_t i = 0; i < list->count; i++)
        find_edges(list->subjects[i].original.thumb, edges + i * EDGES);
    for (size_t i = 0; i < list->count; i++)
        for (size_t j = i + 1; j < list->count; j++) {
            const struct subject *a = &list->subjects[i], *b = &list->subjects[j];
            if (!a->readable || !b->readable || a->gated || b->gated)
                continue;
            if (edges_agree(edges + i * EDGES, edges + j * EDGES) < SAME_EDGES &&
                !same_pixels(a, b))
                continue;
            printf("variants, no strangers: %s\t%s\n", a->name, b->name);
            variants[i * list->count + j] = variants[j * list->count + i] = true;
        }
    free(edges);
}
