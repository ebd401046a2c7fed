/* The folder of models: adding, listing, choosing and removing. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <doppel/embedder.h>

#include "core/try.h"
#include "embed/model_source.h"
#include "embed/models.h"

/* ---- a source ---- */

void model_source_free(struct model_source *source)
{
    free(source->matrix);
    free(source->mapping);
    free(source->weights);
    free(source->scores);
    free(source->charsmap);
    array_free(&source->keys);
    array_free(&source->added);
    array_free(&source->normalizers);
    array_free(&source->splits);
    for (size_t i = 0; i < source->strings.count; i++)
        free(source->strings.items[i]);
    array_free(&source->strings);
    json_decref(source->json);
    *source = (struct model_source){0};
}

char *model_source_keep(struct model_source *source, const char *bytes, size_t size)
{
    char *copy = malloc(size + 1);
    if (!copy || !array_push(&source->strings, copy)) {
        free(copy);
        return NULL;
    }
    memcpy(copy, bytes, size);
    copy[size] = '\0';
    return copy;
}

/* Whether a file is JSON, by how it begins. */
static bool is_json(const char *path)
{
    char start[64];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd < 0 ? 0 : read(fd, start, sizeof start);
    if (fd >= 0)
        close(fd);
    for (ssize_t i = 0; i < got; i++)
        if (!strchr(" \t\r\n", start[i]))
            return start[i] == '{';
    return false;
}

/* The file that the package.json of an npm package names, if that is one right in the folder. */
static char *main_of_package(const char *folder)
{
    char *path = NULL, *out = NULL;
    if (asprintf(&path, "%s/package.json", folder) < 0)
        return NULL;
    json_t *package = json_load_file(path, 0, NULL);
    const char *name = json_string_value(json_object_get(package, "main"));
    name = name && strncmp(name, "./", 2) == 0 ? name + 2 : name;
    if (name && *name && !strchr(name, '/') && asprintf(&out, "%s/%s", folder, name) < 0)
        out = NULL;
    if (out && !is_json(out)) {
        free(out);
        out = NULL;
    }
    json_decref(package);
    free(path);
    return out;
}

static enum doppel_status read_model_folder(const char *path, struct model_source *out,
                                            struct doppel_error *error)
{
    char *package = main_of_package(path);
    enum doppel_status status =
        package ? wink_read(package, out, error) : model2vec_read(path, out, error);
    free(package);
    return status;
}

static enum doppel_status read_model_source(const char *path, struct model_source *out,
                                            struct doppel_error *error)
{
    struct stat stamp;
    if (stat(path, &stamp) != 0)
        return doppel_fail(error,
                           errno == ENOENT || errno == ENOTDIR ? DOPPEL_E_NOT_FOUND : DOPPEL_E_IO,
                           "%s: %s", path, strerror(errno));
    if (S_ISDIR(stamp.st_mode))
        return read_model_folder(path, out, error);
    if (!S_ISREG(stamp.st_mode))
        return doppel_fail(error, DOPPEL_E_FORMAT, "%s: no file and no folder", path);
    return is_json(path) ? wink_read(path, out, error) : word_list_read(path, out, error);
}

/* ---- adding ---- */

struct doppel_model_add_options doppel_model_add_options_default(void)
{
    return (struct doppel_model_add_options){0};
}

/* The last part of a path, without its ending. */
static void name_of_source(const char *path, char out[DOPPEL_MODEL_MAX_NAME + 1])
{
    static const char *const endings[] = {".gz", ".txt", ".vec", ".json"};
    size_t size = strlen(path), begin;
    while (size > 1 && path[size - 1] == '/')
        size--;
    for (begin = size; begin && path[begin - 1] != '/'; begin--)
        ;
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        size_t ending = strlen(endings[i]);
        if (size - begin > ending && memcmp(path + size - ending, endings[i], ending) == 0)
            size -= ending;
    }
    size_t length = size - begin > DOPPEL_MODEL_MAX_NAME ? 0 : size - begin;
    memcpy(out, path + begin, length);
    out[length] = '\0';
}

enum doppel_status model_check_name(const char *name, struct doppel_error *error)
{
    return model_name_is_good(name)
               ? DOPPEL_OK
               : doppel_fail(error, DOPPEL_E_ARGUMENT,
                             "'%.80s' is no name of a model: 1 to %d letters, digits, '.', '_' and "
                             "'-', the first a letter or digit",
                             name, DOPPEL_MODEL_MAX_NAME);
}

static enum doppel_status check_add(const struct doppel_model_add_options *options,
                                    const char *name, struct doppel_error *error)
{
    const char *prefix = options->prefix ? options->prefix : "";
    enum doppel_status status;
    TRY(model_check_name(name, error));
    if (strlen(prefix) > DOPPEL_MODEL_MAX_PREFIX)
        TRY(doppel_fail(error, DOPPEL_E_ARGUMENT, "the prefix is longer than %d bytes",
                        DOPPEL_MODEL_MAX_PREFIX));
done:
    return status;
}

/* What comes from a source. */
struct sourced_model {
    struct model_source source;
    const char *prefix;
};

static enum doppel_status write_sourced(void *context, const char *path, struct doppel_error *error)
{
    struct sourced_model *model = context;
    return model_write(&model->source, model->prefix, path, error);
}

enum doppel_status doppel_model_add(const struct doppel_model_add_options *options,
                                    struct doppel_model_info *out, struct doppel_error *error)
{
    char from_source[DOPPEL_MODEL_MAX_NAME + 1];
    struct sourced_model model = {.prefix = options->prefix ? options->prefix : ""};
    struct doppel_model_info info;
    const char *name = options->name ? options->name : from_source;
    enum doppel_status status;
    if (!options->folder || !*options->folder || !options->source)
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "a model needs a folder and a source");
    name_of_source(options->source, from_source);
    TRY(check_add(options, name, error));
    TRY(read_model_source(options->source, &model.source, error));
    const struct model_placing placing = {options->folder, name, write_sourced, &model};
    TRY(model_place(&placing, &info, error));
    *out = info;
done:
    model_source_free(&model.source);
    return status;
}

/* ---- listing and removing ---- */

void doppel_model_info_to_json(struct doppel_json *json, const struct doppel_model_info *info)
{
    doppel_json_text(json, "name", info->name);
    doppel_json_text(json, "revision", info->revision);
    doppel_json_integer(json, "dimension", info->dimension);
    doppel_json_text(json, "prefix", info->prefix[0] ? info->prefix : NULL);
    doppel_json_text(json, "tokens", doppel_model_tokens_name(info->tokens));
    if (info->tokens == DOPPEL_MODEL_WHITENED) {
        doppel_json_text(json, "base", info->base);
        doppel_json_boolean(json, "of_service", info->of_service);
        doppel_json_integer(json, "learned_from", info->learned_from);
    } else {
        doppel_json_integer(json, "vocabulary", info->vocabulary);
        doppel_json_integer(json, "rows", info->rows);
    }
    if (info->max_tokens)
        doppel_json_integer(json, "max_tokens", info->max_tokens);
    doppel_json_integer(json, "size", info->size_bytes);
}

static int is_model_file(const struct dirent *entry)
{
    char name[DOPPEL_MODEL_MAX_NAME + 1];
    size_t size = strlen(entry->d_name), ending = sizeof ".model" - 1;
    if (size <= ending || size - ending > DOPPEL_MODEL_MAX_NAME ||
        strcmp(entry->d_name + size - ending, ".model") != 0)
        return 0;
    memcpy(name, entry->d_name, size - ending);
    name[size - ending] = '\0';
    return model_name_is_good(name);
}

static int compare_entries(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static enum doppel_status visit_model(const char *folder, char *file, doppel_model_visitor *visit,
                                      void *context, struct doppel_error *error)
{
    struct doppel_model_info info = {0};
    struct doppel_error problem;
    file[strlen(file) - strlen(".model")] = '\0';
    snprintf(info.name, sizeof info.name, "%s", file);
    char *path = model_path(folder, file);
    if (!path)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory");
    enum doppel_status status = model_read_info(path, file, &info, &problem);
    free(path);
    if (status == DOPPEL_E_NOT_FOUND) /* it was removed meanwhile */
        return DOPPEL_OK;
    return visit(context, &info, status ? problem.message : NULL)
               ? DOPPEL_OK
               : doppel_fail(error, DOPPEL_E_CANCELLED, "cancelled");
}

enum doppel_status doppel_models_list(const char *folder, doppel_model_visitor *visit,
                                      void *context, struct doppel_error *error)
{
    struct dirent **entries;
    enum doppel_status status = DOPPEL_OK;
    int count = scandir(folder, &entries, is_model_file, compare_entries);
    if (count < 0 && (errno == ENOENT || errno == ENOTDIR))
        return DOPPEL_OK;
    if (count < 0)
        return doppel_fail(error, errno == ENOMEM ? DOPPEL_E_MEMORY : DOPPEL_E_IO, "%s: %s", folder,
                           strerror(errno));
    for (int i = 0; i < count; i++) {
        if (!status)
            status = visit_model(folder, entries[i]->d_name, visit, context, error);
        free(entries[i]);
    }
    free(entries);
    return status;
}

struct model_choice {
    const struct doppel_embedder_identity *kept; /* whose model is looked for; NULL: none */
    char name[DOPPEL_MODEL_MAX_NAME + 1];        /* of it, or of the last one */
    size_t count;
    bool found;
};

static bool note_model(void *context, const struct doppel_model_info *info, const char *problem)
{
    struct model_choice *choice = context;
    memcpy(choice->name, info->name, sizeof choice->name);
    choice->count++;
    choice->found = choice->kept && !problem && strcmp(info->revision, choice->kept->revision) == 0;
    return !choice->found;
}

enum doppel_status doppel_embedder_choose(const char *folder,
                                          const struct doppel_embedder_identity *kept, char *out,
                                          size_t *out_count, struct doppel_error *error)
{
    struct model_choice choice = {.kept = kept};
    enum doppel_status status = doppel_models_list(folder, note_model, &choice, error);
    *out_count = choice.count;
    if (status && !choice.found) /* to have found it ends the list */
        return status;
    if (!choice.count || (kept && !choice.found && choice.count > 1))
        return doppel_fail(error, DOPPEL_E_NOT_FOUND,
                           kept ? "the model of the vectors is not in %s" : "no model is in %s",
                           folder);
    if (!choice.found && choice.count > 1)
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "there are %zu embedding models",
                           choice.count);
    memcpy(out, choice.name, sizeof choice.name);
    return DOPPEL_OK;
}

enum doppel_status doppel_model_remove(const char *folder, const char *name,
                                       struct doppel_error *error)
{
    if (!model_name_is_good(name))
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "'%.80s' is no name of a model", name);
    char *path = model_path(folder, name);
    if (!path)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory");
    enum doppel_status status = DOPPEL_OK;
    if (unlink(path) != 0)
        status = errno == ENOENT
                     ? doppel_fail(error, DOPPEL_E_NOT_FOUND, "there is no model '%s'", name)
                     : doppel_fail(error, DOPPEL_E_IO, "%s: %s", path, strerror(errno));
    free(path);
    return status;
}
