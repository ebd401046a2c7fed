/* Telling what was decided, in order of input. */
#include "core/try.h"
#include "corpus/dedup/lines.h"

enum { SHOWN_RECORDS = 1024 };

struct visit {
    struct dedup *dedup;
    doppel_dedup_visitor *visitor;
    void *context;
    struct line_loader lines;
    size_t semantic; /* of those that were found: the first that is not visited */
};

struct doppel_match dedup_match_of(const struct dedup *dedup, const struct dedup_verdict *verdict)
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

/* The first record that each is linked to: what a record is of came before it. */
static void find_roots(struct dedup *dedup)
{
    for (uint32_t i = 0; i < dedup->count; i++) {
        struct facts *facts = dedup_facts_of(dedup, i);
        uint32_t of = i < dedup->first ? facts->former : dedup_verdict_of(dedup, i)->of;
        bool linked = of < i;
        facts->root = linked ? dedup_facts_of(dedup, of)->root : i;
        if (!linked)
            continue;
        facts->flags |= FACT_GROUPED;
        dedup_facts_of(dedup, facts->root)->flags |= FACT_GROUPED;
    }
}

void dedup_conclude(struct dedup *dedup)
{
    find_places_dedup(dedup);
    find_roots(dedup);
}

static void describe_root(const struct dedup *dedup, const struct facts *facts,
                          struct doppel_dedup_decision *out)
{
    const struct facts *root = dedup_facts_of(dedup, facts->root);
    bool library = root->flags & FACT_LIBRARY;
    out->grouped = true;
    out->representative = (struct doppel_dedup_representative){
        .id = string_of(dedup, root, FACT_ID),
        .path = library ? string_of(dedup, root, FACT_PATH)
                        : reader_file_path(dedup->reader, file_of(dedup, facts->root)),
        .line = root->line,
        .item = library ? root->place : 0,
    };
}

bool dedup_wants_line(const struct dedup *dedup, const struct doppel_dedup_decision *decision)
{
    unsigned is = decision->decision == DOPPEL_DECISION_UNREADABLE ? DOPPEL_LINES_UNREADABLE
                  : decision->unique                               ? DOPPEL_LINES_UNIQUE
                                                                   : DOPPEL_LINES_DUPLICATES;
    return dedup->options->lines & is;
}

bool dedup_is_unique(const struct dedup *dedup, uint32_t number)
{
    const struct facts *facts = dedup_facts_of(dedup, number);
    const struct dedup_verdict *verdict = dedup_verdict_of(dedup, number);
    switch ((enum doppel_decision)verdict->decision) {
    case DOPPEL_DECISION_DUPLICATE:
    case DOPPEL_DECISION_UNREADABLE:
    case DOPPEL_DECISION_CONFLICT:
    case DOPPEL_DECISION_IGNORED:
        return false;
    default:
        break;
    }
    if (verdict->reason == DOPPEL_BECAUSE_NEWER)
        return dedup_facts_of(dedup, verdict->of)->holder == number && facts->holder == NO_RECORD;
    return facts->leader == number && facts->holder == NO_RECORD;
}

void dedup_describe_record(const struct dedup *dedup, uint32_t number,
                           enum doppel_decision_reason reason, struct doppel_dedup_decision *out)
{
    const struct facts *facts = dedup_facts_of(dedup, number);
    *out = (struct doppel_dedup_decision){
        .path = reader_file_path(dedup->reader, file_of(dedup, number)),
        .line = facts->line,
        .id = string_of(dedup, facts, FACT_ID),
        .source = string_of(dedup, facts, FACT_SOURCE),
        .reason = facts->flags & FACT_UNREADABLE ? string_of(dedup, facts, FACT_UNREADABLE)
                                                 : doppel_decision_reason_name(reason),
    };
}

void dedup_describe(const struct dedup *dedup, uint32_t number, struct doppel_dedup_decision *out)
{
    const struct facts *facts = dedup_facts_of(dedup, number);
    const struct dedup_verdict *verdict = dedup_verdict_of(dedup, number);
    dedup_describe_record(dedup, number, verdict->reason, out);
    out->number = number - dedup->first;
    out->decision = (enum doppel_decision)verdict->decision;
    out->unique = dedup_is_unique(dedup, number);
    out->has_match = verdict->has_match;
    if (verdict->has_match)
        out->match = dedup_match_of(dedup, verdict);
    if (verdict->of != NO_RECORD)
        describe_leader(dedup, verdict, out);
    if (facts->flags & FACT_GROUPED)
        describe_root(dedup, facts, out);
}

/* @param out NULL in the decision: there is none */
static void describe_semantic(struct visit *visit, uint32_t number,
                              struct doppel_semantic_link *out,
                              struct doppel_dedup_decision *decision)
{
    const struct dedup *dedup = visit->dedup;
    if (visit->semantic == dedup->semantic.count ||
        dedup->semantic.items[visit->semantic].number != number)
        return;
    const struct semantic_found *found = &dedup->semantic.items[visit->semantic++];
    const struct facts *facts = dedup_facts_of(dedup, found->of);
    *out = (struct doppel_semantic_link){
        .of = string_of(dedup, facts, FACT_ID),
        .of_path = reader_file_path(dedup->reader, file_of(dedup, found->of)),
        .of_line = facts->line,
        .cosine = found->cosine,
        .has_score = found->has_score,
        .score = found->has_score ? found->score : 0,
        .tier = doppel_semantic_tier_of(found->rate),
        .false_positive_rate = found->rate,
        .expected = found->rate * dedup->embedded,
        .query_coverage = share_unpack(found->query_coverage),
        .item_coverage = share_unpack(found->item_coverage),
        .extent = doppel_semantic_extent_of(share_unpack(found->query_coverage),
                                            share_unpack(found->item_coverage)),
        .segments = found->segment_count > 0 ? dedup->segments.items + found->first_segment : NULL,
        .segment_count = found->segment_count,
    };
    decision->semantic = out;
}

static enum doppel_status visit_decision(struct visit *visit, uint32_t number,
                                         struct doppel_error *error)
{
    struct doppel_dedup_decision decision;
    struct doppel_semantic_link semantic;
    enum doppel_status status = DOPPEL_OK;
    dedup_describe(visit->dedup, number, &decision);
    describe_semantic(visit, number, &semantic, &decision);
    if (dedup_wants_line(visit->dedup, &decision))
        TRY(lines_get(&visit->lines, number, &decision.line_text, &decision.line_size, error));
    if (!visit->visitor(visit->context, &decision))
        status = DOPPEL_E_CANCELLED;
    if (number % LET_GO_RECORDS == 0)
        let_go(visit->dedup);
    if (number % SHOWN_RECORDS == 0) /* to end it is the visitor's */
        dedup_goes_on(visit->dedup, "records visited", decision.number,
                      visit->dedup->count - visit->dedup->first);
done:
    return status;
}

/* A file, and what was decided of its records. */
static enum doppel_status visit_input(struct visit *visit, uint32_t file,
                                      struct doppel_error *error)
{
    const struct dedup *dedup = visit->dedup;
    const struct doppel_corpus_input input = reader_file_input(dedup->reader, file);
    uint32_t end = dedup->first_of_file.items[file + 1];
    enum doppel_status status = DOPPEL_OK;
    if (dedup->options->input && !dedup->options->input(visit->context, &input))
        return DOPPEL_E_CANCELLED;
    for (uint32_t i = dedup->first_of_file.items[file]; i < end && !status; i++)
        status = visit_decision(visit, i, error);
    return status;
}

enum doppel_status dedup_visit(struct dedup *dedup, doppel_dedup_visitor *visitor, void *context,
                               struct doppel_error *error)
{
    struct visit visit = {dedup, visitor, context, {.dedup = dedup}, 0};
    size_t files = reader_file_count(dedup->reader);
    dedup_conclude(dedup);
    enum doppel_status status = dedup_find_semantic(dedup, error);
    for (uint32_t i = 0; i < files && !status; i++)
        status = visit_input(&visit, i, error);
    if (!status)
        dedup_goes_on(dedup, "records visited", dedup->count - dedup->first,
                      dedup->count - dedup->first);
    lines_free(&visit.lines);
    return status;
}
