/* What was decided of a file, as it is printed. */
#include "tools/output/decision_row.h"

#include <string.h>

#include "tools/output/item_row.h"
#include "tools/output/output.h"

/* The numbers of items are their names, where a record has no other. */
static void put_leader(json_t *row, const struct file_decision *decision)
{
    const struct doppel_name *of = &decision->of;
    if (!decision->answer.of)
        return;
    if (of->record_id)
        put_text(row, "of", of->record_id);
    else
        put_integer(row, "of", decision->answer.of);
    put_integer(row, "of_item", decision->answer.of);
    if (of->path)
        put_path(row, "of_path", of->path);
    if (of->line)
        put_integer(row, "of_line", of->line);
}

/* The record without the decision: what is printed of the unique ones. */
static json_t *input_row(const struct intake_file *file, const struct doppel_ingest_file *record)
{
    json_t *row = json_object();
    if (record && record->id)
        put_text(row, "id", record->id);
    put_path(row, "path", file->path);
    struct doppel_metadata about =
        record && record->said ? *record->said : (struct doppel_metadata){0};
    about.source = record ? (char *)record->source : NULL;
    about.date = record ? (char *)record->date : NULL;
    struct doppel_json written = {0};
    doppel_json_object_begin(&written, NULL);
    write_metadata(&written, &about);
    doppel_json_object_end(&written);
    put_written(row, &written);
    doppel_json_free(&written);
    return row;
}

static json_t *row_of(const struct intake_file *file, const struct doppel_ingest_file *record,
                      const struct file_decision *decision)
{
    const struct rule_answer *answer = &decision->answer;
    const struct doppel_scheme *scheme = doppel_scheme_by_id(file->record.scheme);
    json_t *row = json_object();
    if (record && record->id)
        put_text(row, "id", record->id);
    put_path(row, "path", file->path);
    if (record)
        put_integer(row, "line", record->line);
    put_text(row, "decision", doppel_decision_name(answer->decision));
    put_leader(row, decision);
    if (decision->replaces)
        put_integer(row, "replaces", decision->replaces);
    if (answer->reason)
        put_text(row, "reason", answer->reason);
    if (decision->match) {
        json_object_update(row, decision->match);
    } else if (scheme && !file->record.error.status) {
        put_text(row, "kind", doppel_kind_name(file->record.kind));
        put_text(row, "scheme", scheme->name);
    }
    if (!file->record.error.status && file->record.error.message[0])
        put_text(row, "remark", file->record.error.message);
    if (decision->item)
        put_integer(row, "item", decision->item);
    if (decision->same_id)
        put_integer(row, "same_id", decision->same_id);
    return row;
}

bool decision_row_tell(struct decision_output *output, const struct intake_file *file,
                       const struct doppel_ingest_file *record,
                       const struct file_decision *decision)
{
    const struct rule_answer *answer = &decision->answer;
    bool bare = output->settings->emit == EMIT_DECISIONS;
    const struct decided_row decided = {
        .decision = answer->decision,
        .unique = answer->decision != DOPPEL_DECISION_DUPLICATE &&
                  answer->decision != DOPPEL_DECISION_UNREADABLE,
        .matched = answer->of && (!answer->reason || strcmp(answer->reason, "benign") != 0),
        .path = file->path,
        .reason = answer->reason,
        .row = row_of(file, record, decision),
        .input = bare ? NULL : input_row(file, record),
        .same_id = decision->same_id != 0,
        .is_path = !record || !record->id,
    };
    return decision_output_row(output, &decided);
}
