/* Two pages, place by place: where one lies on the other, and whether their blocks of ink are the
 * same. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "image/page.h"

/* A cell is measured against so many to its left and right. */
enum { AROUND = 12, RELIEF_SCALE = 16 };

/* How far a page may lie from where the other one does, in cells, and how many such shifts are
 * tried each way; where a block is looked for, around the place that is expected, first and then.
 */
enum { MOST_SHIFT = 36, SHIFTS = 3, FIRST_X = 6, FIRST_Y = 4, THEN_X = 2, THEN_Y = 1 };

/* By so many blocks a page is placed; at least so many must agree on it, and half. */
enum { SEEDS = 24, LEAST_SEEDS = 5 };

/* Of so many blocks one may differ: by what lies on one of the pages, or by noise. */
enum { DIFFERING_SHARE = 64 };

static const double block_agrees = 0.5, block_differs = 0.3;

/* With so much relief a block can be told from others. */
enum { LEAST_ENERGY = 2000 };

/* ---- relief ---- */

/* Beyond its edges a page is empty. */
static void level_row(const uint8_t *row, int columns, int16_t *out)
{
    int sum = 0;
    for (int x = 0; x < AROUND && x < columns; x++)
        sum += row[x];
    for (int x = 0; x < columns; x++) {
        sum += x + AROUND < columns ? row[x + AROUND] : 0;
        out[x] = (int16_t)(row[x] * RELIEF_SCALE - sum * RELIEF_SCALE / (2 * AROUND + 1));
        sum -= x >= AROUND ? row[x - AROUND] : 0;
    }
}

/* Two scans cut the letters into cells at different places. */
static void smooth_row(const int16_t *row, int columns, int16_t *out)
{
    out[0] = row[0];
    for (int x = 1; x + 1 < columns; x++)
        out[x] = (int16_t)((row[x - 1] + row[x] + row[x + 1]) / 3);
    out[columns - 1] = row[columns - 1];
}

/* Of each block the sum of its squares, by its first cell. */
static void sum_energy(struct doppel_page_relief *relief)
{
    const int columns = relief->columns;
    for (int y = 0; y < relief->rows; y++) {
        const int16_t *row = relief->cells + y * columns;
        int32_t sum = 0;
        for (int x = columns - 1; x >= 0; x--) {
            sum += row[x] * row[x];
            sum -= x + BLOCK_WIDTH < columns ? row[x + BLOCK_WIDTH] * row[x + BLOCK_WIDTH] : 0;
            relief->energy[y * columns + x] = sum;
        }
    }
    for (int y = 0; y < relief->rows; y++)
        for (int i = 1; i < BLOCK_HEIGHT && y + i < relief->rows; i++) {
            const int32_t *below = relief->energy + (y + i) * columns;
            for (int x = 0; x < columns; x++)
                relief->energy[y * columns + x] += below[x];
        }
}

static void take_mean(float *sums, int count)
{
    float mean = 0;
    for (int i = 0; i < count; i++)
        mean += sums[i];
    for (int i = 0; i < count; i++)
        sums[i] -= mean / (float)count;
}

static void sum_ink(const uint8_t *cells, struct doppel_page_relief *out)
{
    memset(out->by_column, 0, sizeof out->by_column);
    for (int y = 0; y < out->rows; y++) {
        const uint8_t *row = cells + y * out->columns;
        int sum = 0;
        for (int x = 0; x < out->columns; x++) {
            out->by_column[x] += (float)row[x];
            sum += row[x];
        }
        out->by_row[y] = (float)sum;
    }
    take_mean(out->by_column, out->columns);
    take_mean(out->by_row, out->rows);
}

void page_relief_fill(const uint8_t *cells, int columns, int rows, struct doppel_page_relief *out)
{
    out->columns = columns;
    out->rows = rows;
    for (int y = 0; y < rows; y++) {
        int16_t row[DOPPEL_PAGE_COLUMNS] = {0};
        level_row(cells + y * columns, columns, row);
        smooth_row(row, columns, out->cells + y * columns);
    }
    sum_energy(out);
    sum_ink(cells, out);
}

enum doppel_status doppel_page_relief_make(const struct doppel_page *page,
                                           struct doppel_page_relief **out)
{
    const size_t count = (size_t)page->columns * page->rows;
    if (!page->ink || !count || page->columns > DOPPEL_PAGE_COLUMNS ||
        page->rows > DOPPEL_PAGE_ROWS)
        return DOPPEL_E_ARGUMENT;
    uint8_t *cells = malloc(count);
    struct doppel_page_relief *relief = malloc(sizeof *relief);
    enum doppel_status status = !cells || !relief ? DOPPEL_E_MEMORY
                                : !page_unpack(page->ink, page->ink_size, count, cells)
                                    ? DOPPEL_E_CORRUPT
                                    : DOPPEL_OK;
    if (status) {
        free(relief);
    } else {
        page_relief_fill(cells, page->columns, page->rows, relief);
        *out = relief;
    }
    free(cells);
    return status;
}

void doppel_page_relief_free(struct doppel_page_relief *relief)
{
    free(relief);
}

/* ---- blocks ---- */

struct page_block {
    int16_t x, y;
    int16_t dx, dy; /* where it is found, against its place */
    int32_t energy;
    float correlation;
};

struct page_blocks {
    struct page_block items[PAGE_MOST_BLOCKS];
    size_t count;
};

static void list_page_blocks(const struct doppel_page_relief *relief, struct page_blocks *out)
{
    out->count = 0;
    for (int y = 0; y + BLOCK_HEIGHT <= relief->rows; y += BLOCK_HEIGHT)
        for (int x = 0; x + BLOCK_WIDTH <= relief->columns; x += BLOCK_WIDTH) {
            int32_t energy = relief->energy[(size_t)y * (size_t)relief->columns + (size_t)x];
            if (energy >= LEAST_ENERGY)
                out->items[out->count++] =
                    (struct page_block){.x = (int16_t)x, .y = (int16_t)y, .energy = energy};
        }
}

size_t page_relief_blocks(const struct doppel_page_relief *relief)
{
    struct page_blocks blocks;
    list_page_blocks(relief, &blocks);
    return blocks.count;
}

static int32_t multiply_blocks(const int16_t *a, size_t a_stride, const int16_t *b, size_t b_stride)
{
    int32_t sum = 0;
    for (int y = 0; y < BLOCK_HEIGHT; y++, a += a_stride, b += b_stride)
        for (int x = 0; x < BLOCK_WIDTH; x++)
            sum += a[x] * b[x];
    return sum;
}

/* The best place of a block around one, on the other page. */
static void find_page_block(const struct doppel_page_relief *a, const struct doppel_page_relief *b,
                            struct page_block *it, const int around[4])
{
    size_t stride = (size_t)b->columns;
    const int16_t *own = a->cells + (size_t)it->y * (size_t)a->columns + it->x;
    it->correlation = -1;
    for (int dy = around[1] - around[3]; dy <= around[1] + around[3]; dy++)
        for (int dx = around[0] - around[2]; dx <= around[0] + around[2]; dx++) {
            int x = it->x + dx, y = it->y + dy;
            if (x < 0 || y < 0 || x + BLOCK_WIDTH > b->columns || y + BLOCK_HEIGHT > b->rows)
                continue;
            size_t at = (size_t)y * stride + (size_t)x;
            const int32_t energy = b->energy[at];
            if (energy < 1)
                continue;
            int32_t both = multiply_blocks(own, (size_t)a->columns, b->cells + at, stride);
            float correlation = (float)both / sqrtf((float)energy * (float)it->energy);
            if (correlation > it->correlation) {
                it->correlation = correlation;
                it->dx = (int16_t)dx;
                it->dy = (int16_t)dy;
            }
        }
}

/* ---- where one page lies on the other ---- */

/* The likeliest shifts of lines of ink against others, each no step beside a better one.
 * @return how many, SHIFTS at most */
static int find_shifts(const float *a, int a_count, const float *b, int b_count, int out[SHIFTS])
{
    float alike[2 * MOST_SHIFT + 3];
    int found = 0;
    alike[0] = alike[2 * MOST_SHIFT + 2] = -HUGE_VALF;
    for (int shift = -MOST_SHIFT; shift <= MOST_SHIFT; shift++) {
        float both = 0;
        for (int at = shift < 0 ? -shift : 0; at < a_count && at + shift < b_count; at++)
            both += a[at] * b[at + shift];
        alike[shift + MOST_SHIFT + 1] = both * (1 - (float)abs(shift) / (2 * MOST_SHIFT));
    }
    while (found < SHIFTS) {
        int best = 0;
        for (int i = 1; i <= 2 * MOST_SHIFT + 1; i++)
            if (alike[i] > alike[best])
                best = i;
        if (!best)
            break;
        out[found++] = best - 1 - MOST_SHIFT;
        for (int i = best > 4 ? best - 4 : 1; i <= best + 4 && i <= 2 * MOST_SHIFT + 1; i++)
            alike[i] = -HUGE_VALF;
    }
    return found;
}

/* How far a place of one page lies off on the other: [0] + [1] · x + [2] · y, cells. */
struct page_fit {
    double x[3], y[3];
};

static double off_by(const double fit[3], double x, double y)
{
    return fit[0] + fit[1] * x + fit[2] * y;
}

/* Solve for three unknowns; the matrix is of least squares with something on its diagonal. */
static void solve_three(double m[3][4], double out[3])
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            double factor = j == i ? 0 : m[j][i] / m[i][i];
            for (int k = i; k < 4; k++)
                m[j][k] -= factor * m[i][k];
        }
    for (int i = 0; i < 3; i++)
        out[i] = m[i][3] / m[i][i];
}

/* Least squares over the blocks that agree and do not lie off what most of them say; turns and
 * scales are small. */
static void fit_page(const struct page_block *blocks, size_t count, struct page_fit *fit)
{
    enum { OFF = 4, STIFF = 4000 };
    double across[3][4] = {{1e-3}, {0, STIFF}, {0, 0, STIFF}};
    double down[3][4] = {{1e-3}, {0, STIFF}, {0, 0, STIFF}};
    const double x = fit->x[0], y = fit->y[0];
    for (size_t n = 0; n < count; n++) {
        const struct page_block *it = &blocks[n];
        const double v[3] = {1, it->x, it->y};
        if (it->correlation < block_agrees || fabs(it->dx - x) > OFF || fabs(it->dy - y) > OFF)
            continue;
        for (int i = 0; i < 3; i++) {
            for (int j = 0; j < 3; j++) {
                across[i][j] += v[i] * v[j];
                down[i][j] += v[i] * v[j];
            }
            across[i][3] += v[i] * it->dx;
            down[i][3] += v[i] * it->dy;
        }
    }
    solve_three(across, fit->x);
    solve_three(down, fit->y);
}

static int compare_ints(const void *left, const void *right)
{
    return *(const int *)left - *(const int *)right;
}

/* How many seeds agree on a place of the page: on their middle one, within some cells. */
static size_t count_agreeing(const struct page_block *seeds, size_t count, struct page_fit *out)
{
    int x[SEEDS], y[SEEDS];
    size_t used = 0, agreeing = 0;
    for (size_t i = 0; i < count; i++)
        if (seeds[i].correlation >= block_agrees) {
            x[used] = seeds[i].dx;
            y[used++] = seeds[i].dy;
        }
    if (!used)
        return 0;
    qsort(x, used, sizeof *x, compare_ints);
    qsort(y, used, sizeof *y, compare_ints);
    for (size_t i = 0; i < used; i++)
        agreeing += abs(x[i] - x[used / 2]) <= FIRST_Y && abs(y[i] - y[used / 2]) <= FIRST_Y;
    *out = (struct page_fit){{x[used / 2]}, {y[used / 2]}};
    return agreeing;
}

/* @return false: they lie nowhere on each other */
static bool place_page(const struct doppel_page_relief *a, const struct doppel_page_relief *b,
                       const struct page_blocks *blocks, struct page_fit *out)
{
    struct page_block seeds[SEEDS];
    int across[SHIFTS], down[SHIFTS];
    int columns = find_shifts(a->by_column, a->columns, b->by_column, b->columns, across);
    int rows = find_shifts(a->by_row, a->rows, b->by_row, b->rows, down);
    size_t used = blocks->count < SEEDS ? blocks->count : SEEDS, best = 0;
    for (size_t i = 0; i < used; i++)
        seeds[i] = blocks->items[i * blocks->count / used];
    for (int i = 0; i < columns * rows && best * 10 < used * 9; i++) {
        const int around[4] = {across[i / rows], down[i % rows], FIRST_X, FIRST_Y};
        struct page_fit fit;
        for (size_t j = 0; j < used; j++)
            find_page_block(a, b, &seeds[j], around);
        size_t agreeing = count_agreeing(seeds, used, &fit);
        if (agreeing > best) {
            best = agreeing;
            fit_page(seeds, used, &fit);
            *out = fit;
        }
    }
    return best >= LEAST_SEEDS && best * 2 >= used;
}

/* ---- both ---- */

/* The way back: from places of the other page. */
static struct page_fit turn_fit(const struct page_fit *fit)
{
    double x = off_by(fit->x, -fit->x[0], -fit->y[0]), y = off_by(fit->y, -fit->x[0], -fit->y[0]);
    return (struct page_fit){{-x, -fit->x[1], -fit->x[2]}, {-y, -fit->y[1], -fit->y[2]}};
}

/* @return false: it lies outside the other page there */
static bool expect_block(const struct page_fit *fit, const struct page_block *it,
                         const struct doppel_page_relief *page, int around[4])
{
    const int dx = (int)lround(off_by(fit->x, it->x, it->y));
    const int dy = (int)lround(off_by(fit->y, it->x, it->y));
    around[0] = dx;
    around[1] = dy;
    around[2] = THEN_X;
    around[3] = THEN_Y;
    return it->x + dx >= 0 && it->y + dy >= 0 && it->x + dx + BLOCK_WIDTH <= page->columns &&
           it->y + dy + BLOCK_HEIGHT <= page->rows;
}

/* Of the blocks of one page, how many are other ones on the other page: at most one more than
 * `most`. The blocks are taken crosswise, so that others are met soon. */
static uint32_t count_other_blocks(const struct doppel_page_relief *a,
                                   const struct doppel_page_relief *b, const struct page_fit *fit,
                                   struct page_blocks *blocks, uint32_t most)
{
    enum { STRIDE = 37 };
    uint32_t differing = 0;
    for (size_t first = 0; first < STRIDE; first++)
        for (size_t i = first; i < blocks->count && differing <= most; i += STRIDE) {
            int around[4];
            if (!expect_block(fit, &blocks->items[i], b, around))
                continue;
            find_page_block(a, b, &blocks->items[i], around);
            differing += blocks->items[i].correlation < block_differs;
        }
    return differing;
}

/* Whether they are the same, where the seeds are blocks of the first. */
static bool pages_agree(const struct doppel_page_relief *a, const struct doppel_page_relief *b)
{
    struct page_blocks left, right;
    struct page_fit fit, back;
    list_page_blocks(a, &left);
    list_page_blocks(b, &right);
    const size_t blocks = left.count + right.count;
    const uint32_t most = (uint32_t)blocks / DIFFERING_SHARE;
    if (left.count < PAGE_LEAST_BLOCKS || right.count < PAGE_LEAST_BLOCKS ||
        !place_page(a, b, &left, &fit))
        return false;
    back = turn_fit(&fit);
    uint32_t differing = count_other_blocks(a, b, &fit, &left, most);
    if (differing <= most)
        differing += count_other_blocks(b, a, &back, &right, most - differing);
    return differing <= most;
}

bool doppel_page_is_same(const struct doppel_page_relief *a, const struct doppel_page_relief *b)
{
    return pages_agree(a, b) || pages_agree(b, a);
}
