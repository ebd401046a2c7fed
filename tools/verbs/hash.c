/* doppel hash FILE...: prints fingerprints. */
#include <stdio.h>

#include "tools/args/engine_options.h"
#include "tools/output/messages.h"
#include "tools/args/commands.h"
#include "intake/reader.h"
#include "intake/open_cache.h"
#include "tools/output/output.h"
#include "compare/audio.h"

static const struct column columns[] = {
    {"code", "code", CELL_TEXT},          {"kind", NULL, CELL_TEXT},
    {"scheme", NULL, CELL_TEXT},          {"version", NULL, CELL_NUMBER},
    {"codes", NULL, CELL_NUMBER},         {"duration", "duration", CELL_SECONDS},
    {"damaged", "damaged", CELL_SECONDS}, {"width", "width", CELL_NUMBER},
    {"height", "height", CELL_NUMBER},    {"quality", "quality", CELL_NUMBER},
    {"keyframes", NULL, CELL_BOOL},       {"has_sound", NULL, CELL_BOOL},
    {"words", "words", CELL_NUMBER},      {"characters", NULL, CELL_NUMBER},
    {"bad_bytes", NULL, CELL_NUMBER},     {"too_short", NULL, CELL_BOOL},
    {"reading", NULL, CELL_TEXT},         {"looks_like", "looks like", CELL_TEXT},
    {"artist", "artist", CELL_TEXT},      {"title", "title", CELL_TEXT},
    {"album", "album", CELL_TEXT},        {"remark", NULL, CELL_TEXT},
    {"sequence", "sequence", CELL_TEXT},  {"path", "path", CELL_PATH},
};

static const struct layout layout = {columns, sizeof columns / sizeof *columns, NULL, NULL, NULL};

/* Numbers as fpcalc has them, so that they go where its output goes. */
static void print_fpcalc(const struct doppel_record *record)
{
    printf("DURATION=%u\nFINGERPRINT=", audio_length_ms(record) / 1000);
    for (uint32_t i = 0; i < record->fingerprint.count; i++)
        printf(i ? ",%u" : "%u", (unsigned)record->fingerprint.codes[i].word[0]);
    putchar('\n');
    (void)fflush(stdout);
}

/* A list as others have it, so that it goes where theirs go. */
static void print_vpdq(const struct doppel_record *record)
{
    fwrite(record->attachment, 1, record->attachment_size, stdout);
    (void)fflush(stdout);
}

static enum doppel_status hash_files(const struct settings *settings, struct report *report,
                                     const struct intake_options *options, struct output *output,
                                     struct doppel_error *error)
{
    struct intake *intake;
    struct intake_file file;
    bool any = false;
    enum doppel_status status = intake_new(options, &intake, error);
    if (status)
        return status;
    while ((status = intake_next(intake, &file, error)) == DOPPEL_OK) {
        if (settings->fpcalc) {
            print_fpcalc(&file.record);
        } else if (settings->vpdq) {
            print_vpdq(&file.record);
        } else {
            struct doppel_json *row = output_begin(output);
            doppel_json_path(row, "path", file.path);
            doppel_record_to_json(row, &file.record, &settings->text, settings->codes);
            output_end(output);
        }
        intake_file_free(&file);
        any = true;
    }
    intake_free(intake);
    if (status == DOPPEL_E_NOT_FOUND && !any)
        report_no_input(report, "hash");
    return status == DOPPEL_E_NOT_FOUND ? DOPPEL_OK : status;
}

int cmd_hash(const struct settings *settings, struct report *report)
{
    struct doppel_error error;
    struct doppel_cache *cache;
    if (open_cache(report->run, &cache, &error))
        return report_fatal(report, "%s", error.message);
    struct doppel_walk_options walk = walk_options_from(settings);
    walk.every_name = walk.stdin_operand = true;
    struct intake_options options = {
        .read = read_options_from(settings), .run = report->run, .walk = &walk, .cache = cache};
    struct output *output = output_new(settings, &layout, report);
    enum doppel_status status = hash_files(settings, report, &options, output, &error);
    bool printed = output_finish(output);
    leave_cache(report->run, cache);
    if (status && status != DOPPEL_E_CANCELLED)
        return report_fatal(report, "%s", error.message);
    return printed ? EXIT_DONE : EXIT_WRONG_USE;
}
