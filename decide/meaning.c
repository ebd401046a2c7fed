/* A second stage of decisions: what no words tell is searched for by its meaning. */
#include "decide/meaning.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/try.h"
#include "corpus/read/reader.h"
#include "corpus/read/record_text.h"

struct meaning_stage {
    struct doppel_run *run;
    const struct doppel_decide_options *options;
    struct doppel_semantic_results results; /* of the decision that was given last */
    struct parser *parser;                  /* of lines; NULL: texts are pushed */
    struct file_text file;
    uint64_t caught_up; /* texts that were there and got their vectors */
    bool failed;        /* it was said why */
};

struct meaning_stage *meaning_stage_new(struct doppel_run *run,
                                        const struct doppel_decide_options *options)
{
    struct meaning_stage *stage = calloc(1, sizeof *stage);
    if (!stage)
        return NULL;
    *stage = (struct meaning_stage){.run = run, .options = options};
    if (options->records.count)
        stage->parser = parser_new(&options->fields);
    if (stage->parser || !options->records.count)
        return stage;
    meaning_stage_free(stage);
    return NULL;
}

void meaning_stage_free(struct meaning_stage *stage)
{
    if (!stage)
        return;
    doppel_semantic_results_free(&stage->results);
    parser_free(stage->parser);
    file_text_free(&stage->file);
    free(stage);
}

static bool is_new_text(const struct doppel_decided *decided)
{
    return decided->decision == DOPPEL_DECISION_NEW && !decided->replayed && !decided->has_match &&
           (!decided->is_file || decided->kind == DOPPEL_KIND_TEXT);
}

/* The text of a line: its own, or that of the file which it names. @param out NULL: it is gone */
static void text_of_line(struct meaning_stage *stage, const struct doppel_decided *decided,
                         const char **out, size_t *out_size)
{
    struct doppel_corpus_record record;
    *out = NULL;
    parser_line(stage->parser, decided->text, decided->text_size, &record);
    if (record.error.status ||
        record_text(&record, &stage->options->fields, decided->path,
                    stage->options->records.max_line_bytes, &stage->file, out, out_size, NULL))
        *out = NULL;
}

/* Whether it says something new: it came in just now, and is nobody's duplicate. */
static bool is_something_new(const struct doppel_decided *decided)
{
    return !decided->replayed && (decided->decision == DOPPEL_DECISION_NEW ||
                                  decided->decision == DOPPEL_DECISION_REVISION ||
                                  decided->decision == DOPPEL_DECISION_PART);
}

/* The item whose text this is; 0: it has none, or is not to be found by its meaning. */
static uint64_t item_of_text(const struct doppel_decided *decided)
{
    if (decided->is_file && decided->kind != DOPPEL_KIND_TEXT)
        return 0;
    switch (decided->reason) {
    case DOPPEL_BECAUSE_KNOWN:
    case DOPPEL_BECAUSE_MOVED:
        return decided->item;
    case DOPPEL_BECAUSE_IDENTICAL:
    case DOPPEL_BECAUSE_SAME_CONTENT:
        return decided->same_as ? decided->same_as : decided->of;
    default:
        break;
    }
    return decided->replayed || is_something_new(decided) ? decided->item : 0;
}

/* @param out the item that is to get its vectors; 0: none */
static enum doppel_status find_lacking(const struct meaning_stage *stage,
                                       struct doppel_semantic *semantic,
                                       const struct doppel_decided *decided, uint64_t *out,
                                       struct doppel_error *error)
{
    const uint64_t item = stage->options->dry_run ? 0 : item_of_text(decided);
    bool lacks = false;
    enum doppel_status status = DOPPEL_OK;
    if (item)
        TRY(doppel_semantic_lacks(semantic, item, &lacks, error));
    *out = lacks ? item : 0;
done:
    return status;
}

/* @param results NULL: the text is embedded alone. @return DOPPEL_E_NOT_FOUND: nobody has it */
static enum doppel_status search_by_meaning(struct meaning_stage *stage,
                                            const struct doppel_decide_meaning *meaning,
                                            const struct doppel_decided *decided,
                                            struct doppel_semantic_results *results,
                                            struct doppel_error *error)
{
    const char *text = meaning->text ? meaning->text : decided->text;
    size_t size = meaning->text ? meaning->text_size : decided->text_size;
    if (!meaning->text && decided->is_file)
        return decided->path
                   ? doppel_semantic_search_file(meaning->semantic, decided->path, results, error)
                   : DOPPEL_E_NOT_FOUND;
    if (!meaning->text && text && stage->parser)
        text_of_line(stage, decided, &text, &size);
    if (!text)
        return DOPPEL_E_NOT_FOUND;
    return doppel_semantic_search(meaning->semantic, text, size, results, error);
}

static enum doppel_status note_meaning_failure(struct meaning_stage *stage,
                                               enum doppel_status status,
                                               const struct doppel_error *why,
                                               struct doppel_error *error)
{
    if (status == DOPPEL_E_CANCELLED || status == DOPPEL_E_MEMORY)
        return doppel_fail(error, status, "%s", why->message);
    stage->failed = true;
    doppel_run_notice(
        stage->run, "semantic: %s; what comes from here on is decided by its words alone%s",
        why->message,
        stage->options->dry_run ? "" : ", and gets vectors when it is ingested again");
    return DOPPEL_OK;
}

/* @param lacking as of find_lacking */
static enum doppel_status decide_by_meaning(struct meaning_stage *stage,
                                            const struct doppel_decide_meaning *meaning,
                                            struct doppel_decided *decided, uint64_t lacking,
                                            struct doppel_error *error)
{
    const bool is_new = is_new_text(decided);
    uint64_t chunks = 0;
    enum doppel_status status;
    TRY(search_by_meaning(stage, meaning, decided, is_new ? &stage->results : NULL, error));
    if (is_new && stage->results.count)
        decided->semantic = &stage->results.links[0];
    if (lacking)
        TRY(doppel_semantic_add(meaning->semantic, lacking, &chunks, error));
    stage->caught_up += chunks && !is_something_new(decided);
done:
    return status;
}

enum doppel_status meaning_stage_search(struct meaning_stage *stage,
                                        const struct doppel_decide_meaning *meaning,
                                        struct doppel_decided *decided, struct doppel_error *error)
{
    uint64_t lacking = 0;
    enum doppel_status status;
    TRY(find_lacking(stage, meaning->semantic, decided, &lacking, error));
    if (lacking || is_new_text(decided))
        status = decide_by_meaning(stage, meaning, decided, lacking, error);
    if (status == DOPPEL_E_NOT_FOUND)
        status = DOPPEL_OK;
done:
    return status;
}

enum doppel_status meaning_stage_run(struct meaning_stage *stage, struct doppel_decided *decided,
                                     struct doppel_error *error)
{
    struct doppel_error why = {0};
    if (!stage || !stage->options->semantic || stage->failed)
        return DOPPEL_OK;
    const struct doppel_decide_meaning meaning = {.semantic = stage->options->semantic};
    enum doppel_status status = meaning_stage_search(stage, &meaning, decided, &why);
    return status ? note_meaning_failure(stage, status, &why, error) : DOPPEL_OK;
}

void meaning_stage_end(struct meaning_stage *stage)
{
    if (!stage || !stage->options->semantic || !stage->caught_up)
        return;
    doppel_run_notice(stage->run, "semantic: %" PRIu64 " known text%s got %s vectors",
                      stage->caught_up, stage->caught_up == 1 ? "" : "s",
                      stage->caught_up == 1 ? "its" : "their");
    stage->caught_up = 0;
}
