/* A second stage of decisions: what no words tell is searched for by its meaning. */
#include "decide/meaning.h"

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
    bool failed; /* it was said why */
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

static enum doppel_status search_by_meaning(struct meaning_stage *stage,
                                            const struct doppel_decided *decided,
                                            struct doppel_error *error)
{
    struct doppel_semantic *semantic = stage->options->semantic;
    const char *text = decided->text;
    size_t size = decided->text_size;
    doppel_semantic_results_free(&stage->results);
    if (decided->is_file)
        return doppel_semantic_search_file(semantic, decided->path, &stage->results, error);
    if (text && stage->parser)
        text_of_line(stage, decided, &text, &size);
    if (!text)
        return DOPPEL_E_NOT_FOUND;
    return doppel_semantic_search(semantic, text, size, &stage->results, error);
}

static enum doppel_status note_meaning_failure(struct meaning_stage *stage,
                                               enum doppel_status status,
                                               const struct doppel_error *why,
                                               struct doppel_error *error)
{
    if (status == DOPPEL_E_CANCELLED || status == DOPPEL_E_MEMORY)
        return doppel_fail(error, status, "%s", why->message);
    stage->failed = true;
    doppel_run_notice(stage->run,
                      "semantic: %s; what comes from here on is decided by its words alone",
                      why->message);
    return DOPPEL_OK;
}

enum doppel_status meaning_stage_run(struct meaning_stage *stage, struct doppel_decided *decided,
                                     struct doppel_error *error)
{
    struct doppel_error why = {0};
    enum doppel_status status;
    if (!stage || stage->failed || !is_new_text(decided))
        return DOPPEL_OK;
    status = search_by_meaning(stage, decided, &why);
    if (status == DOPPEL_E_NOT_FOUND)
        return DOPPEL_OK;
    if (!status && stage->results.count)
        decided->semantic = &stage->results.links[0];
    if (!status && decided->item && !stage->options->dry_run)
        status = doppel_semantic_add(stage->options->semantic, decided->item, &why);
    return status ? note_meaning_failure(stage, status, &why, error) : DOPPEL_OK;
}
