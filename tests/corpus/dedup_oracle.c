/* Corpora for the tests of deduplication, and an oracle that compares every record with all before
 * it. */
#include "tests/corpus/dedup_oracle.h"

#include <doppel/index.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- making ---- */

static size_t below(uint64_t *state, size_t limit)
{
    return (size_t)(random_next(state) % limit);
}

static void add_words(struct bytes *text, uint64_t *state, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        char word[32];
        snprintf(word, sizeof word, "w%zu ", below(state, 5000));
        bytes_add_text(text, word);
    }
}

/* A text with some words replaced, its end cut, or something added. */
static void add_variant(struct bytes *text, const char *of, uint64_t *state)
{
    size_t length = strlen(of), kind = below(state, 6);
    if (kind == 0) { /* the same after normalising */
        bytes_add_text(text, "  ");
        bytes_add(text, of, length);
        bytes_add_text(text, "!");
        return;
    }
    if (kind == 1) { /* a part */
        bytes_add(text, of, length / (2 + below(state, 3)));
        return;
    }
    if (kind == 2) { /* more */
        add_words(text, state, 3 + below(state, 60));
        bytes_add(text, of, length);
        return;
    }
    size_t every = 8 + below(state, 120);
    for (size_t i = 0; i < length; i++) {
        char c = of[i];
        if (c == ' ' && below(state, every) == 0)
            add_words(text, state, 1);
        else
            bytes_add(text, &c, 1);
    }
}

static char *taken(struct bytes *bytes)
{
    bytes_add(bytes, "", 1);
    return bytes->data;
}

static char *text_of(const struct corpus *corpus, size_t number, char *const *templates,
                     const struct corpus_plan *plan, uint64_t *state)
{
    struct bytes text = {0};
    if (number && below(state, 100) < 55) {
        size_t earlier = below(state, number);
        if (corpus->records[earlier].text)
            add_variant(&text, corpus->records[earlier].text, state);
    } else if (plan->templates && below(state, 100) < 60) {
        bytes_add_text(&text, templates[below(state, plan->templates)]);
        add_words(&text, state, below(state, 60));
    }
    if (!text.size || below(state, 20) == 0)
        add_words(&text, state, below(state, plan->short_texts ? 24 : 300));
    return taken(&text);
}

static char *format_text(const char *format, ...)
{
    char text[64];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return strdup(text);
}

struct corpus corpus_make(const struct corpus_plan *plan)
{
    struct corpus corpus = {calloc(plan->count, sizeof *corpus.records), plan->count};
    char **templates = calloc(plan->templates + 1, sizeof *templates);
    uint64_t state = plan->seed;
    for (size_t i = 0; i < plan->templates; i++) {
        struct bytes text = {0};
        add_words(&text, &state, 60 + below(&state, 60));
        templates[i] = taken(&text);
    }
    for (size_t i = 0; i < plan->count; i++) {
        struct made *made = &corpus.records[i];
        made->text = text_of(&corpus, i, templates, plan, &state);
        size_t id = plan->same_ids && i && below(&state, 8) == 0 ? below(&state, i) : i;
        if (below(&state, 30))
            made->id = format_text("id-%zu", id);
        if (below(&state, 2))
            made->source = format_text("source-%zu", below(&state, 3));
        if (below(&state, 2))
            made->date = format_text("2024-01-%02zu", 1 + below(&state, 28));
        made->broken = below(&state, 40) == 0;
    }
    for (size_t i = 0; i < plan->templates; i++)
        free(templates[i]);
    free(templates);
    return corpus;
}

void corpus_free(struct corpus *corpus)
{
    for (size_t i = 0; i < corpus->count; i++) {
        free(corpus->records[i].id);
        free(corpus->records[i].text);
        free(corpus->records[i].source);
        free(corpus->records[i].date);
    }
    free(corpus->records);
}

static void add_field(struct bytes *out, const char *name, const char *value)
{
    if (!value)
        return;
    bytes_add_text(out, ",\"");
    bytes_add_text(out, name);
    bytes_add_text(out, "\":\"");
    bytes_add_text(out, value);
    bytes_add_text(out, "\"");
}

void corpus_write(const struct corpus *corpus, struct bytes *out)
{
    for (size_t i = 0; i < corpus->count; i++) {
        const struct made *made = &corpus->records[i];
        bytes_add_text(out, "{\"number\":0");
        add_field(out, "id", made->id);
        add_field(out, "source", made->source);
        add_field(out, "date", made->date);
        add_field(out, "text", made->text);
        bytes_add_text(out, made->broken ? "\n" : "}\n");
    }
}

/* ---- deciding ---- */

struct said {
    enum doppel_decision decision;
    const char *reason;
    size_t of; /* SIZE_MAX: none */
    bool replaces, has_match;
    struct doppel_match match;
};

struct known {
    bool readable, too_short, leads, replaced, remembered;
    struct doppel_digest content;
    uint16_t lanes[DOPPEL_TEXT_MAX_LANES];
    uint32_t *shingles;
    size_t shingle_count;
    size_t leader;     /* whom it follows, or itself */
    struct said first; /* what was decided of it when it came in */
};

struct oracle {
    const struct corpus *corpus;
    const struct doppel_dedup_options *options;
    bool replays; /* what comes again, id and text, is answered as before */
    struct known *known;
    struct bytes out;
};

static void add_line(struct bytes *out, size_t number, const struct said *said, size_t of_line,
                     const char *replaces)
{
    char line[512];
    const struct doppel_match *match = &said->match;
    snprintf(line, sizeof line, "%zu %s", number + 1, doppel_decision_name(said->decision));
    bytes_add_text(out, line);
    if (said->reason && said->decision != DOPPEL_DECISION_UNREADABLE) {
        snprintf(line, sizeof line, " %s of %zu", said->reason, of_line);
        bytes_add_text(out, line);
    }
    if (replaces) {
        snprintf(line, sizeof line, " replaces %s", replaces);
        bytes_add_text(out, line);
    }
    if (said->has_match) {
        snprintf(line, sizeof line, " %s %s %.6f %u/%u %.6f %.6f",
                 doppel_relation_name(match->relation), doppel_verified_name(match->verified),
                 match->similarity, match->distance, match->bits, match->query_coverage,
                 match->item_coverage);
        bytes_add_text(out, line);
    }
    bytes_add_text(out, "\n");
}

static bool same_content(const struct known *a, const struct known *b)
{
    return memcmp(&a->content, &b->content, sizeof a->content) == 0;
}

static bool shares_band(const struct oracle *oracle, const struct known *a, const struct known *b)
{
    uint32_t bands = oracle->options->bands, rows = oracle->options->rows;
    for (uint32_t band = 0; band < bands; band++)
        if (memcmp(a->lanes + band * rows, b->lanes + band * rows, rows * sizeof *a->lanes) == 0)
            return true;
    return false;
}

static struct doppel_text_evidence evidence_of(const struct oracle *oracle, const struct known *k)
{
    return (struct doppel_text_evidence){.content = k->content,
                                         .too_short = k->too_short,
                                         .lanes = k->lanes,
                                         .lane_count = oracle->options->text.lanes,
                                         .shingles = k->shingles,
                                         .shingle_count = k->shingle_count};
}

static bool match(const struct oracle *oracle, size_t record, size_t item, struct doppel_match *out)
{
    struct doppel_text_evidence a = evidence_of(oracle, &oracle->known[record]);
    struct doppel_text_evidence b = evidence_of(oracle, &oracle->known[item]);
    return doppel_match_texts(&a, &b, &oracle->options->limits, out);
}

/* The leader in force of the texts with the same content before. */
static size_t find_same(const struct oracle *oracle, size_t number)
{
    const struct known *known = oracle->known;
    for (size_t i = 0; i < number; i++)
        if (known[i].remembered && same_content(&known[i], &known[number]) &&
            !known[known[i].leader].replaced)
            return known[i].leader;
    return SIZE_MAX;
}

static void say_match(const struct oracle *oracle, size_t number, size_t leader, struct said *said)
{
    const struct made *record = &oracle->corpus->records[number];
    const struct made *item = &oracle->corpus->records[leader];
    struct doppel_origin a = {record->source, record->date}, b = {item->source, item->date};
    match(oracle, number, leader, &said->match);
    said->has_match = true;
    said->decision = doppel_decide(&said->match, &a, &b);
    said->of = leader;
    if (said->match.relation != DOPPEL_RELATION_SAME)
        said->reason = said->decision == DOPPEL_DECISION_PART
                           ? "part"
                           : doppel_relation_name(said->match.relation);
    else
        said->reason = said->decision == DOPPEL_DECISION_REVISION ? "newer" : "near";
    said->replaces = strcmp(said->reason, "newer") == 0;
}

static void decide_by_leaders(struct oracle *oracle, size_t number, struct said *said)
{
    struct known *record = &oracle->known[number];
    size_t held = SIZE_MAX;
    for (size_t i = 0; i < number; i++) {
        struct doppel_match found;
        const struct known *item = &oracle->known[i];
        if (!item->leads || item->replaced || !shares_band(oracle, record, item) ||
            !match(oracle, number, i, &found))
            continue;
        if (found.relation == DOPPEL_RELATION_SAME) {
            say_match(oracle, number, i, said);
            record->leader = i;
            return;
        }
        if (held == SIZE_MAX)
            held = i;
    }
    record->leads = true;
    said->decision = DOPPEL_DECISION_NEW;
    if (held != SIZE_MAX)
        say_match(oracle, number, held, said);
}

static void decide_by_text(struct oracle *oracle, size_t number, struct said *said)
{
    struct known *record = &oracle->known[number];
    size_t same = find_same(oracle, number);
    if (same != SIZE_MAX) {
        *said = (struct said){DOPPEL_DECISION_DUPLICATE, "same-content", same, false, true, {0}};
        match(oracle, number, number, &said->match);
        record->leader = same;
        return;
    }
    if (record->too_short)
        said->decision = DOPPEL_DECISION_TOO_SHORT;
    else
        decide_by_leaders(oracle, number, said);
}

static size_t find_id(const struct oracle *oracle, size_t number)
{
    const struct made *records = oracle->corpus->records;
    for (size_t i = number; records[number].id && i-- > 0;)
        if (oracle->known[i].remembered && records[i].id &&
            strcmp(records[i].id, records[number].id) == 0)
            return i;
    return SIZE_MAX;
}

static void decide(struct oracle *oracle, size_t number, struct said *said)
{
    struct known *record = &oracle->known[number];
    if (!record->readable) {
        said->decision = DOPPEL_DECISION_UNREADABLE;
        return;
    }
    size_t former = find_id(oracle, number);
    if (former == SIZE_MAX) {
        decide_by_text(oracle, number, said);
        record->remembered = true;
        return;
    }
    if (oracle->options->on_same_id != DOPPEL_SAME_ID_UPDATE) {
        bool skip = oracle->options->on_same_id == DOPPEL_SAME_ID_SKIP;
        said->decision = skip ? DOPPEL_DECISION_DUPLICATE : DOPPEL_DECISION_CONFLICT;
        said->reason = "same-id";
        said->of = former;
        return;
    }
    if (oracle->replays && same_content(record, &oracle->known[former])) {
        *said = oracle->known[former].first;
        return;
    }
    if (same_content(record, &oracle->known[former])) {
        size_t leader = oracle->known[former].leader;
        *said = (struct said){DOPPEL_DECISION_DUPLICATE, "same-content", leader, false, true, {0}};
        match(oracle, number, number, &said->match);
        return;
    }
    oracle->known[former].replaced = true;
    decide_by_text(oracle, number, said);
    record->remembered = true;
    *said = (struct said){DOPPEL_DECISION_REVISION, "same-id", former, true, true, {0}};
    match(oracle, number, former, &said->match);
}

static void learn(struct oracle *oracle)
{
    struct doppel_text *text;
    struct doppel_text_result result;
    doppel_text_new(&oracle->options->text, &text, NULL);
    for (size_t i = 0; i < oracle->corpus->count; i++) {
        const struct made *made = &oracle->corpus->records[i];
        struct known *known = &oracle->known[i];
        doppel_text_read(text, made->text, strlen(made->text),
                         DOPPEL_TEXT_DIGEST | DOPPEL_TEXT_MINHASH | DOPPEL_TEXT_SHINGLES, &result,
                         NULL);
        known->readable = !made->broken;
        known->too_short = result.too_short;
        known->content = result.digest;
        memcpy(known->lanes, result.lanes, sizeof known->lanes);
        known->shingle_count = result.shingle_count;
        known->shingles = calloc(result.shingle_count + 1, sizeof *known->shingles);
        memcpy(known->shingles, result.shingles, result.shingle_count * sizeof *known->shingles);
        known->leader = i;
    }
    doppel_text_free(text);
}

static char *decide_all(const struct corpus *corpus, const struct doppel_dedup_options *options,
                        bool replays)
{
    struct oracle oracle = {.corpus = corpus, .options = options, .replays = replays};
    oracle.known = calloc(corpus->count, sizeof *oracle.known);
    learn(&oracle);
    for (size_t i = 0; i < corpus->count; i++) {
        struct said said = {.of = SIZE_MAX};
        decide(&oracle, i, &said);
        oracle.known[i].first = said;
        const char *of = said.of == SIZE_MAX ? NULL : corpus->records[said.of].id;
        add_line(&oracle.out, i, &said, said.of + 1, said.replaces ? of : NULL);
    }
    for (size_t i = 0; i < corpus->count; i++)
        free(oracle.known[i].shingles);
    free(oracle.known);
    return taken(&oracle.out);
}

char *oracle_decide(const struct corpus *corpus, const struct doppel_dedup_options *options)
{
    return decide_all(corpus, options, false);
}

char *oracle_ingest(const struct corpus *corpus, const struct doppel_dedup_options *options)
{
    return decide_all(corpus, options, true);
}

struct telling {
    struct bytes out;
    size_t before;
};

void decision_line(struct bytes *out, const struct doppel_dedup_decision *decision, size_t number,
                   size_t of)
{
    struct said said = {.decision = decision->decision,
                        .reason = decision->reason,
                        .has_match = decision->has_match,
                        .match = decision->match};
    add_line(out, number, &said, of, decision->replaces);
}

static bool take_decision(void *context, const struct doppel_dedup_decision *decision)
{
    struct telling *telling = context;
    decision_line(&telling->out, decision, telling->before + (size_t)decision->number,
                  (size_t)decision->of_line);
    return true;
}

char *dedup_decide_after(const struct doppel_dedup_options *options, size_t before)
{
    struct telling telling = {.before = before};
    struct doppel_error error;
    if (doppel_dedup(options, take_decision, &telling, &error))
        bytes_add_text(&telling.out, error.message);
    return taken(&telling.out);
}

char *dedup_decide(const struct doppel_dedup_options *options)
{
    return dedup_decide_after(options, 0);
}

struct doppel_ingest_options ingest_options(const struct doppel_dedup_options *options)
{
    return (struct doppel_ingest_options){
        .files = options->files,
        .fields = options->fields,
        .text = options->text,
        .limits = options->limits,
        .bands = options->bands,
        .rows = options->rows,
        .threads = options->threads,
        .keep_shingles = options->keep_shingles,
        .on_same_id = options->on_same_id,
    };
}

char *ingest_decide(struct doppel_library *library, const struct doppel_dedup_options *options)
{
    const struct doppel_ingest_options same = ingest_options(options);
    struct telling telling = {.before = 0};
    struct doppel_error error;
    if (doppel_ingest(library, &same, take_decision, &telling, &error))
        bytes_add_text(&telling.out, error.message);
    return taken(&telling.out);
}

struct doppel_dedup_options dedup_options(const char *const *paths, size_t count)
{
    struct doppel_dedup_options options = doppel_dedup_options_default();
    options.files.paths = paths;
    options.files.count = count;
    options.threads = 1;
    doppel_index_bands_choose(options.text.lanes, options.limits.min_similarity,
                              DOPPEL_INDEX_BANDS_USUAL, &options.bands, &options.rows, NULL);
    return options;
}

void assert_same_lines(const char *got, const char *wanted)
{
    size_t line = 1;
    while (*got && *got == *wanted) {
        size_t size = strcspn(got, "\n");
        if (strncmp(got, wanted, size + 1) != 0)
            break;
        got += size + 1;
        wanted += size + 1;
        line++;
    }
    if (*got || *wanted)
        fail_msg("line %zu\ngot    %.*s\nwanted %.*s", line, (int)strcspn(got, "\n"), got,
                 (int)strcspn(wanted, "\n"), wanted);
}
