/* doppel dedup --stage: one stage or part of a dedup that many processes share. */
#include <stdio.h>
#include <string.h>

#include <doppel/corpus_stages.h>

#include "core/try.h"
#include "tools/output/messages.h"
#include "tools/output/output.h"
#include "tools/verbs/dedup/dedup.h"

/* ---- one part ---- */

static struct doppel_stage_part stage_part_of(const struct settings *settings)
{
    return (struct doppel_stage_part){settings->part, settings->parts};
}

static void say_done(struct dedup_command *command, enum doppel_stage stage,
                     struct doppel_stage_part part, bool was_there)
{
    if (command->report->verbose || command->report->terminal)
        report_notice(command->report, "%s %u/%u: %s", doppel_stage_name(stage), part.number,
                      part.count, was_there ? "was there" : "done");
}

static enum doppel_status do_stage(struct dedup_command *command, struct doppel_stages *stages,
                                   enum doppel_stage stage, struct doppel_stage_part part,
                                   struct doppel_error *error)
{
    bool was_there = false;
    enum doppel_status status =
        stage == DOPPEL_STAGE_SIGN      ? doppel_stages_sign(stages, part, &was_there, error)
        : stage == DOPPEL_STAGE_JOIN    ? doppel_stages_join(stages, part, &was_there, error)
        : stage == DOPPEL_STAGE_COMPARE ? doppel_stages_compare(stages, part, &was_there, error)
                                        : doppel_stages_decide(stages, &was_there, error);
    if (!status)
        say_done(command, stage, part, was_there);
    return status;
}

/* ---- the output of a part ---- */

static const char *name_of_emit(enum emit emit)
{
    static const char *const names[] = {
        [EMIT_DECISIONS] = "decisions",   [EMIT_UNIQUE] = "unique",
        [EMIT_DUPLICATES] = "duplicates", [EMIT_ANNOTATED] = "annotated",
        [EMIT_UNREADABLE] = "unreadable",
    };
    return names[emit];
}

static bool count_corpus_decision(void *context, const struct doppel_dedup_decision *decision)
{
    struct dedup_command *command = context;
    struct doppel_decided decided;
    doppel_decided_of_record(decision, &decided);
    decision_output_count(&command->output, &decided);
    return true;
}

/* The file is there: what could not be read is reported all the same. */
static enum doppel_status report_emitted(struct dedup_command *command,
                                         struct doppel_stages *stages, struct doppel_error *error)
{
    const struct doppel_stage_part part = stage_part_of(command->settings);
    say_done(command, DOPPEL_STAGE_EMIT, part, true);
    return doppel_stages_visit_decisions(stages, part, count_corpus_decision, command, error);
}

static enum doppel_status emit_to_file(struct dedup_command *command, struct doppel_stages *stages,
                                       struct doppel_error *error)
{
    struct decision_output *output = &command->output;
    const struct settings *settings = command->settings;
    const struct doppel_stage_part part = stage_part_of(settings);
    enum doppel_status status;
    TRY(doppel_stage_output_new(stages, name_of_emit(settings->emit), part, &output->part, error));
    if (!output->part)
        return report_emitted(command, stages, error);
    TRY(doppel_stages_emit(stages, part, take_corpus_decision, command, error));
    if (!decision_output_flush(output))
        TRY(DOPPEL_E_CANCELLED); /* and said */
    TRY(doppel_stage_output_finish(output->part, error));
    say_done(command, DOPPEL_STAGE_EMIT, part, false);
done:
    doppel_stage_output_free(output->part);
    output->part = NULL;
    return status;
}

/* ---- all stages in this process ---- */

static enum doppel_status do_all_parts(struct dedup_command *command, struct doppel_stages *stages,
                                       enum doppel_stage stage, struct doppel_error *error)
{
    const uint32_t parts = doppel_stages_parts(stages, stage);
    enum doppel_status status = DOPPEL_OK;
    for (uint32_t i = 1; i <= parts && !status; i++)
        status = do_stage(command, stages, stage, (struct doppel_stage_part){i, parts}, error);
    return status;
}

static enum doppel_status do_all_stages(struct dedup_command *command, struct doppel_stages *stages,
                                        struct doppel_error *error)
{
    const struct doppel_stage_part only = {1, 1};
    enum doppel_status status = DOPPEL_OK;
    for (int stage = DOPPEL_STAGE_SIGN; stage <= DOPPEL_STAGE_DECIDE; stage++)
        TRY(do_all_parts(command, stages, (enum doppel_stage)stage, error));
    TRY(doppel_stages_emit(stages, only, take_corpus_decision, command, error));
done:
    return status;
}

/* ---- what there is ---- */

static bool print_stage_files(void *context, const struct doppel_stage_files *files)
{
    struct doppel_json *json = context;
    doppel_json_object_begin(json, NULL);
    doppel_json_text(json, "stage", doppel_stage_name(files->stage));
    doppel_json_text(json, "emit", files->name);
    doppel_json_integer(json, "parts", files->parts);
    doppel_json_integer(json, "done", files->parts - files->missing_count);
    doppel_json_array_begin(json, "missing");
    for (uint32_t i = 0; i < files->missing_count; i++)
        doppel_json_integer(json, NULL, files->missing[i]);
    doppel_json_array_end(json);
    doppel_json_object_end(json);
    doppel_json_end_line(json);
    return true;
}

static enum doppel_status print_stages(struct dedup_command *command, struct doppel_stages *stages,
                                       struct doppel_error *error)
{
    struct doppel_json *json = &command->output.text;
    enum doppel_status status = doppel_stages_visit(stages, print_stage_files, json, error);
    return status;
}

/* ---- the verb ---- */

static enum doppel_status do_what_is_asked(struct dedup_command *command,
                                           struct doppel_stages *stages, struct doppel_error *error)
{
    const struct settings *settings = command->settings;
    switch ((enum stage)settings->stage) {
    case STAGE_SIGN:
        return do_stage(command, stages, DOPPEL_STAGE_SIGN, stage_part_of(settings), error);
    case STAGE_JOIN:
        return do_stage(command, stages, DOPPEL_STAGE_JOIN, stage_part_of(settings), error);
    case STAGE_COMPARE:
        return do_stage(command, stages, DOPPEL_STAGE_COMPARE, stage_part_of(settings), error);
    case STAGE_DECIDE:
        return do_stage(command, stages, DOPPEL_STAGE_DECIDE, (struct doppel_stage_part){1, 1},
                        error);
    case STAGE_EMIT:
        return emit_to_file(command, stages, error);
    case STAGE_ALL:
        return do_all_stages(command, stages, error);
    default:
        return print_stages(command, stages, error);
    }
}

static enum doppel_status open_stages(struct dedup_command *command, struct doppel_stages **out,
                                      struct doppel_error *error)
{
    const char *work = command->settings->work;
    return command->settings->stage == STAGE_STATUS
               ? doppel_stages_resume(&command->options, work, out, error)
               : doppel_stages_open(&command->options, work, out, error);
}

int run_dedup_stage(struct dedup_command *command)
{
    struct doppel_error error;
    struct report *report = command->report;
    struct doppel_stages *stages = NULL;
    enum doppel_status status;
    corpus_summary_begin(&command->summary);
    progress_begin(&report->progress, "bytes", 0);
    TRY(open_stages(command, &stages, &error));
    TRY(do_what_is_asked(command, stages, &error));
done:
    doppel_stages_free(stages);
    bool written = decision_output_finish(&command->output, !status);
    if (written && !status && command->settings->stage == STAGE_ALL)
        corpus_summary_print(&command->summary, &command->output);
    if (status && status != DOPPEL_E_CANCELLED)
        return report_fatal(report, "%s", error.message);
    return written ? EXIT_DONE : EXIT_WRONG_USE;
}
