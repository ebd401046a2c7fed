/* doppel compare A B: are these two the same, how near. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "tools/commands.h"
#include "tools/intake.h"
#include "tools/open_cache.h"
#include "tools/output.h"
#include "tools/pair_judge.h"
#include "tools/place_rows.h"
#include "tools/sound_chart.h"
#include "tools/sound_judge.h"

static const struct column columns[] = {
    {"match", "match", CELL_BOOL},
    MATCH_COLUMNS,
    PLACE_COLUMNS,
    {"reason", "reason", CELL_TEXT},
    {"limit.max_distance", "max distance", CELL_NUMBER},
    {"limit.min_similarity", "min similarity", CELL_NUMBER},
    {"limit.max_false_positive_rate", "max false positives", CELL_NUMBER},
    {"a", "a", CELL_PATH},
    {"b", "b", CELL_PATH},
};

static const struct layout layout = {columns, sizeof columns / sizeof *columns, NULL, NULL, NULL};

static void put_reason(json_t *row, const struct settings *settings,
                       const struct intake_file files[2])
{
    char reason[128];
    for (int i = 0; i < 2; i++) {
        const char *obstacle = pair_obstacle(settings, &files[i].record);
        if (!obstacle)
            continue;
        snprintf(reason, sizeof reason, "%c %s", 'a' + i, obstacle);
        put_text(row, "reason", reason);
        return;
    }
}

static void fill_row(json_t *row, const struct settings *settings,
                     const struct intake_file files[2], struct pair_match *out)
{
    pair_judge(settings, &files[0].record, &files[1].record, out);
    const struct doppel_match *match = &out->match;
    put_bool(row, "match", out->matches);
    if (match->scheme)
        put_value(row, "limit", pair_limit(settings, match->scheme));
    put_match(row, match);
    if (out->of_film)
        put_film_match(row, &out->film);
    if (!out->matches) { /* they stand in no relation, and nothing is verified */
        json_object_del(row, "relation");
        if (match->kind != DOPPEL_KIND_TEXT) /* there it says how the similarity was found */
            json_object_del(row, "verified");
        json_object_del(row, "transform");
        put_reason(row, settings, files);
    }
}

static bool print_comparison(const struct settings *settings, struct report *report,
                             const struct intake_file files[2], struct pair_match *out)
{
    enum doppel_kind a = files[0].record.kind, b = files[1].record.kind;
    struct output *output = output_new(settings, &layout, report);
    struct place_rows rows;
    json_t *row = json_object();
    char reason[64];
    put_path(row, "a", files[0].path);
    put_path(row, "b", files[1].path);
    if (pair_is_comparable(&files[0].record, &files[1].record)) {
        fill_row(row, settings, files, out);
    } else {
        snprintf(reason, sizeof reason, "a is of kind %s, b of kind %s", doppel_kind_name(a),
                 doppel_kind_name(b));
        put_bool(row, "match", false);
        put_text(row, "reason", reason);
    }
    place_rows_begin(&rows, settings, output);
    place_rows_add(&rows, row);
    place_rows_end(&rows);
    return output_finish(output);
}

static enum doppel_status draw(const struct settings *settings, const struct intake_file files[2],
                               const struct doppel_match *match, struct doppel_error *error)
{
    struct sound_chart chart = {.names = {files[0].path, files[1].path}, .match = match};
    if (!settings->chart)
        return DOPPEL_OK;
    bool sounds = sound_read(&files[0].record, &chart.tracks[0]) &&
                  sound_read(&files[1].record, &chart.tracks[1]);
    enum doppel_status status =
        sounds ? sound_chart_write(settings->chart, &chart, error)
               : doppel_fail(error, DOPPEL_E_ARGUMENT, "'--chart' draws two sounds");
    doppel_audio_track_free(&chart.tracks[0]);
    doppel_audio_track_free(&chart.tracks[1]);
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

static int compare(const struct settings *settings, struct report *report,
                   struct doppel_cache *cache)
{
    struct doppel_error error;
    struct walk_options walk = walk_options_from(settings);
    walk.every_name = walk.stdin_operand = true;
    struct intake_options options = {.settings = settings,
                                     .report = report,
                                     .walk = &walk,
                                     .cache = cache,
                                     .attachments = settings->check == CHECK_PIXELS,
                                     .places = true};
    struct intake_file files[2] = {0};
    size_t count = 0;
    struct pair_match comparison = {.match.false_positive_rate = -1};
    bool printed = true;
    enum doppel_status status = read_both(&options, files, &count, &error);
    if (status == DOPPEL_OK && count == 2) {
        printed = print_comparison(settings, report, files, &comparison);
        status = draw(settings, files, &comparison.match, &error);
    }
    bool matches = comparison.matches;
    pair_match_free(&comparison);
    for (size_t i = 0; i < count; i++)
        intake_file_free(&files[i]);
    if (status && status != DOPPEL_E_CANCELLED)
        return report_fatal(report, "%s", error.message);
    if (!printed)
        return EXIT_WRONG_USE;
    return matches ? EXIT_DONE : EXIT_NO_MATCH;
}

int cmd_compare(const struct settings *settings, struct report *report)
{
    struct doppel_error error;
    struct doppel_cache *cache;
    if (has_folder(settings, report))
        return EXIT_NO_MATCH;
    if (open_cache(settings, report, &cache, &error))
        return report_fatal(report, "%s", error.message);
    int code = compare(settings, report, cache);
    doppel_cache_close(cache);
    return code;
}
