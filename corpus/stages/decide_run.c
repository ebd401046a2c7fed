/* The stage "decide": it reads signatures and cells, goes on as a dedup does from there, and writes
 * the decisions with all that "emit" needs. */
#include <stdlib.h>
#include <string.h>

#include "core/try.h"
#include "corpus/dedup/buckets.h"
#include "corpus/dedup/sign.h"
#include "corpus/stages/stage_file.h"

_Static_assert(sizeof(struct decided_row) == 56, "docs/formats.md");

static bool take_joined_cell(void *context, uint32_t number, uint32_t band, uint32_t first)
{
    const struct dedup *dedup = context;
    if (dedup_takes_part(dedup, number))
        *dedup_cell_of(dedup, number, band) = first;
    return true;
}

/* Refuse an input without texts, as the reader does that sees all of it. */
static enum doppel_status check_that_texts_are_there(const struct dedup *dedup,
                                                     struct doppel_error *error)
{
    const struct facts *first = NULL;
    uint64_t lacking = 0;
    size_t files = reader_file_count(dedup->reader);
    for (uint32_t i = 0; i < dedup->count; i++) {
        const struct facts *facts = dedup_facts_of(dedup, i);
        if (!(facts->flags & FACT_UNREADABLE))
            return DOPPEL_OK;
        if (facts->flags & FACT_NO_TEXT && !lacking++)
            first = facts;
    }
    if (!first)
        return DOPPEL_OK;
    return doppel_fail(error, DOPPEL_E_ARGUMENT, "%s: no record of the first %llu has a text: %s",
                       reader_file_path(dedup->reader, (uint32_t)files - 1),
                       (unsigned long long)lacking, string_of(dedup, first, FACT_UNREADABLE));
}

static enum doppel_status decide_run(const struct doppel_stages *stages, struct dedup *dedup,
                                     struct doppel_error *error)
{
    uint32_t parts, *starts = NULL;
    enum doppel_status status;
    TRY(stages_parts_of(stages, DOPPEL_STAGE_SIGN, &parts, error));
    TRY(signed_starts(stages, parts, &starts, error));
    const struct signed_wish all = {.span = {0, starts[parts]}, .signatures = true};
    TRY(signed_load(stages, dedup, starts, parts, &all, error));
    TRY(check_that_texts_are_there(dedup, error));
    TRY(dedup_find_same(dedup, error));
    TRY(dedup_empty_cells(dedup, error));
    TRY(joined_visit(stages, dedup, dedup->count, take_joined_cell, dedup, error));
    TRY(compared_load(stages, dedup->count, &dedup->compared, error));
    TRY(dedup_replay(dedup, error));
    dedup_conclude(dedup);
done:
    free(starts);
    return status;
}

/* ---- what was decided ---- */

struct decided_block {
    const struct dedup *dedup;
    struct decided_row rows[DECIDED_ROWS];
    struct bytes strings;
};

static bool put_other(struct decided_block *block, uint32_t number, struct decided_other *out)
{
    const struct dedup *dedup = block->dedup;
    const struct facts *facts = dedup_facts_of(dedup, number);
    const char *id = string_of(dedup, facts, FACT_ID);
    *out = (struct decided_other){.line = facts->line,
                                  .file = file_of(dedup, number),
                                  .id = id ? (uint32_t)block->strings.count + 1 : 0};
    return !id || bytes_append(&block->strings, id, strlen(id) + 1);
}

static uint16_t flags_of_decision(const struct dedup_verdict *verdict,
                                  const struct doppel_dedup_decision *decision)
{
    return (uint16_t)((verdict->has_match ? DECIDED_MATCH : 0) |
                      (verdict->has_coverage ? DECIDED_COVERAGE : 0) |
                      (verdict->replaces ? DECIDED_REPLACES : 0) |
                      (decision->unique ? DECIDED_UNIQUE : 0) |
                      (verdict->of != NO_RECORD ? DECIDED_LINKED : 0) |
                      (decision->grouped ? DECIDED_GROUPED : 0));
}

static bool put_decided(struct decided_block *block, uint32_t number, struct decided_row *row)
{
    struct doppel_dedup_decision decision;
    const struct dedup_verdict *verdict = dedup_verdict_of(block->dedup, number);
    dedup_describe(block->dedup, number, &decision);
    *row = (struct decided_row){.similarity = verdict->similarity,
                                .query_coverage = verdict->query_coverage,
                                .item_coverage = verdict->item_coverage,
                                .distance = verdict->distance,
                                .flags = flags_of_decision(verdict, &decision),
                                .decision = verdict->decision,
                                .reason = verdict->reason,
                                .relation = verdict->relation,
                                .verified = verdict->verified};
    if (row->flags & DECIDED_LINKED && !put_other(block, verdict->of, &row->of))
        return false;
    uint32_t root = dedup_facts_of(block->dedup, number)->root;
    return !(row->flags & DECIDED_GROUPED) || put_other(block, root, &row->representative);
}

static enum doppel_status write_decided_block(struct stage_writer *writer,
                                              struct decided_block *block, uint32_t from,
                                              struct doppel_error *error)
{
    uint32_t count = block->dedup->count - from;
    if (count > DECIDED_ROWS)
        count = DECIDED_ROWS;
    block->strings.count = 0;
    for (uint32_t i = 0; i < count; i++)
        if (!put_decided(block, from + i, &block->rows[i]))
            return doppel_fail(error, DOPPEL_E_MEMORY, "not enough memory");
    stage_writer_begin(writer);
    enum doppel_status status =
        stage_writer_add(writer, block->rows, count * sizeof *block->rows, error);
    return status ? status
                  : stage_writer_add(writer, block->strings.items, block->strings.count, error);
}

static enum doppel_status write_decided(const struct doppel_stages *stages,
                                        const struct dedup *dedup, struct doppel_error *error)
{
    struct stage_writer writer;
    struct decided_block *block = calloc(1, sizeof *block);
    enum doppel_status status;
    if (!block)
        return doppel_fail(error, DOPPEL_E_MEMORY, "not enough memory");
    block->dedup = dedup;
    status = stage_writer_open(stages, DOPPEL_STAGE_DECIDE, (struct doppel_stage_part){1, 1},
                               dedup->count / DECIDED_ROWS + (dedup->count % DECIDED_ROWS != 0),
                               &writer, error);
    for (uint32_t i = 0; !status && i < dedup->count; i += DECIDED_ROWS)
        status = write_decided_block(&writer, block, i, error);
    if (!status)
        status = stage_writer_finish(&writer, dedup->count, error);
    stage_writer_drop(&writer);
    free(block->strings.items);
    free(block);
    return status;
}

static enum doppel_status decide_part(struct doppel_stages *stages, struct doppel_stage_part only,
                                      struct doppel_error *error)
{
    struct dedup dedup;
    enum doppel_status status;
    (void)only;
    TRY(stages_begin_dedup(stages, &dedup, error));
    TRY(decide_run(stages, &dedup, error));
    TRY(write_decided(stages, &dedup, error));
done:
    free((void *)(uintptr_t)dedup.compared.items);
    dedup_end(&dedup);
    return status;
}

enum doppel_status doppel_stages_decide(struct doppel_stages *stages, bool *out_was_there,
                                        struct doppel_error *error)
{
    const struct stage_task task = {DOPPEL_STAGE_DECIDE, {1, 1}, 1, decide_part};
    return stages_do_part(stages, &task, out_was_there, error);
}
