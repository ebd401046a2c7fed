/* The stage "emit": the decisions of a range of records are visited, with their lines. */
#include <stdlib.h>
#include <string.h>

#include "core/try.h"
#include "corpus/dedup/lines.h"
#include "corpus/stages/stage_file.h"

enum { TOLD_RECORDS = 1024 };

struct stage_emission {
    struct dedup dedup; /* of the part's records: the first is number 0 */
    struct record_span span;
    struct stage_file file;
    struct stage_bytes section;
    uint32_t section_number; /* UINT32_MAX: none was read */
    struct line_loader lines;
    bool without_lines; /* and without their inputs */
    doppel_dedup_visitor *visitor;
    void *context;
};

/* ---- one decision ---- */

static size_t rows_of_section(const struct stage_emission *emission)
{
    uint64_t left = emission->file.head.records - (uint64_t)emission->section_number * DECIDED_ROWS;
    return left < DECIDED_ROWS ? (size_t)left : DECIDED_ROWS;
}

static enum doppel_status read_decided_section(struct stage_emission *emission, uint32_t number,
                                               struct doppel_error *error)
{
    if (emission->section_number == number)
        return DOPPEL_OK;
    emission->section_number = UINT32_MAX;
    enum doppel_status status = stage_file_read(&emission->file, number, &emission->section, error);
    if (status)
        return status;
    emission->section_number = number;
    size_t rows = rows_of_section(emission) * sizeof(struct decided_row);
    const struct stage_bytes *section = &emission->section;
    bool ends =
        section->size == rows || (section->size > rows && !section->items[section->size - 1]);
    return ends ? DOPPEL_OK : stage_file_is_odd(&emission->file, error);
}

/* @return false: it names a file or an id that does not exist */
static bool describe_other(const struct stage_emission *emission, const struct decided_other *other,
                           struct doppel_dedup_representative *out)
{
    size_t rows = rows_of_section(emission) * sizeof(struct decided_row);
    if (other->file >= reader_file_count(emission->dedup.reader) ||
        other->id > emission->section.size - rows)
        return false;
    *out = (struct doppel_dedup_representative){
        .id = other->id ? emission->section.items + rows + other->id - 1 : NULL,
        .path = reader_file_path(emission->dedup.reader, other->file),
        .line = other->line,
    };
    return true;
}

static struct doppel_match match_of_row(const struct dedup *dedup, const struct decided_row *row)
{
    return dedup_match_of(dedup,
                          &(struct dedup_verdict){.similarity = row->similarity,
                                                  .query_coverage = row->query_coverage,
                                                  .item_coverage = row->item_coverage,
                                                  .distance = row->distance,
                                                  .relation = row->relation,
                                                  .verified = row->verified,
                                                  .has_coverage = row->flags & DECIDED_COVERAGE});
}

static bool row_is_known(const struct decided_row *row)
{
    static const uint32_t whole = UINT32_C(1) << 31; /* of a share */
    return row->decision <= DOPPEL_DECISION_IGNORED && row->reason <= DOPPEL_BECAUSE_UPSTREAM &&
           row->relation <= DOPPEL_RELATION_OVERLAPS &&
           row->verified <= DOPPEL_VERIFIED_ALIGNMENT && row->similarity <= whole &&
           row->query_coverage <= whole && row->item_coverage <= whole;
}

static bool describe_links(const struct stage_emission *emission, const struct decided_row *row,
                           struct doppel_dedup_decision *out)
{
    struct doppel_dedup_representative of = {0};
    if (row->flags & DECIDED_LINKED && !describe_other(emission, &row->of, &of))
        return false;
    out->of = of.id;
    out->of_path = of.path;
    out->of_line = of.line;
    out->replaces = row->flags & DECIDED_REPLACES ? of.id : NULL;
    out->grouped = row->flags & DECIDED_GROUPED;
    return !out->grouped || describe_other(emission, &row->representative, &out->representative);
}

/* @param number in the part */
static bool describe_decided(const struct stage_emission *emission, uint32_t number,
                             const struct decided_row *row, struct doppel_dedup_decision *out)
{
    const struct dedup *dedup = &emission->dedup;
    dedup_describe_record(dedup, number, row->reason, out);
    out->number = emission->span.from + number;
    out->decision = (enum doppel_decision)row->decision;
    out->unique = row->flags & DECIDED_UNIQUE;
    out->has_match = row->flags & DECIDED_MATCH;
    if (out->has_match)
        out->match = match_of_row(dedup, row);
    return row_is_known(row) && describe_links(emission, row, out);
}

static enum doppel_status emit_decision(struct stage_emission *emission, uint32_t number,
                                        struct doppel_error *error)
{
    struct doppel_dedup_decision decision;
    uint32_t place = emission->span.from + number;
    enum doppel_status status;
    TRY(read_decided_section(emission, place / DECIDED_ROWS, error));
    const struct decided_row *row =
        (const struct decided_row *)(const void *)emission->section.items + place % DECIDED_ROWS;
    if (!describe_decided(emission, number, row, &decision))
        TRY(stage_file_is_odd(&emission->file, error));
    if (!emission->without_lines && dedup_wants_line(&emission->dedup, &decision))
        TRY(lines_get(&emission->lines, number, &decision.line_text, &decision.line_size, error));
    if (!emission->visitor(emission->context, &decision))
        status = DOPPEL_E_CANCELLED;
    if (number % TOLD_RECORDS == 0) /* to end it is the visitor's */
        dedup_goes_on(&emission->dedup, "records visited", number, emission->dedup.count);
done:
    return status;
}

/* ---- a part ---- */

static enum doppel_status emit_file(struct stage_emission *emission, uint32_t file,
                                    struct doppel_error *error)
{
    const struct dedup *dedup = &emission->dedup;
    const struct doppel_corpus_input input = reader_file_input(dedup->reader, file);
    uint32_t from = dedup->first_of_file.items[file], to = dedup->first_of_file.items[file + 1];
    enum doppel_status status = DOPPEL_OK;
    if (from == to)
        return DOPPEL_OK;
    if (dedup->options->input && !emission->without_lines &&
        !dedup->options->input(emission->context, &input))
        return DOPPEL_E_CANCELLED;
    for (uint32_t i = from; i < to && !status; i++)
        status = emit_decision(emission, i, error);
    return status;
}

static enum doppel_status load_emission(const struct doppel_stages *stages,
                                        struct doppel_stage_part part,
                                        struct stage_emission *emission, struct doppel_error *error)
{
    uint32_t parts, *starts = NULL;
    enum doppel_status status;
    TRY(stage_file_open(stages, DOPPEL_STAGE_DECIDE, (struct doppel_stage_part){1, 1}, 0,
                        &emission->file, error));
    TRY(stages_parts_of(stages, DOPPEL_STAGE_SIGN, &parts, error));
    TRY(signed_starts(stages, parts, &starts, error));
    uint64_t records = emission->file.head.records;
    if (records != starts[parts] ||
        emission->file.head.sections != (records + DECIDED_ROWS - 1) / DECIDED_ROWS)
        TRY(stage_file_is_odd(&emission->file, error));
    emission->span = record_span_of((uint32_t)records, part);
    const struct signed_wish wish = {.span = emission->span};
    TRY(signed_load(stages, &emission->dedup, starts, parts, &wish, error));
done:
    free(starts);
    return status;
}

static enum doppel_status emit_part(const struct doppel_stages *stages,
                                    struct doppel_stage_part part, struct stage_emission *emission,
                                    struct doppel_error *error)
{
    enum doppel_status status = stages_check_part(part, DOPPEL_STAGE_MAX_PARTS, error);
    if (status)
        return status;
    emission->section_number = UINT32_MAX;
    emission->lines.dedup = &emission->dedup;
    TRY(stages_begin_dedup(stages, &emission->dedup, error));
    TRY(load_emission(stages, part, emission, error));
    for (uint32_t i = 0; i < reader_file_count(emission->dedup.reader); i++)
        TRY(emit_file(emission, i, error));
    dedup_goes_on(&emission->dedup, "records visited", emission->dedup.count,
                  emission->dedup.count);
done:
    lines_free(&emission->lines);
    free(emission->section.items);
    stage_file_close(&emission->file);
    dedup_end(&emission->dedup);
    return status;
}

enum doppel_status doppel_stages_emit(struct doppel_stages *stages, struct doppel_stage_part part,
                                      doppel_dedup_visitor *visitor, void *context,
                                      struct doppel_error *error)
{
    struct stage_emission emission = {.visitor = visitor, .context = context};
    return emit_part(stages, part, &emission, error);
}

enum doppel_status doppel_stages_visit_decisions(struct doppel_stages *stages,
                                                 struct doppel_stage_part part,
                                                 doppel_dedup_visitor *visitor, void *context,
                                                 struct doppel_error *error)
{
    struct stage_emission emission = {
        .without_lines = true, .visitor = visitor, .context = context};
    return emit_part(stages, part, &emission, error);
}
