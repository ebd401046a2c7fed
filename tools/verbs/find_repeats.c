/* find --repeats FILE...: the passages that recur within a recording; needs no library. */
#include "tools/args/engine_options.h"
#include "tools/output/messages.h"
#include "tools/verbs/find_repeats.h"

#include <stdlib.h>

#include "intake/reader.h"
#include "intake/open_cache.h"
#include "tools/output/output.h"
#include "compare/audio.h"

static const struct column columns[] = {
    {"a_start", "from", CELL_PLACE},         {"a_end", "to", CELL_PLACE},
    {"b_start", "second start", CELL_PLACE}, {"b_end", "second end", CELL_PLACE},
    {"speed", "speed", CELL_NUMBER},         {"path", "path", CELL_PATH},
};

static const struct layout layout = {columns, sizeof columns / sizeof *columns, NULL, NULL, NULL};

static void print_repeat(struct output *output, const char *path,
                         const struct doppel_segment *segment)
{
    struct doppel_json *row = output_begin(output);
    doppel_json_path(row, "path", path);
    doppel_json_number(row, "a_start", segment->a_start, 3);
    doppel_json_number(row, "a_end", segment->a_end, 3);
    doppel_json_number(row, "b_start", segment->b_start, 3);
    doppel_json_number(row, "b_end", segment->b_end, 3);
    doppel_json_number(row, "speed", segment->speed, 4);
    output_end(output);
}

static enum doppel_status print_repeats(const struct settings *settings,
                                        const struct intake_file *file, struct output *output,
                                        bool *out_any, struct doppel_error *error)
{
    struct doppel_audio_track track;
    struct doppel_segment *segments = NULL;
    size_t count = 0;
    if (!audio_read(&file->record, &track))
        return doppel_fail(error, DOPPEL_E_CORRUPT, "what is known of %s is damaged", file->path);
    struct doppel_recording recording = audio_of(&track);
    const struct doppel_compare_options compare = compare_options_from(settings);
    struct doppel_audio_options options = audio_options_from(&compare);
    enum doppel_status status =
        doppel_match_repeats(&recording, &options, &segments, &count, error);
    for (size_t i = 0; i < count && !status; i++)
        print_repeat(output, file->path, &segments[i]);
    *out_any |= !status && count;
    free(segments);
    doppel_audio_track_free(&track);
    return status;
}

static enum doppel_status find_all_repeats(const struct settings *settings, struct report *report,
                                           struct output *output, bool *out_any,
                                           struct doppel_error *error)
{
    struct doppel_cache *cache;
    enum doppel_status status = open_cache(report->run, &cache, error);
    if (status)
        return status;
    struct doppel_walk_options walk = walk_options_from(settings);
    walk.every_name = walk.stdin_operand = true;
    struct intake_options options = {
        .read = read_options_from(settings), .run = report->run, .walk = &walk, .cache = cache};
    struct intake *intake = NULL;
    struct intake_file file;
    status = intake_new(&options, &intake, error);
    while (status == DOPPEL_OK && (status = intake_next(intake, &file, error)) == DOPPEL_OK) {
        status = print_repeats(settings, &file, output, out_any, error);
        intake_file_free(&file);
    }
    intake_free(intake);
    leave_cache(report->run, cache);
    return status == DOPPEL_E_NOT_FOUND ? DOPPEL_OK : status;
}

int find_repeats(const struct settings *settings, struct report *report)
{
    struct doppel_error error;
    bool any = false;
    struct output *output = output_new(settings, &layout, report);
    enum doppel_status status = find_all_repeats(settings, report, output, &any, &error);
    bool written = output_finish(output);
    if (status && status != DOPPEL_E_CANCELLED)
        return report_fatal(report, "%s", error.message);
    if (!written)
        return EXIT_WRONG_USE;
    return any ? EXIT_DONE : EXIT_NO_MATCH;
}
