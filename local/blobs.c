/* Blobs: extrema of the differences of scales, in place and scale; and a choice that is spread. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/array.h"
#include "local/local_internal.h"

enum {
    BORDER = 2,
    MARKS_AT_ONCE = 4,                /* of 16 bits, looked at as one number */
    LEAST_STRENGTH = SCALES_UNIT / 2, /* of a difference: half a level, as clip art has */
    EDGE_RATIO = 20                   /* of the curvatures along and across, at most */
};

/* Three differences around the one that is looked at. */
struct layer {
    const int16_t *below, *here, *above;
    size_t width;
};

/* ---- extrema ---- */

static bool is_most_of_row(const int16_t *row, int value, int sign)
{
    return sign * row[-1] < value && sign * row[0] < value && sign * row[1] < value;
}

static bool is_most_of_plane(const int16_t *at, size_t width, int value, int sign)
{
    return is_most_of_row(at, value, sign) && is_most_of_row(at - width, value, sign) &&
           is_most_of_row(at + width, value, sign);
}

/* Of equal ones the first is taken. */
static bool is_extremum(const struct layer *layer, size_t at)
{
    const int16_t *here = layer->here + at;
    const size_t width = layer->width;
    int sign = *here < 0 ? -1 : 1, value = sign * *here;
    if (sign * here[-1] >= value || sign * here[1] > value || sign * here[width] > value)
        return false;
    return is_most_of_row(here - width, value, sign) &&
           is_most_of_row(here + width, value + 1, sign) &&
           is_most_of_plane(layer->below + at, width, value, sign) &&
           is_most_of_plane(layer->above + at, width, value, sign);
}

/* Which samples of a row may be extrema: by their nearest ones alone. In a form that compilers make
 * vectors of. */
static void mark_row(const struct layer *layer, size_t y, int16_t *restrict marks)
{
    const size_t width = layer->width;
    const int16_t *here = layer->here + y * width, *above = layer->above + y * width,
                  *below = layer->below + y * width, *up = here - width, *down = here + width;
    for (size_t x = 1; x + 1 < width; x++) {
        const int16_t v = here[x], side = here[x - 1], other = here[x + 1];
        const bool is_top = (v >= LEAST_STRENGTH) & (v > side) & (v >= other) & (v > up[x]) &
                            (v >= down[x]) & (v > above[x]) & (v > below[x]);
        const bool is_bottom = (v <= -LEAST_STRENGTH) & (v < side) & (v <= other) & (v < up[x]) &
                               (v <= down[x]) & (v < above[x]) & (v < below[x]);
        marks[x] = (int16_t)(is_top | is_bottom);
    }
}

static bool is_edge(const int16_t *here, size_t width)
{
    int64_t twice = 2 * (int64_t)here[0];
    int64_t xx = here[-1] + here[1] - twice, yy = here[-(ptrdiff_t)width] + here[width] - twice;
    int64_t xy4 = here[width + 1] - here[width - 1] - here[1 - (ptrdiff_t)width] +
                  here[-1 - (ptrdiff_t)width];
    int64_t trace = xx + yy, det16 = 16 * xx * yy - xy4 * xy4;
    enum { R = EDGE_RATIO };
    return det16 <= 0 || trace * trace * R * 16 >= (int64_t)(R + 1) * (R + 1) * det16;
}

/* Where the parabola through three values has its vertex, -.5 to .5. */
static double vertex(int before, int middle, int after)
{
    int bend = before + after - 2 * middle;
    double at = bend ? (double)(before - after) / (2.0 * bend) : 0;
    return at < -.5 ? -.5 : at > .5 ? .5 : at;
}

/* 2^(1/4 + i/4) */
static const double quarter_sigmas[4] = {1.189207115, 1.414213562, 1.681792831, 2};

static const float LARGE_SIGMA = 11;

/* Large blobs are left when a picture is shown small: sigma to the power of 3/4. The neighbourhoods
 * of larger ones are cut wherever the picture is. */
static float blob_worth(float strength, float sigma)
{
    const float most = fminf(sigma, LARGE_SIGMA), beyond = most / sigma;
    return strength * sqrtf(most * sqrtf(most)) * beyond * beyond;
}

static struct blob blob_at(const struct scale_octave *octave, const struct layer *layer, size_t at,
                           uint32_t level)
{
    const int16_t *here = layer->here + at;
    const size_t width = layer->width;
    double x = (double)(at % width) + vertex(here[-1], here[0], here[1]);
    double y =
        (double)(at / width) + vertex(here[-(ptrdiff_t)width], here[0], here[(ptrdiff_t)width]);
    double quarters = 2 * (level + vertex(layer->below[at], *here, layer->above[at]));
    uint32_t quarter = (uint32_t)floor(quarters + .5);
    float sigma = (float)(octave->step * quarter_sigmas[quarter % 4] * (1 << quarter / 4));
    return (struct blob){.x = (float)(x * octave->step),
                         .y = (float)(y * octave->step),
                         .sigma = sigma,
                         .worth = blob_worth((float)abs(*here), sigma),
                         .level = (uint8_t)level};
}

typedef ARRAY(struct blob) blob_array;

static bool take_extremum(const struct scale_octave *octave, const struct layer *layer, size_t at,
                          uint32_t level, blob_array *out)
{
    return !is_extremum(layer, at) || is_edge(layer->here + at, layer->width) ||
           array_push(out, blob_at(octave, layer, at, level));
}

/* @param marks room for a row and MARKS_AT_ONCE more, zero behind the row */
static bool find_in_row(const struct scale_octave *octave, const struct layer *layer, size_t y,
                        uint32_t level, int16_t *marks, blob_array *out)
{
    mark_row(layer, y, marks);
    for (size_t x = BORDER; x + BORDER < layer->width; x += MARKS_AT_ONCE) {
        uint64_t any;
        memcpy(&any, marks + x, sizeof any);
        for (size_t i = x; any && i < x + MARKS_AT_ONCE && i + BORDER < layer->width; i++)
            if (marks[i] && !take_extremum(octave, layer, y * layer->width + i, level, out))
                return false;
    }
    return true;
}

static bool find_in_layer(const struct scale_octave *octave, uint32_t level, int16_t *marks,
                          blob_array *out)
{
    const struct layer layer = {octave->differences[level - 1], octave->differences[level],
                                octave->differences[level + 1], octave->width};
    for (size_t y = BORDER; y + BORDER < octave->height; y++)
        if (!find_in_row(octave, &layer, y, level, marks, out))
            return false;
    return true;
}

bool blobs_find(const struct scales *scales, struct blob_list *out)
{
    const size_t widest = scales->count ? scales->octaves[0].width : 0;
    int16_t *marks = calloc(widest + MARKS_AT_ONCE, sizeof *marks);
    blob_array found = {0};
    bool done = marks;
    for (uint32_t i = 0; done && i < scales->count; i++) {
        const size_t first = found.count;
        for (uint32_t level = i ? 2 : 1; done && level + 2 < SCALES_LEVELS; level++)
            done = find_in_layer(&scales->octaves[i], level, marks, &found);
        for (size_t k = first; k < found.count; k++)
            found.items[k].octave = (uint8_t)i;
    }
    free(marks);
    out->items = found.items;
    out->count = found.count;
    if (!done)
        array_free(&found);
    return done;
}

/* ---- choosing ---- */

/* Along each side: of cells, each of which has a turn; and of quarters, since a part of a picture
 * may show one of them. */
enum { CELLS = 8, QUARTERS = 2 };

struct blob_choice {
    uint32_t turn;   /* the how many-th of its cell it is */
    uint32_t before; /* its place in the order so far */
    uint32_t number;
    float worth;
};

static int compare_worths(const void *a, const void *b)
{
    const struct blob_choice *left = a, *right = b;
    if (left->worth != right->worth)
        return left->worth < right->worth ? 1 : -1;
    return (left->number > right->number) - (left->number < right->number);
}

static int compare_turns(const void *a, const void *b)
{
    const struct blob_choice *left = a, *right = b;
    if (left->turn != right->turn)
        return left->turn > right->turn ? 1 : -1;
    return (left->before > right->before) - (left->before < right->before);
}

static uint32_t cell_number(const struct blob *blob, uint32_t width, uint32_t height,
                            uint32_t cells)
{
    uint32_t column = (uint32_t)(blob->x * (float)cells / (float)width);
    uint32_t row = (uint32_t)(blob->y * (float)cells / (float)height);
    column = column < cells ? column : cells - 1;
    row = row < cells ? row : cells - 1;
    return row * cells + column;
}

/* The first of each cell, in the order so far, then the second of each, and so on. */
static void take_turns(const struct blob_list *blobs, const uint32_t size[2], uint32_t cells,
                       struct blob_choice *choices)
{
    uint32_t turns[CELLS * CELLS] = {0};
    for (size_t i = 0; i < blobs->count; i++) {
        const struct blob *blob = &blobs->items[choices[i].number];
        choices[i].turn = turns[cell_number(blob, size[0], size[1], cells)]++;
        choices[i].before = (uint32_t)i;
    }
    qsort(choices, blobs->count, sizeof *choices, compare_turns);
}

bool blobs_spread(struct blob_list *blobs, uint32_t width, uint32_t height, size_t most)
{
    const uint32_t size[2] = {width, height};
    const size_t count = blobs->count < most ? blobs->count : most;
    struct blob_choice *choices = malloc((blobs->count + 1) * sizeof *choices);
    struct blob *chosen = malloc((count + 1) * sizeof *chosen);
    bool done = choices && chosen;
    for (size_t i = 0; done && i < blobs->count; i++)
        choices[i] = (struct blob_choice){.number = (uint32_t)i, .worth = blobs->items[i].worth};
    if (done) {
        qsort(choices, blobs->count, sizeof *choices, compare_worths);
        take_turns(blobs, size, CELLS, choices);
        take_turns(blobs, size, QUARTERS, choices);
        for (size_t i = 0; i < count; i++)
            chosen[i] = blobs->items[choices[i].number];
        free(blobs->items);
        *blobs = (struct blob_list){chosen, count};
        chosen = NULL;
    }
    free(choices);
    free(chosen);
    return done;
}
