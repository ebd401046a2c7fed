/* What embeds, and the vectors of a library. */
#include "tools/verbs/semantic/library.h"

#include <stdlib.h>

#include "core/try.h"
#include "tools/args/engine_options.h"
#include "tools/args/paths.h"
#include "tools/output/messages.h"
#include "tools/output/rows/semantic_rows.h"

static enum doppel_status notify_of_state(struct report *report, struct doppel_semantic *semantic,
                                          const struct doppel_semantic_options *options,
                                          struct doppel_error *error)
{
    struct doppel_semantic_state state;
    enum doppel_status status = doppel_semantic_state(semantic, &state, error);
    if (!status && state.min_cosine > 1)
        report_warning(report,
                       "semantic: the library has vectors of %llu passages, too few to tell what a "
                       "rate of %g is, which takes %llu: nothing is found by its meaning until "
                       "then; give %sa higher --max-fp-rate",
                       (unsigned long long)state.vectors, options->max_fp_rate,
                       (unsigned long long)state.wanted, semantic_cosine_advice(options->scores));

    return status;
}

/* By default that of the vectors which the library has. Where these are lost, nothing is opened;
 * one that somebody is making has none yet. */
static enum doppel_status open_embedder(const struct settings *settings, struct report *report,
                                        struct doppel_library *library, struct embedder_of_run *out,
                                        struct doppel_error *error)
{
    struct doppel_library_vectors_count known = {0};
    struct doppel_embedder_identity kept;
    char *directory = library ? library_directory(settings) : NULL;
    enum doppel_status status = DOPPEL_E_NOT_FOUND;
    if (library)
        TRY(doppel_library_count_vectors(library, &known, error));
    if (directory)
        status = doppel_semantic_model(library, directory, &kept, error);
    if (status != DOPPEL_E_CORRUPT || !known.texts)
        TRY(embedder_open_for(settings, report, status ? NULL : &kept, out, error));
done:
    free(directory);
    return status;
}

struct doppel_semantic_options semantic_options_from(const struct settings *settings)
{
    struct doppel_semantic_options options = doppel_semantic_options_default();
    options.durable = settings->durable;
    options.text = corpus_text_from(settings);
    options.min_cosine = semantic_cosine_from(settings);
    options.scores = settings->scores;
    if (settings->max_false_positives > 0)
        options.max_fp_rate = settings->max_false_positives;
    return options;
}

/* By the embedder that is open, if one is. */
static enum doppel_status open_semantic(const struct settings *settings, struct report *report,
                                        struct doppel_library *library,
                                        struct semantic_library *out, struct doppel_error *error)
{
    struct doppel_semantic_options options = semantic_options_from(settings);
    char *directory = library ? library_directory(settings) : NULL;
    enum doppel_status status;
    options.embedder = out->source.embedder;
    options.directory = directory;
    options.write = out->write;
    status = doppel_semantic_new(report->run, library, &options, &out->semantic, error);
    if (status == DOPPEL_E_NOT_FOUND)
        TRY(doppel_fail(error, status,
                        "%s: no text of this library has a vector: those have that 'doppel ingest "
                        "--semantic' adds",
                        directory));
    TRY(status);
    if (library)
        TRY(notify_of_state(report, out->semantic, &options, error));
done:
    free(directory);
    return status;
}

enum doppel_status semantic_library_open(const struct settings *settings, struct report *report,
                                         struct doppel_library *library, bool write,
                                         struct semantic_library *out, struct doppel_error *error)
{
    enum doppel_status status = DOPPEL_OK;
    if (!settings->semantic)
        return DOPPEL_OK;
    TRY(open_embedder(settings, report, library, &out->source, error));
    out->write = write;
    TRY(open_semantic(settings, report, library, out, error));
done:
    return status;
}

enum doppel_status semantic_vectors_open(const struct settings *settings, struct report *report,
                                         struct doppel_library *library,
                                         struct semantic_library *out, struct doppel_error *error)
{
    return open_semantic(settings, report, library, out, error);
}

void semantic_library_close(struct semantic_library *semantic)
{
    doppel_semantic_free(semantic->semantic);
    semantic->semantic = NULL;
    embedder_close(&semantic->source);
}
