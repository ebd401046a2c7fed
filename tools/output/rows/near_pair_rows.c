/* Pairs of a scan that nearly match, as rows below the groups. */
#include "tools/output/rows/near_pair_rows.h"

#include "tools/output/output.h"

static const struct column columns[] = {
    {"kind", "kind", CELL_TEXT},
    {"similarity", "similarity", CELL_NUMBER},
    {"false_positive_rate", "FP rate", CELL_NUMBER},
    {"transform.mirrored", "mirrored", CELL_BOOL},
    {"transform.speed", "speed", CELL_NUMBER},
    {"path", "path", CELL_PATH},
    {"of_path", "nearly", CELL_PATH},
};

static const struct layout layout = {columns, sizeof columns / sizeof *columns, NULL, NULL, NULL};

bool near_pair_rows_add(struct near_pair_rows *rows, const struct doppel_group_near *near)
{
    struct doppel_json row = {0};
    doppel_group_near_to_json(&row, near);
    if (!doppel_json_status(&row, NULL) && array_push(&rows->rows, row))
        return true;
    doppel_json_free(&row);
    return false;
}

bool near_pair_rows_finish(struct near_pair_rows *rows, const struct settings *settings,
                           struct report *report)
{
    if (!rows->rows.count)
        return true;
    struct output *output = output_new(settings, &layout, report);
    output_line(output, "\nBelow the threshold; nothing is done about them:");
    for (size_t i = 0; i < rows->rows.count; i++)
        output_object(output, &rows->rows.items[i]);
    near_pair_rows_free(rows);
    return output_finish(output);
}

void near_pair_rows_free(struct near_pair_rows *rows)
{
    for (size_t i = 0; i < rows->rows.count; i++)
        doppel_json_free(&rows->rows.items[i]);
    array_free(&rows->rows);
}
