/* Rectangles of straight edges that stay where they are: pictures in the picture. */
#include "video/video_internal.h"

#include <stdlib.h>
#include <string.h>

enum {
    FRAMES = 32,        /* of which the median is taken */
    STEEPEST = 12,      /* levels a cell; more is no more of an edge */
    LINES = 14,         /* that are tried each way, beside the frame's own edges */
    LEAST_PERCENT = 28, /* of the frame's side */
    MOST_PERCENT = 72,
    APART = 6 /* cells, summed over the four edges: what is nearer is the same rectangle */
};

/* What scores less than this share of the best one is none beside it. */
static const float LIKELY = .6f;

/* How steep each place is in most of the frames, beyond what lies around it: across an edge between
 * column x and x + 1, for lines down; transposed for lines across. */
struct rectangle_edges {
    uint8_t steep[GRID_SIDE][GRID_SIDE];       /* [along][across] */
    uint16_t before[GRID_SIDE + 1][GRID_SIDE]; /* sums of `steep` along the line */
};

static uint8_t median_of_bytes(uint8_t *values, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        uint8_t value = values[i];
        size_t j = i;
        for (; j > 0 && values[j - 1] > value; j--)
            values[j] = values[j - 1];
        values[j] = value;
    }
    /* Never of no frames. */
    return values[count / 2]; // NOLINT(clang-analyzer-core.*)
}

/* Medians of the steps across the line, of frames spread evenly. */
static void find_slopes(const uint8_t *grids, size_t count, bool down,
                        uint8_t out[GRID_SIDE][GRID_SIDE])
{
    const size_t used = count < FRAMES ? count : FRAMES;
    const size_t along_step = down ? GRID_SIDE : 1, across_step = down ? 1 : GRID_SIDE;
    memset(out, 0, GRID_BYTES);
    for (size_t i = 0; i < GRID_SIDE; i++)
        for (size_t x = 0; x + 1 < GRID_SIDE; x++) {
            uint8_t values[FRAMES];
            for (size_t f = 0; f < used; f++) {
                const uint8_t *at =
                    grids + f * count / used * GRID_BYTES + i * along_step + x * across_step;
                values[f] = (uint8_t)abs(at[0] - at[across_step]);
            }
            out[i][x] = median_of_bytes(values, used);
        }
}

static uint8_t excess_over_neighbours(uint8_t value, uint8_t left, uint8_t right)
{
    uint8_t around = left > right ? left : right;
    uint8_t more = value > around ? (uint8_t)(value - around) : 0;
    return more > STEEPEST ? STEEPEST : more;
}

static void find_edges(const uint8_t *grids, size_t count, bool down, struct rectangle_edges *out)
{
    uint8_t slopes[GRID_SIDE][GRID_SIDE];
    find_slopes(grids, count, down, slopes);
    memset(out, 0, sizeof *out);
    for (size_t i = 0; i < GRID_SIDE; i++)
        for (size_t x = 0; x < GRID_SIDE; x++) {
            uint8_t left = x >= 2 ? slopes[i][x - 2] : 0;
            uint8_t right = x + 2 < GRID_SIDE ? slopes[i][x + 2] : 0;
            out->steep[i][x] = excess_over_neighbours(slopes[i][x], left, right);
            out->before[i + 1][x] = (uint16_t)(out->before[i][x] + out->steep[i][x]);
        }
}

/* ---- lines ---- */

/* Places where an edge may be, in cells from the frame's: the frame's own edges, too. */
struct grid_lines {
    int32_t at[LINES + 2];
    size_t count;
};

static int ascending(const void *a, const void *b)
{
    return *(const int32_t *)a - *(const int32_t *)b;
}

static void find_lines(const struct rectangle_edges *edges, int32_t from, int32_t to,
                       struct grid_lines *out)
{
    uint16_t sums[GRID_SIDE];
    memcpy(sums, edges->before[GRID_SIDE], sizeof sums);
    out->at[0] = from;
    out->at[1] = to;
    out->count = 2;
    while (out->count < LINES + 2) {
        int32_t best = -1;
        for (int32_t x = from + 1; x + 1 < to; x++)
            if (sums[x] && (best < 0 || sums[x] > sums[best]))
                best = x;
        if (best < 0)
            break;
        out->at[out->count++] = best + 1;
        sums[best] = 0;
    }
    qsort(out->at, out->count, sizeof out->at[0], ascending);
}

/* ---- rectangles ---- */

struct rectangle {
    int32_t edge[4]; /* left, top, right, bottom in cells */
    float score;
};

struct rectangle_search {
    const struct rectangle_edges *down, *across;
    int32_t within[4];
};

/* Mean steepness of a line's stretch. */
static float steepness(const struct rectangle_edges *edges, int32_t at, int32_t from, int32_t to)
{
    return (float)(edges->before[to][at - 1] - edges->before[from][at - 1]) / (float)(to - from);
}

/* The faintest of its edges, more of them counting for more; those of the frame are none. */
static float score_of_search(const struct rectangle_search *search, const int32_t edge[4])
{
    float least = STEEPEST;
    unsigned inner = 0;
    for (unsigned i = 0; i < 4; i++) {
        if (edge[i] == search->within[i])
            continue;
        unsigned along = (i + 1) % 2;
        float steep =
            steepness(i % 2 ? search->across : search->down, edge[i], edge[along], edge[along + 2]);
        least = steep < least ? steep : least;
        inner++;
    }
    const float roots[5] = {0, 0, 1.4142f, 1.7321f, 2};
    return least * roots[inner];
}

static bool fits_search(const struct rectangle_search *search, int32_t from, int32_t to,
                        unsigned axis)
{
    int32_t whole = search->within[axis + 2] - search->within[axis];
    return (to - from) * 100 >= whole * LEAST_PERCENT && (to - from) * 100 <= whole * MOST_PERCENT;
}

static bool same(const struct rectangle *a, const struct rectangle *b)
{
    int32_t apart = 0;
    for (unsigned i = 0; i < 4; i++)
        apart += abs(a->edge[i] - b->edge[i]);
    return apart <= APART;
}

/* Keep the best DOPPEL_VIDEO_RECTANGLES that differ, best first. */
static void keep_rectangle(struct rectangle *kept, size_t *count, const struct rectangle *rectangle)
{
    size_t at = *count;
    for (size_t i = 0; i < *count; i++)
        if (same(&kept[i], rectangle)) {
            if (kept[i].score >= rectangle->score)
                return;
            at = i;
            break;
        }
    if (at == DOPPEL_VIDEO_RECTANGLES && kept[--at].score >= rectangle->score)
        return;
    *count += at == *count;
    for (; at > 0 && kept[at - 1].score < rectangle->score; at--)
        kept[at] = kept[at - 1];
    kept[at] = *rectangle;
}

static void try_rows(const struct rectangle_search *search, const struct grid_lines *rows,
                     int32_t left, int32_t right, struct rectangle *kept, size_t *count)
{
    const float least_score = 4;
    for (size_t i = 0; i < rows->count; i++)
        for (size_t j = i + 1; j < rows->count; j++) {
            struct rectangle found = {{left, rows->at[i], right, rows->at[j]}, 0};
            if (!fits_search(search, rows->at[i], rows->at[j], 1))
                continue;
            found.score = score_of_search(search, found.edge);
            if (found.score >= least_score)
                keep_rectangle(kept, count, &found);
        }
}

/* An edge within a cell is two steps, which share its height: where their middle is. */
static int32_t exactly(const struct rectangle_edges *edges, int32_t at, int32_t from, int32_t to)
{
    float sum = 0, moment = 0;
    for (int32_t x = at - 1; x <= at + 1; x++) {
        if (x < 1 || x >= GRID_SIDE)
            continue;
        float steep = steepness(edges, x, from, to);
        sum += steep;
        moment += steep * (float)(x - at);
    }
    return at * GRID_UNIT + (int32_t)(moment / sum * GRID_UNIT);
}

static struct grid_box exact_box(const struct rectangle_search *search,
                                 const struct rectangle *rectangle, struct grid_box within)
{
    struct grid_box box = within;
    const int32_t *edge = rectangle->edge;
    for (unsigned i = 0; i < 4; i++)
        if (edge[i] != search->within[i])
            box.edge[i] = exactly(i % 2 ? search->across : search->down, edge[i], edge[(i + 1) % 2],
                                  edge[(i + 1) % 2 + 2]);
    return box;
}

size_t find_rectangles(const uint8_t *grids, size_t count, struct grid_box within,
                       struct grid_box *out)
{
    struct rectangle_edges down, across;
    struct rectangle_search search = {.down = &down, .across = &across};
    struct grid_lines columns, rows;
    struct rectangle kept[DOPPEL_VIDEO_RECTANGLES] = {0};
    size_t found = 0;
    if (!count)
        return 0;
    for (unsigned i = 0; i < 4; i++)
        search.within[i] = (within.edge[i] + GRID_UNIT / 2) / GRID_UNIT;
    find_edges(grids, count, true, &down);
    find_edges(grids, count, false, &across);
    find_lines(&down, search.within[0], search.within[2], &columns);
    find_lines(&across, search.within[1], search.within[3], &rows);
    for (size_t i = 0; i < columns.count; i++)
        for (size_t j = i + 1; j < columns.count; j++)
            if (fits_search(&search, columns.at[i], columns.at[j], 0))
                try_rows(&search, &rows, columns.at[i], columns.at[j], kept, &found);
    while (found && kept[found - 1].score < kept[0].score * LIKELY)
        found--;
    for (size_t i = 0; i < found; i++)
        out[i] = exact_box(&search, &kept[i], within);
    return found;
}
