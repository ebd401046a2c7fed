/* doppel compare A B: are these two the same, how near. */
#include <sys/stat.h>

#include <doppel/report.h>

#include "core/try.h"
#include "tools/args/engine_options.h"
#include "tools/args/commands.h"
#include "tools/memory.h"
#include "tools/output/messages.h"
#include "intake/video_refine.h"
#include "intake/reader.h"
#include "intake/open_cache.h"
#include "tools/output/output.h"
#include "tools/output/rows/segment_rows.h"

static const struct column columns[] = {
    {"match", "match", CELL_ANSWER},
    MATCH_COLUMNS,
    PLACE_COLUMNS,
    {"reason", "reason", CELL_TEXT},
    {"a_reading", "a read as", CELL_TEXT},
    {"b_reading", "b read as", CELL_TEXT},
    {"limit.max_distance", "max distance", CELL_NUMBER},
    {"limit.min_similarity", "min similarity", CELL_NUMBER},
    {"limit.max_false_positive_rate", "max FP rate", CELL_NUMBER},
    {"a", "a", CELL_PATH},
    {"b", "b", CELL_PATH},
};

static const struct layout layout = {columns, sizeof columns / sizeof *columns, NULL, NULL, NULL};

/* @param pair NULL: they cannot be compared */
static bool print_comparison(const struct settings *settings, struct report *report,
                             const struct intake_file files[2],
                             const struct doppel_comparison *pair)
{
    const struct doppel_compare_options options = compare_options_from(settings);
    struct output *output = output_new(settings, &layout, report);
    struct place_rows rows;
    struct doppel_json row = {0};
    doppel_json_object_begin(&row, NULL);
    doppel_json_path(&row, "a", files[0].path);
    doppel_json_path(&row, "b", files[1].path);
    doppel_compare_result_to_json(&row, &files[0].record, &files[1].record, &options, pair);
    doppel_json_object_end(&row);
    place_rows_begin(&rows, settings, output);
    place_rows_add(&rows, &row);
    place_rows_end(&rows);
    doppel_json_free(&row);
    return output_finish(output);
}

static enum doppel_status refine(const struct intake_file files[2], struct video_looks *looks,
                                 struct doppel_comparison *pair, struct doppel_error *error)
{
    struct video_side sides[2];
    for (int i = 0; i < 2; i++)
        sides[i] = (struct video_side){{files[i].path, &files[i].stamp}, &files[i].record};
    enum doppel_status status = video_refine(looks, sides, &pair->by_image, error);
    pair->match = pair->by_image;
    return status;
}

static enum doppel_status draw_pair(const struct settings *settings, struct doppel_run *run,
                                    const struct intake_file files[2],
                                    const struct doppel_match *match, struct doppel_error *error)
{
    const struct doppel_chart_side sides[2] = {{files[0].path, &files[0].record, &files[0].stamp},
                                               {files[1].path, &files[1].record, &files[1].stamp}};
    const struct doppel_chart_options options = {settings->chart, settings->thumbnails};
    return doppel_chart_match(run, sides, match, &options, error);
}

/* Compare two files that were read, print what came of it, and draw it. @param out_code of exit */
static enum doppel_status compare_files(const struct settings *settings, struct report *report,
                                        const struct intake_file files[2], int *out_code,
                                        struct doppel_error *error)
{
    const struct doppel_compare_options options = compare_options_from(settings);
    const struct doppel_record *a = &files[0].record, *b = &files[1].record;
    struct doppel_comparison pair = {.match.false_positive_rate = -1};
    struct video_looks *looks = must_have(video_looks_new(report->run));
    enum doppel_status status = DOPPEL_OK;
    bool comparable = doppel_comparable(a, b);
    if (comparable)
        TRY(doppel_compare(report->run, a, b, &options, &pair, error));
    if (settings->refine && pair.evidence & DOPPEL_EVIDENCE_IMAGE &&
        pair.match.verified != DOPPEL_VERIFIED_EXACT)
        TRY(refine(files, looks, &pair, error));
    *out_code = pair.matches ? EXIT_DONE : EXIT_NO_MATCH;
    if (!print_comparison(settings, report, files, comparable ? &pair : NULL))
        *out_code = EXIT_WRONG_USE;
    if (settings->chart)
        TRY(draw_pair(settings, report->run, files, &pair.match, error));
done:
    video_looks_free(looks);
    doppel_comparison_free(&pair);
    return status;
}

/* Both files, or fewer: then what is wrong with the others has been said. */
static enum doppel_status read_both(const struct intake_options *options,
                                    struct intake_file files[2], size_t *out_count,
                                    struct doppel_error *error)
{
    struct intake *intake;
    enum doppel_status status = intake_new(options, &intake, error);
    if (status)
        return status;
    while (*out_count < 2 && (status = intake_next(intake, &files[*out_count], error)) == DOPPEL_OK)
        ++*out_count;
    intake_free(intake);
    return status == DOPPEL_E_NOT_FOUND ? DOPPEL_OK : status;
}

/* Folders are walked by other verbs; here they are no files. */
static bool has_folder(const struct settings *settings, struct report *report)
{
    struct stat status;
    bool has = false;
    for (size_t i = 0; i < settings->operands.count; i++) {
        const char *path = settings->operands.items[i];
        if (stat(path, &status) != 0 || !S_ISDIR(status.st_mode))
            continue;
        report_input(report, path, "a folder; compare wants two files");
        has = true;
    }
    return has;
}

static int compare_operands(const struct settings *settings, struct report *report,
                            struct doppel_cache *cache)
{
    struct doppel_error error;
    struct doppel_walk_options walk = walk_options_from(settings);
    walk.every_name = walk.stdin_operand = true;
    struct intake_options options = {.read = read_options_from(settings),
                                     .run = report->run,
                                     .walk = &walk,
                                     .cache = cache,
                                     .attachments = settings->check != CHECK_NONE,
                                     .places = true};
    struct intake_file files[2] = {0};
    size_t count = 0;
    int code = EXIT_NO_MATCH;
    enum doppel_status status = read_both(&options, files, &count, &error);
    if (status == DOPPEL_OK && count == 2)
        status = compare_files(settings, report, files, &code, &error);
    for (size_t i = 0; i < count; i++)
        intake_file_free(&files[i]);
    if (status && status != DOPPEL_E_CANCELLED)
        return report_fatal(report, "%s", error.message);
    return code;
}

int cmd_compare(const struct settings *settings, struct report *report)
{
    struct doppel_error error;
    struct doppel_cache *cache;
    if (has_folder(settings, report))
        return EXIT_NO_MATCH;
    if (open_cache(report->run, &cache, &error))
        return report_fatal(report, "%s", error.message);
    int code = compare_operands(settings, report, cache);
    leave_cache(report->run, cache);
    return code;
}
