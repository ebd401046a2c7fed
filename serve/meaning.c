/* Texts by their meaning: the vectors that the library has, by the model that they are of. */
#include "serve/meaning.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <doppel/embed.h>
#include <doppel/embedder.h>

#include "core/try.h"
#include "serve/input_record.h"
#include "serve/service.h"

enum { MEANING_BYTES = 1 << 20 }; /* so much of a text counts */

/* ---- the model ---- */

struct wanted_model {
    const struct doppel_embedder_identity *kept;
    char name[DOPPEL_MODEL_MAX_NAME + 1]; /* "": it was not found yet */
};

static bool is_model_of_vectors(void *context, const struct doppel_model_info *info,
                                const char *problem)
{
    struct wanted_model *wanted = context;
    const bool found = !problem && strcmp(info->revision, wanted->kept->revision) == 0;
    if (found)
        memcpy(wanted->name, info->name, sizeof wanted->name);
    return !found;
}

static enum doppel_status open_model_of_vectors(const struct service *service,
                                                const struct doppel_embedder_identity *kept,
                                                struct doppel_embedder **out,
                                                struct doppel_error *error)
{
    struct doppel_embedder_options options = doppel_embedder_options_default();
    struct wanted_model wanted = {.kept = kept};
    enum doppel_status status = DOPPEL_OK;
    options.folder = service->options->models;
    options.name = wanted.name;
    if (options.folder)
        status = doppel_models_list(options.folder, is_model_of_vectors, &wanted, error);
    if (status && !*wanted.name) /* to have found it ends the list */
        TRY(status);
    if (!*wanted.name)
        TRY(doppel_fail(error, DOPPEL_E_NOT_FOUND,
                        "the vectors of the library are of the model '%s', which is not among "
                        "those of the service: 'doppel model add' adds it",
                        kept->name));
    TRY(doppel_embedder_open(&options, out, error));
done:
    return status;
}

/* ---- a reader's ---- */

void reader_meaning_close(struct reader_meaning *meaning)
{
    doppel_semantic_free(meaning->semantic);
    doppel_embedder_free(meaning->embedder);
    *meaning = (struct reader_meaning){0};
}

/* What is open is of a library without vectors, or of vectors as they are by now. */
static enum doppel_status open_meaning(const struct service *service,
                                       struct doppel_library *library,
                                       struct reader_meaning *meaning, struct doppel_error *error)
{
    struct doppel_semantic_options options = doppel_semantic_options_default();
    struct doppel_embedder_identity kept;
    enum doppel_status status =
        doppel_semantic_model(library, service->options->library, &kept, error);
    if (status == DOPPEL_E_NOT_FOUND)
        TRY(doppel_fail(error, status,
                        "no text of this library has a vector: those have that 'doppel ingest "
                        "--semantic' adds"));
    TRY(status);
    TRY(open_model_of_vectors(service, &kept, &meaning->embedder, error));
    options.embedder = meaning->embedder;
    options.directory = service->options->library;
    options.text = service->options->read.text;
    options.min_cosine = (float)meaning->min_cosine;
    if (meaning->max_fp_rate > 0)
        options.max_fp_rate = meaning->max_fp_rate;
    TRY(doppel_semantic_new(service->run, library, &options, &meaning->semantic, error));
done:
    return status;
}

enum doppel_status reader_meaning_want(const struct service *service,
                                       struct doppel_library *library,
                                       const struct reader_meaning *wanted,
                                       struct reader_meaning *meaning, struct doppel_error *error)
{
    if (meaning->semantic && meaning->max_fp_rate == wanted->max_fp_rate &&
        meaning->min_cosine == wanted->min_cosine)
        return DOPPEL_OK;
    reader_meaning_close(meaning);
    meaning->max_fp_rate = wanted->max_fp_rate;
    meaning->min_cosine = wanted->min_cosine;
    enum doppel_status status = open_meaning(service, library, meaning, error);
    if (status)
        reader_meaning_close(meaning);
    return status;
}

/* ---- an input ---- */

/* @return how many bytes; -1: they cannot be read */
static ssize_t read_beginning(int fd, char *out, size_t most)
{
    size_t size = 0;
    while (size < most) {
        const ssize_t got = read(fd, out + size, most - size);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return -1;
        if (!got)
            break;
        size += (size_t)got;
    }
    return (ssize_t)size;
}

enum doppel_status input_meaning(const struct service *service, struct reader_meaning *meaning,
                                 const struct request_input *input,
                                 struct doppel_semantic_results *results,
                                 struct doppel_error *error)
{
    char *text = malloc(MEANING_BYTES);
    const int fd = request_input_open(service, input);
    enum doppel_status status = DOPPEL_OK;
    if (!text)
        TRY(doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a text"));
    const ssize_t size = fd < 0 ? -1 : read_beginning(fd, text, MEANING_BYTES);
    if (size < 0)
        TRY(doppel_fail(error, DOPPEL_E_IO, "the input cannot be read again"));
    TRY(doppel_semantic_search(meaning->semantic, text, (size_t)size, results, error));
done:
    if (fd >= 0)
        close(fd);
    free(text);
    return status;
}
