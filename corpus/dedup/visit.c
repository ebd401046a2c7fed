/* Telling what was decided, in order of input. */
#include <stdlib.h>

#include "corpus/dedup/dedup_internal.h"
#include "corpus/read/temporary.h"

struct visit {
    struct dedup *dedup;
    char *line;
    size_t line_capacity;
};

static struct doppel_match match_of(const struct dedup *dedup, const struct dedup_verdict *verdict)
{
    return (struct doppel_match){
        .kind = DOPPEL_KIND_TEXT,
        .scheme = dedup->lanes == 256 ? DOPPEL_SCHEME_MINHASH256 : DOPPEL_SCHEME_MINHASH128,
        .relation = (enum doppel_relation)verdict->relation,
        .verified = (enum doppel_verified)verdict->verified,
        .distance = verdict->distance,
        .bits = dedup->lanes,
        .similarity = share_unpack(verdict->similarity),
        .false_positive_rate = -1,
        .has_coverage = verdict->has_coverage,
        .query_coverage = share_unpack(verdict->query_coverage),
        .item_coverage = share_unpack(verdict->item_coverage),
    };
}

static void describe_leader(const struct dedup *dedup, const struct dedup_verdict *verdict,
                            struct doppel_dedup_decision *out)
{
    const struct facts *facts = dedup_facts_of(dedup, verdict->of);
    out->of = string_of(dedup, facts, FACT_ID);
    out->of_line = facts->line;
    if (facts->flags & FACT_LIBRARY) {
        out->of_item = facts->place;
        out->of_path = string_of(dedup, facts, FACT_PATH);
    } else {
        out->of_path = reader_file_path(dedup->reader, file_of(dedup, verdict->of));
    }
    if (verdict->replaces)
        out->replaces = out->of;
}

static enum doppel_status make_room_for_visit(struct visit *visit, size_t size,
                                              struct doppel_error *error)
{
    if (size + PARSE_SLACK <= visit->line_capacity)
        return DOPPEL_OK;
    char *grown = realloc(visit->line, size + PARSE_SLACK);
    if (!grown)
        return doppel_fail(error, DOPPEL_E_MEMORY, "not enough memory");
    visit->line = grown;
    visit->line_capacity = size + PARSE_SLACK;
    return DOPPEL_OK;
}

/* Without one where the file has changed. */
static enum doppel_status load_line(struct visit *visit, uint32_t number,
                                    struct doppel_dedup_decision *out, struct doppel_error *error)
{
    const struct dedup *dedup = visit->dedup;
    const struct facts *facts = dedup_facts_of(dedup, number);
    if (!dedup->options->lines || !(facts->flags & (FACT_PLAIN | FACT_LINE)))
        return DOPPEL_OK;
    enum doppel_status status = make_room_for_visit(visit, facts->size, error);
    if (status)
        return status;
    if (facts->flags & FACT_PLAIN)
        status = reader_rewind(dedup->reader, file_of(dedup, number), facts->place, facts->size,
                               visit->line, error);
    else {
        uint64_t shingles = facts->flags & FACT_KEPT ? facts->shingles * sizeof(uint32_t) : 0;
        status = temporary_read(dedup->folder, dedup->kept, visit->line, facts->size,
                                facts->place + shingles, error);
    }
    if (status)
        return status;
    out->line_text = visit->line;
    out->line_size = facts->size;
    return DOPPEL_OK;
}

/* Follow who takes whose place: of those that take the same one, the last has it. */
static void find_places_dedup(struct dedup *dedup)
{
    for (uint32_t i = 0; i < dedup->count; i++)
        dedup_facts_of(dedup, i)->holder = NO_RECORD;
    for (uint32_t i = 0; i < dedup->count; i++) {
        const struct dedup_verdict *verdict = dedup_verdict_of(dedup, i);
        if (verdict->replaces)
            dedup_facts_of(dedup, verdict->of)->holder = i;
    }
}

static bool is_unique(const struct dedup *dedup, uint32_t number)
{
    const struct facts *facts = dedup_facts_of(dedup, number);
    const struct dedup_verdict *verdict = dedup_verdict_of(dedup, number);
    switch ((enum doppel_decision)verdict->decision) {
    case DOPPEL_DECISION_DUPLICATE:
    case DOPPEL_DECISION_UNREADABLE:
    case DOPPEL_DECISION_CONFLICT:
        return false;
    default:
        break;
    }
    if (verdict->reason == DOPPEL_BECAUSE_NEWER)
        return dedup_facts_of(dedup, verdict->of)->holder == number && facts->holder == NO_RECORD;
    return facts->leader == number && facts->holder == NO_RECORD;
}

static enum doppel_status fill_visited_record(struct visit *visit, uint32_t number,
                                              struct doppel_dedup_decision *out,
                                              struct doppel_error *error)
{
    const struct dedup *dedup = visit->dedup;
    const struct facts *facts = dedup_facts_of(dedup, number);
    const struct dedup_verdict *verdict = dedup_verdict_of(dedup, number);
    *out = (struct doppel_dedup_decision){
        .number = number - dedup->first,
        .path = reader_file_path(dedup->reader, file_of(dedup, number)),
        .line = facts->line,
        .id = string_of(dedup, facts, FACT_ID),
        .decision = (enum doppel_decision)verdict->decision,
        .reason = facts->flags & FACT_UNREADABLE ? string_of(dedup, facts, FACT_UNREADABLE)
                                                 : doppel_decision_reason_name(verdict->reason),
        .unique = is_unique(dedup, number),
        .has_match = verdict->has_match,
    };
    if (verdict->has_match)
        out->match = match_of(dedup, verdict);
    if (verdict->of != NO_RECORD)
        describe_leader(dedup, verdict, out);
    return load_line(visit, number, out, error);
}

enum doppel_status dedup_visit(struct dedup *dedup, doppel_dedup_visitor *visitor, void *context,
                               struct doppel_error *error)
{
    struct visit visit = {.dedup = dedup};
    enum doppel_status status = DOPPEL_OK;
    find_places_dedup(dedup);
    for (uint32_t i = dedup->first; i < dedup->count && !status; i++) {
        struct doppel_dedup_decision decision;
        status = fill_visited_record(&visit, i, &decision, error);
        if (!status && !visitor(context, &decision))
            status = DOPPEL_E_CANCELLED;
        if (i % LET_GO_RECORDS == 0)
            let_go(dedup);
    }
    free(visit.line);
    return status;
}
