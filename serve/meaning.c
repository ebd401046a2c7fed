/* Searching texts by their meaning: opening the library's vectors and their model, or the embedding
 * service, and searching for inputs. */
#include "serve/meaning.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <doppel/embedder.h>
#include <doppel/search_semantic.h>

#include "core/files/read_at.h"
#include "core/try.h"
#include "serve/answers/answers.h"
#include "serve/input_record.h"

enum { MEANING_BYTES = 1 << 20 }; /* of a file, so much is compared */

bool read_limit_over_zero(struct exchange *exchange, const char *name, double *out)
{
    if (!read_number(exchange, name, 1, out))
        return false;
    if (*out > 0 || !exchange_argument(exchange, name))
        return true;
    exchange_problem(exchange, HTTP_BAD_REQUEST, "'%s' is over 0, and 1 at most", name);
    return false;
}

bool read_wanted_meaning(struct exchange *exchange, struct wanted_meaning *out)
{
    struct wanted_meaning wanted = {.wanted = exchange_wants(exchange, "semantic")};
    if (!read_limit_over_zero(exchange, "max_fp_rate", &wanted.max_fp_rate) ||
        !read_limit_over_zero(exchange, "min_cosine", &wanted.min_cosine))
        return false;
    if (!wanted.wanted && wanted.min_cosine > 0) {
        exchange_problem(exchange, HTTP_BAD_REQUEST, "'min_cosine' goes with 'semantic=1'");
        return false;
    }
    *out = wanted;
    return true;
}

/* ---- the embedder ---- */

static enum doppel_status choose_served_model(const struct service *service,
                                              const struct doppel_embedder_identity *kept,
                                              char *out, struct doppel_error *error)
{
    const char *folder = service->options->embed.folder;
    size_t count = 0;
    enum doppel_status status = DOPPEL_E_NOT_FOUND;
    if (folder)
        status = doppel_embedder_choose(folder, kept, out, &count, error);
    if (status == DOPPEL_E_NOT_FOUND && kept)
        return doppel_fail(error, status,
                           "the vectors of the library are of the model '%s', which is not among "
                           "those of the service: 'doppel model add' adds it",
                           kept->name);
    if (status == DOPPEL_E_NOT_FOUND)
        return doppel_fail(error, status,
                           "the service has no embedding model: 'doppel model add' adds one");
    if (status == DOPPEL_E_ARGUMENT)
        return doppel_fail(error, status,
                           "the service has %zu embedding models, and the library no vectors yet: "
                           "'doppel serve --model NAME' says by which",
                           count);
    return status;
}

/* @param kept of the vectors that are there; NULL: there are none */
static enum doppel_status open_served_model(const struct service *service,
                                            const struct doppel_embedder_identity *kept,
                                            struct doppel_embedder **out,
                                            struct doppel_error *error)
{
    struct doppel_embedder_options options = service->options->embed;
    char name[DOPPEL_MODEL_MAX_NAME + 1];
    enum doppel_status status = DOPPEL_OK;
    if (!options.endpoint && !options.name) {
        TRY(choose_served_model(service, kept, name, error));
        options.name = name;
    }
    TRY(doppel_embedder_open(&options, out, error));
done:
    return status;
}

/* ---- opening ---- */

void meaning_close(struct open_meaning *meaning)
{
    doppel_semantic_free(meaning->semantic);
    doppel_embedder_free(meaning->embedder);
    *meaning = (struct open_meaning){0};
}

static enum doppel_status open_served_vectors(const struct service *service,
                                              struct doppel_library *library, bool write,
                                              struct open_meaning *meaning,
                                              struct doppel_error *error)
{
    struct doppel_semantic_options options = doppel_semantic_options_default();
    options.embedder = meaning->embedder;
    options.directory = service->options->library;
    options.text = service->options->read.text;
    options.write = write;
    options.durable = service->options->durable;
    enum doppel_status status =
        doppel_semantic_new(service->run, library, &options, &meaning->semantic, error);
    return status == DOPPEL_E_NOT_FOUND
               ? doppel_fail(error, status,
                             "no text of this library has a vector: those have that 'doppel ingest "
                             "--semantic' adds, or '/v1/ingest?semantic=1'")
               : status;
}

/* A library without vectors is opened only to write. */
static enum doppel_status open_meaning(const struct service *service,
                                       struct doppel_library *library, bool write,
                                       struct open_meaning *meaning, struct doppel_error *error)
{
    struct doppel_embedder_identity kept;
    enum doppel_status status =
        doppel_semantic_model(library, service->options->library, &kept, error);
    const bool none = status == DOPPEL_E_NOT_FOUND;
    if (!none)
        TRY(status);
    if (none && !write)
        TRY(open_served_vectors(service, library, false, meaning, error));
    TRY(open_served_model(service, none ? NULL : &kept, &meaning->embedder, error));
    TRY(open_served_vectors(service, library, write, meaning, error));
done:
    return status;
}

static void set_wanted_thresholds(const struct wanted_meaning *wanted, struct open_meaning *meaning)
{
    doppel_semantic_set_thresholds(meaning->semantic, wanted->max_fp_rate,
                                   (float)wanted->min_cosine);
}

enum doppel_status meaning_want(const struct service *service, struct doppel_library *library,
                                const struct wanted_meaning *wanted, bool write,
                                struct open_meaning *meaning, struct doppel_error *error)
{
    enum doppel_status status = DOPPEL_OK;
    if (meaning->problem.status)
        meaning_close(meaning);
    if (!meaning->semantic)
        status = open_meaning(service, library, write, meaning, error);
    if (status)
        meaning_close(meaning);
    else
        set_wanted_thresholds(wanted, meaning);
    return status;
}

enum doppel_status meaning_want_vectors(const struct service *service,
                                        struct doppel_library *library,
                                        const struct wanted_meaning *wanted,
                                        struct open_meaning *meaning, struct doppel_error *error)
{
    enum doppel_status status = open_served_vectors(service, library, false, meaning, error);
    if (!status)
        set_wanted_thresholds(wanted, meaning);
    return status;
}

void exchange_fail_meaning(struct exchange *exchange, const struct doppel_error *error)
{
    char detail[SENTENCE_BYTES];
    exchange_sentence(exchange, error->message, detail);
    if (error->status == DOPPEL_E_NOT_FOUND || error->status == DOPPEL_E_ARGUMENT)
        exchange_problem(exchange, HTTP_UNPROCESSABLE, "%s", detail);
    else
        exchange_fail(exchange, error);
}

/* ---- an input ---- */

/* The text of an input that has bytes. @param out given (free) */
static enum doppel_status read_input_text(const struct service *service,
                                          const struct request_input *input, char **out,
                                          size_t *out_size, struct doppel_error *error)
{
    char *text = malloc(MEANING_BYTES);
    const int fd = request_input_open(service, input);
    enum doppel_status status = DOPPEL_OK;
    if (!text)
        TRY(doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a text"));
    const ssize_t size = fd < 0 ? -1 : read_at(fd, text, MEANING_BYTES, 0);
    if (size < 0)
        TRY(doppel_fail(error, DOPPEL_E_IO, "the input cannot be read again"));
    *out = text;
    *out_size = (size_t)size;
    text = NULL;
done:
    if (fd >= 0)
        close(fd);
    free(text);
    return status;
}

/* Messages of an embedding service, and its address, go to the log of the service, not to clients.
 */
static enum doppel_status note_meaning_problem(const struct service *service,
                                               struct open_meaning *meaning,
                                               const struct doppel_error *why)
{
    const bool asked = service->options->embed.endpoint;
    doppel_run_notice(service->run, "semantic: %s", why->message);
    return meaning->problem.status =
               doppel_fail(&meaning->problem, asked ? DOPPEL_E_BUSY : why->status, "%s",
                           asked ? "the text cannot be embedded now; the log of the service has why"
                                 : why->message);
}

enum doppel_status input_meaning(const struct service *service, struct open_meaning *meaning,
                                 const struct request_input *input,
                                 struct doppel_semantic_results *results,
                                 struct doppel_error *error)
{
    struct doppel_error why;
    char *text = NULL;
    size_t size = 0;
    enum doppel_status status = meaning->problem.status;
    if (!status)
        TRY(read_input_text(service, input, &text, &size, error));
    if (!status && doppel_semantic_search(meaning->semantic, text, size, results, &why))
        status = note_meaning_problem(service, meaning, &why);
    if (status)
        TRY(doppel_fail(error, status, "%s", meaning->problem.message));
done:
    free(text);
    return status;
}

/* ---- decisions ---- */

static bool is_text_to_search(const struct doppel_decided *decided)
{
    return decided->kind == DOPPEL_KIND_TEXT && decided->decision == DOPPEL_DECISION_NEW &&
           !decided->replayed;
}

static enum doppel_status search_decided(const struct service *service,
                                         struct open_meaning *meaning,
                                         struct doppel_decider *decider,
                                         const struct request_input *input,
                                         struct doppel_decided *decided, struct doppel_error *error)
{
    char *text = NULL;
    size_t size = 0;
    enum doppel_status status = DOPPEL_OK;
    if (input && input->form == INPUT_FILE && decided->kind == DOPPEL_KIND_TEXT)
        TRY(read_input_text(service, input, &text, &size, error));
    const struct doppel_decide_meaning by = {meaning->semantic, text, size};
    TRY(doppel_decider_search_meaning(decider, &by, decided, error));
done:
    free(text);
    return status;
}

void find_meaning_of(const struct service *service, struct open_meaning *meaning,
                     struct doppel_decider *decider, const struct request_input *input,
                     struct doppel_decided *decided)
{
    struct doppel_error why;
    if (!meaning->problem.status && search_decided(service, meaning, decider, input, decided, &why))
        note_meaning_problem(service, meaning, &why);
    if (meaning->problem.status && is_text_to_search(decided) && !decided->semantic)
        decided->semantic_problem = meaning->problem.message;
}
