/* The ways to look at a query: as it is, as a part of a larger frame, turned, its rectangles; each
 * mirrored, too. Which ones: docs/methods.md. */
#include "match/video/video_internal.h"

static const struct doppel_video_warp IDENTITY = {.scale_x = 1, .scale_y = 1};

/* Of a pair of signs of the shifts, and of the angle, all combinations are looked at. */
struct family {
    float scale_x, scale_y, shift_x, shift_y, degrees;
};

/* Between them, every crop of up to a fifth of either side, and turn of up to 6 degrees, comes
 * within the wider radius for most frames. */
static const struct family FAMILIES[] = {
    {1.16f, 1.16f, 0, 0, 0}, {1.05f, 1.16f, 0, 0, 0},       {1.16f, 1.05f, .06f, 0, 0},
    {1, 1, 0, 0, 4.5f},      {1.16f, 1.23f, .06f, .09f, 0}, {1.23f, 1.23f, 0, .09f, 0},
};

/* A finer grid beside those. */
static const struct family FINER[] = {
    {1.08f, 1.08f, 0, 0, 0},       {1, 1.1f, 0, .04f, 0},        {1.23f, 1, .09f, 0, 0},
    {1.23f, 1.23f, .09f, .09f, 0}, {1.1f, 1.23f, .04f, .09f, 0}, {1.23f, 1.1f, .09f, .04f, 0},
    {1.1f, 1.1f, .04f, .04f, 0},   {1.05f, 1.05f, 0, 0, 2.5f},   {1.12f, 1.12f, 0, 0, 6},
    {1.3f, 1.3f, .1f, .1f, 0},     {1.3f, 1.3f, 0, 0, 0},
};

struct hit_list {
    struct video_view *views;
    size_t count;
    const struct doppel_video_track *query;
};

static float aspect_of(const struct doppel_video_track *query, unsigned rectangle)
{
    const struct doppel_video_box *box =
        rectangle ? &query->rectangles[rectangle - 1] : &query->box;
    float width = (box->right - box->left) * (float)query->width;
    float height = (box->bottom - box->top) * (float)query->height;
    return width > 0 && height > 0 ? width / height : 0;
}

static void add_list(struct hit_list *list, const struct video_view *view)
{
    for (int mirrored = 0; mirrored < 2 && list->count < VIDEO_VIEWS_MAX; mirrored++) {
        struct video_view *out = &list->views[list->count++];
        *out = *view;
        out->view.mirrored = mirrored;
        out->view.warp.aspect = aspect_of(list->query, view->view.rectangle);
    }
}

static void add_family(struct hit_list *list, const struct family *family, unsigned stage)
{
    for (int signs = 0; signs < 8; signs++) {
        if ((signs & 1 && family->shift_x == 0) || (signs & 2 && family->shift_y == 0) ||
            (signs & 4 && family->degrees == 0))
            continue;
        struct doppel_video_warp warp = {
            .scale_x = family->scale_x,
            .scale_y = family->scale_y,
            .shift_x = signs & 1 ? -family->shift_x : family->shift_x,
            .shift_y = signs & 2 ? -family->shift_y : family->shift_y,
            .degrees = signs & 4 ? -family->degrees : family->degrees,
        };
        add_list(list, &(struct video_view){{.warp = warp}, VIDEO_CLASS_WARPED, stage});
    }
}

static void add_rectangle(struct hit_list *list, uint8_t number)
{
    struct video_view view = {.view = {.rectangle = number, .warp = IDENTITY},
                              .class = VIDEO_CLASS_RECTANGLE};
    add_list(list, &view);
}

/* Always: what lies around them may be found, too. */
static void add_rectangles(struct hit_list *list)
{
    const struct doppel_video_track *query = list->query;
    for (uint8_t i = 0; i < query->rectangle_count && i < DOPPEL_VIDEO_RECTANGLES; i++)
        if (query->rectangle_cells[i])
            add_rectangle(list, (uint8_t)(i + 1));
}

size_t video_views(const struct doppel_video_track *query,
                   const struct doppel_video_search *options,
                   struct video_view out[VIDEO_VIEWS_MAX])
{
    struct hit_list list = {.views = out, .query = query};
    add_list(&list, &(struct video_view){{.warp = IDENTITY}, VIDEO_CLASS_PLAIN, 0});
    if (options->plain)
        return list.count;
    add_rectangles(&list);
    if (query->has_middle)
        add_list(&list, &(struct video_view){
                            {.middle = true, .warp = IDENTITY}, VIDEO_CLASS_RECTANGLE, 1});
    for (size_t i = 0; query->cells && i < sizeof FAMILIES / sizeof *FAMILIES; i++)
        add_family(&list, &FAMILIES[i], 1);
    for (size_t i = 0; query->cells && options->thorough && i < sizeof FINER / sizeof *FINER; i++)
        add_family(&list, &FINER[i], 2);
    return list.count;
}

static bool is_identity(const struct doppel_video_warp *warp)
{
    return warp->scale_x == 1 && warp->scale_y == 1 && warp->shift_x == 0 && warp->shift_y == 0 &&
           warp->degrees == 0;
}

const uint8_t *video_view_cells(const struct doppel_video_track *query, size_t run,
                                unsigned rectangle)
{
    const uint8_t *cells = rectangle ? query->rectangle_cells[rectangle - 1] : query->cells;
    return cells ? cells + run * DOPPEL_VIDEO_CELL_BYTES : NULL;
}

bool video_view_code(const struct doppel_video_track *query, size_t run,
                     const struct doppel_video_view *view, struct doppel_code *out)
{
    struct doppel_code code = query->frames[run].code;
    if (view->middle) {
        const struct doppel_code *middle = video_part_code(&query->frames[run], VIDEO_PART_MIDDLE);
        if (!middle)
            return false;
        code = *middle;
    } else if (view->rectangle || !is_identity(&view->warp)) {
        const uint8_t *cells = video_view_cells(query, run, view->rectangle);
        if (view->rectangle && doppel_video_cells_flat(cells))
            return false;
        code = doppel_video_warped_code(cells, &view->warp);
    }
    *out = doppel_image_orient(&code, view->mirrored);
    return true;
}
