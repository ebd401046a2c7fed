/* Blobs: extrema of the differences of scales, in place and scale; and a choice that is spread. */
#include <math.h>
#include <stdlib.h>

#include "core/array.h"
#include "local/local_internal.h"

enum {
    BORDER = 2,
    LEAST_STRENGTH = 2 * SCALES_UNIT, /* of a difference */
    EDGE_RATIO = 10                   /* of the curvatures along and across, at most */
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
    return (struct blob){
        .x = (float)(x * octave->step),
        .y = (float)(y * octave->step),
        .sigma = (float)(octave->step * quarter_sigmas[quarter % 4] * (1 << quarter / 4)),
        .strength = (float)abs(*here),
        .level = (uint8_t)level};
}

typedef ARRAY(struct blob) blob_array;

static bool find_in_row(const struct scale_octave *octave, const struct layer *layer, size_t y,
                        uint32_t level, blob_array *out)
{
    for (size_t at = y * layer->width + BORDER; at < (y + 1) * layer->width - BORDER; at++) {
        int value = layer->here[at];
        if (value < LEAST_STRENGTH && value > -LEAST_STRENGTH)
            continue;
        if (!is_extremum(layer, at) || is_edge(layer->here + at, layer->width))
            continue;
        if (!array_push(out, blob_at(octave, layer, at, level)))
            return false;
    }
    return true;
}

bool blobs_find(const struct scales *scales, struct blob_list *out)
{
    blob_array found = {0};
    bool done = true;
    for (uint32_t i = 0; i < scales->count; i++) {
        const struct scale_octave *octave = &scales->octaves[i];
        for (uint32_t level = i ? 2 : 1; level + 2 < SCALES_LEVELS; level++) {
            const struct layer layer = {octave->differences[level - 1], octave->differences[level],
                                        octave->differences[level + 1], octave->width};
            size_t first = found.count;
            for (size_t y = BORDER; done && y + BORDER < octave->height; y++)
                done = find_in_row(octave, &layer, y, level, &found);
            for (; first < found.count; first++)
                found.items[first].octave = (uint8_t)i;
        }
    }
    out->items = found.items;
    out->count = found.count;
    if (!done)
        array_free(&found);
    return done;
}

/* ---- choosing ---- */

enum { CELLS = 6 }; /* along each side */

struct blob_choice {
    uint32_t turn; /* the how many-th strongest of its cell it is */
    float strength;
    uint32_t number;
};

static int compare_strengths(const void *a, const void *b)
{
    const struct blob_choice *left = a, *right = b;
    if (left->strength != right->strength)
        return left->strength < right->strength ? 1 : -1;
    return (left->number > right->number) - (left->number < right->number);
}

static int compare_choices(const void *a, const void *b)
{
    const struct blob_choice *left = a, *right = b;
    if (left->turn != right->turn)
        return left->turn > right->turn ? 1 : -1;
    return compare_strengths(a, b);
}

static uint32_t cell_number(const struct blob *blob, uint32_t width, uint32_t height)
{
    uint32_t column = (uint32_t)(blob->x * CELLS / (float)width);
    uint32_t row = (uint32_t)(blob->y * CELLS / (float)height);
    column = column < CELLS ? column : CELLS - 1;
    row = row < CELLS ? row : CELLS - 1;
    return row * CELLS + column;
}

static void give_turns(struct blob_choice *choices, const struct blob_list *blobs, uint32_t width,
                       uint32_t height)
{
    uint32_t turns[CELLS * CELLS] = {0};
    for (size_t i = 0; i < blobs->count; i++) {
        const struct blob *blob = &blobs->items[choices[i].number];
        /* Half of the choice is by strength alone. */
        choices[i].turn = turns[cell_number(blob, width, height)]++;
    }
}

bool blobs_spread(struct blob_list *blobs, uint32_t width, uint32_t height, size_t most)
{
    const size_t count = blobs->count < most ? blobs->count : most;
    struct blob_choice *choices = malloc((blobs->count + 1) * sizeof *choices);
    struct blob *chosen = malloc((count + 1) * sizeof *chosen);
    bool done = choices && chosen;
    for (size_t i = 0; done && i < blobs->count; i++)
        choices[i] = (struct blob_choice){0, blobs->items[i].strength, (uint32_t)i};
    if (done) {
        qsort(choices, blobs->count, sizeof *choices, compare_strengths);
        give_turns(choices, blobs, width, height);
        qsort(choices, blobs->count, sizeof *choices, compare_choices);
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
