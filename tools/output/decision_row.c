/* What was decided of a file, as it is printed. */
#include "tools/output/decision_row.h"

#include <string.h>

#include "tools/output/item_row.h"
#include "tools/output/output.h"

/* The numbers of items are their names, where a record has no other. */
static void write_of(struct doppel_json *row, const struct file_decision *decision)
{
    const struct doppel_name *of = &decision->of;
    if (!decision->answer.of)
        return;
    if (of->record_id)
        doppel_json_text(row, "of", of->record_id);
    else
        doppel_json_integer(row, "of", decision->answer.of);
    doppel_json_integer(row, "of_item", decision->answer.of);
    if (of->path)
        doppel_json_path(row, "of_path", of->path);
    if (of->line)
        doppel_json_integer(row, "of_line", of->line);
}

/* The record without the decision, which is what is printed of the unique ones; or with it. */
static struct doppel_json input_row(const struct intake_file *file,
                                    const struct record_file *record,
                                    const struct doppel_json *decision)
{
    struct doppel_json row = {0};
    struct doppel_metadata metadata =
        record && record->said ? *record->said : (struct doppel_metadata){0};
    metadata.source = record ? (char *)record->source : NULL;
    metadata.date = record ? (char *)record->date : NULL;
    doppel_json_object_begin(&row, NULL);
    if (record)
        doppel_json_text(&row, "id", record->id);
    doppel_json_path(&row, "path", file->path);
    write_metadata(&row, &metadata);
    if (decision)
        doppel_json_raw(&row, "doppel", decision->bytes, decision->size);
    doppel_json_object_end(&row);
    return row;
}

static void write_file_decision(struct doppel_json *row, const struct intake_file *file,
                                const struct record_file *record,
                                const struct file_decision *decision)
{
    const struct rule_answer *answer = &decision->answer;
    const struct doppel_scheme *scheme = doppel_scheme_by_id(file->record.scheme);
    doppel_json_object_begin(row, NULL);
    if (record)
        doppel_json_text(row, "id", record->id);
    doppel_json_path(row, "path", file->path);
    if (record)
        doppel_json_integer(row, "line", record->line);
    doppel_json_text(row, "decision", doppel_decision_name(answer->decision));
    write_of(row, decision);
    if (decision->replaces)
        doppel_json_integer(row, "replaces", decision->replaces);
    doppel_json_text(row, "reason", answer->reason);
    if (decision->match) {
        write_members(row, json_incref(decision->match));
    } else if (scheme && !file->record.error.status) {
        doppel_json_text(row, "kind", doppel_kind_name(file->record.kind));
        doppel_json_text(row, "scheme", scheme->name);
    }
    if (!file->record.error.status && file->record.error.message[0])
        doppel_json_text(row, "remark", file->record.error.message);
    if (decision->item)
        doppel_json_integer(row, "item", decision->item);
    if (decision->same_id)
        doppel_json_integer(row, "same_id", decision->same_id);
    doppel_json_object_end(row);
}

bool decision_row_tell(struct decision_output *output, const struct decided_file *decided_file)
{
    const struct intake_file *file = decided_file->file;
    const struct record_file *record = decided_file->record;
    const struct file_decision *decision = decided_file->decision;
    const struct rule_answer *answer = &decision->answer;
    enum emit emit = output->settings->emit;
    struct decided_row decided = {
        .decision = answer->decision,
        .unique = answer->decision != DOPPEL_DECISION_DUPLICATE &&
                  answer->decision != DOPPEL_DECISION_UNREADABLE,
        .matched = answer->of && (!answer->reason || strcmp(answer->reason, "benign") != 0),
        .path = file->path,
        .reason = answer->reason,
        .same_id = decision->same_id != 0,
        .is_path = !record || !record->id,
    };
    write_file_decision(&decided.row, file, record, decision);
    if (emit != EMIT_DECISIONS)
        decided.input = input_row(file, record, emit == EMIT_ANNOTATED ? &decided.row : NULL);
    return decision_output_row(output, &decided);
}
