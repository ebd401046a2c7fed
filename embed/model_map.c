/* Opening a model: its file is mapped, its sections are looked at when they are needed. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/try.h"
#include "embed/model.h"
#include "embed/tokenizer/points.h"
#include "embed/rows.h"
#include "embed/tokenizer/step.h"
#include "embed/tokenizer/tokenizer.h"
#include "embed/tokenizer/trie.h"
#include "embed/whitened/whitened.h"

char *model_path(const char *folder, const char *name)
{
    size_t size = strlen(folder) + strlen(name) + sizeof "/.model";
    char *path = malloc(size);
    if (path)
        snprintf(path, size, "%s/%s.model", folder, name);
    return path;
}

bool model_name_is_good(const char *name)
{
    size_t size = strlen(name);
    return size && size <= DOPPEL_MODEL_MAX_NAME && name[0] != '.' && name[0] != '-' &&
           strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") ==
               size;
}

const char *doppel_model_tokens_name(enum doppel_model_tokens tokens)
{
    static const char *const names[] = {"unknown",     "word-pieces", "unigram",
                                        "whole-words", "word-list",   "whitened"};
    size_t index = (size_t)tokens;
    return names[index < sizeof names / sizeof *names ? index : 0];
}

/* ---- the file ---- */

static enum doppel_status map_file(const char *path, struct doppel_model *model,
                                   struct doppel_error *error)
{
    struct stat stamp;
    enum doppel_status status = DOPPEL_OK;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return doppel_fail(error, errno == ENOENT ? DOPPEL_E_NOT_FOUND : DOPPEL_E_IO, "%s: %s",
                           path, errno == ENOENT ? "there is no such model" : strerror(errno));
    if (fstat(fd, &stamp) != 0)
        status = doppel_fail(error, DOPPEL_E_IO, "%s: %s", path, strerror(errno));
    else if (!S_ISREG(stamp.st_mode) || stamp.st_size < MODEL_PAGE)
        status = doppel_fail(error, DOPPEL_E_FORMAT, "%s: no model of doppel", path);
    if (!status) {
        model->size = (size_t)stamp.st_size;
        void *map = mmap(NULL, model->size, PROT_READ, MAP_SHARED, fd, 0);
        if (map == MAP_FAILED)
            status = doppel_fail(error, DOPPEL_E_MEMORY, "%s: cannot be mapped (%s)", path,
                                 strerror(errno));
        else
            model->map = map;
    }
    close(fd);
    return status;
}

static const void *section_of(const struct doppel_model *model, enum model_section section)
{
    return model->map + model->head.sections[section].offset;
}

static size_t section_size(const struct doppel_model *model, enum model_section section)
{
    return (size_t)model->head.sections[section].size;
}

static void take_sections(struct doppel_model *model)
{
    model->cells = section_of(model, SECTION_CELLS);
    model->cell_count = section_size(model, SECTION_CELLS) / sizeof *model->cells;
    if (section_size(model, SECTION_MAPPING))
        model->mapping = section_of(model, SECTION_MAPPING);
    model->weights = section_of(model, SECTION_WEIGHTS);
    model->int8_weights = section_of(model, SECTION_INT8_WEIGHTS);
    model->scores = section_of(model, SECTION_SCORES);
    model->int8_rows = section_of(model, SECTION_INT8_ROWS);
    model->float_rows = section_of(model, SECTION_FLOAT_ROWS);
    model->added = section_of(model, SECTION_ADDED);
    model->added_count = section_size(model, SECTION_ADDED) / sizeof *model->added;
    model->charsmap = section_of(model, SECTION_CHARSMAP);
    model->charsmap_size = section_size(model, SECTION_CHARSMAP);
}

/* ---- what is known before the first text ---- */

static void take_info(struct doppel_model *model, const char *name)
{
    struct doppel_model_info *info = &model->info;
    size_t prefix_size = section_size(model, SECTION_PREFIX);
    snprintf(info->name, sizeof info->name, "%s", name);
    doppel_hex_encode(model->head.revision, sizeof model->head.revision, info->revision);
    memcpy(info->prefix, section_of(model, SECTION_PREFIX), prefix_size);
    info->prefix[prefix_size] = '\0';
    info->dimension = model->head.dimension;
    info->tokens = model->head.kind;
    info->vocabulary = model->head.vocabulary;
    info->rows = model->head.rows;
    info->max_tokens = model->head.max_tokens;
    info->size_bytes = model->size;
}

static void look_for_added(struct doppel_model *model)
{
    for (int which = 0; which < 2; which++)
        for (unsigned byte = 1; byte < 256; byte++) {
            uint32_t base = model->head.roots[ROOT_ADDED + which];
            bool begins = trie_step(model->cells, model->cell_count, base, (uint8_t)byte) != 0;
            model->added_first[which][byte] = begins;
            model->added_firsts[which] += begins;
            if (begins)
                model->added_first_byte[which] = (int)byte;
        }
}

/* ASCII as words are made of it: what the steps of BERT, or those of a list of words, do to it. */
static void classify_bytes(struct doppel_model *model)
{
    bool list = model->head.kind == DOPPEL_MODEL_WORD_LIST;
    uint32_t flags = list ? BERT_LOWERCASE : model->normalizers[0].flags;
    for (unsigned byte = 0; byte < 256; byte++) {
        enum byte_class class = BYTE_WORD;
        if (byte >= 0x80 || (flags & BERT_CLEAN && byte != '\t' && byte != '\n' && byte != '\r' &&
                             point_is_other(byte)))
            class = BYTE_SLOW;
        else if (point_is_space(byte))
            class = BYTE_SPACE;
        else if (list && !point_is_letter(byte))
            class = point_is_number(byte) ? BYTE_DIGIT : BYTE_SPACE;
        else if (point_is_punctuation(byte))
            class = BYTE_ALONE;
        model->classes[byte] = (uint8_t) class;
        bool upper = byte >= 'A' && byte <= 'Z' && flags & BERT_LOWERCASE;
        model->lower[byte] = (uint8_t)(upper ? byte | 0x20 : byte);
    }
}

static enum doppel_status take_steps(struct doppel_model *model)
{
    enum doppel_status status = DOPPEL_OK;
    const uint8_t *in = section_of(model, SECTION_STEPS);
    size_t size = section_size(model, SECTION_STEPS), at = 0;
    TRY(text_steps_read(in, size, &at, MODEL_MOST_STEPS, &model->normalizers));
    TRY(text_steps_read(in, size, &at, MOST_SPLITS, &model->splits));
    for (const struct text_step *step = model->normalizers; step->kind; step++)
        if (step->kind >= STEP_SPLIT_BERT)
            return DOPPEL_E_CORRUPT;
    for (const struct text_step *step = model->splits; step->kind; step++)
        if (step->kind < STEP_SPLIT_BERT)
            return DOPPEL_E_CORRUPT;
    for (const struct text_step *step = model->splits; step->kind; step++)
        model->knows_first |= step->kind == STEP_METASPACE && step->flags & METASPACE_FIRST;
    model->by_bytes =
        model->head.kind == DOPPEL_MODEL_WORD_LIST ||
        (model->head.kind == DOPPEL_MODEL_WORD_PIECES && model->normalizers[0].kind == STEP_BERT &&
         !model->normalizers[1].kind && model->splits[0].kind == STEP_SPLIT_BERT &&
         !model->splits[1].kind && !model->added_firsts[1]);
done:
    return status;
}

enum doppel_status model_map(const char *path, const char *name, struct doppel_model **out,
                             struct doppel_error *error)
{
    struct doppel_model *model = calloc(1, sizeof *model);
    if (!model)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory");
    enum doppel_status status = map_file(path, model, error);
    if (model_file_at(path) == MODEL_FILE_WHITENED)
        status = doppel_fail(error, DOPPEL_E_FORMAT,
                             "%s: whitens vectors of another model, and has none itself", path);
    if (status)
        goto done;
    status = model_head_read(model->map, model->size, &model->head);
    if (!status) {
        take_sections(model);
        look_for_added(model);
        status = take_steps(model);
    }
    if (status == DOPPEL_E_VERSION)
        doppel_fail(error, status, "%s: a model of another version of doppel; add it again", path);
    else if (status == DOPPEL_E_MEMORY)
        doppel_fail(error, status, "no memory");
    else if (status)
        doppel_fail(error, status, "%s: %s", path,
                    status == DOPPEL_E_FORMAT ? "no model of doppel" : "is damaged; add it again");
    if (status)
        goto done;
    take_info(model, name);
    if (model->by_bytes)
        classify_bytes(model);
    model->kernels = embed_kernels_choose();
    *out = model;
    return DOPPEL_OK;
done:
    doppel_model_free(model);
    return status;
}

bool model_is_whole(const struct doppel_model *model)
{
    struct doppel_digest digest =
        model_revision(&model->head, model->map + MODEL_PAGE, model->size - MODEL_PAGE);
    return memcmp(digest.bytes, model->head.revision, sizeof digest.bytes) == 0;
}

enum doppel_status doppel_model_open(const struct doppel_model_open_options *options,
                                     struct doppel_model **out, struct doppel_error *error)
{
    struct doppel_model *model;
    if (!options->folder || !options->name || !model_name_is_good(options->name))
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "'%s' is no name of a model",
                           options->name ? options->name : "");
    char *path = model_path(options->folder, options->name);
    if (!path)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory");
    enum doppel_status status = model_map(path, options->name, &model, error);
    free(path);
    if (status)
        return status;
    model->exact = options->exact;
    *out = model;
    return DOPPEL_OK;
}

void doppel_model_free(struct doppel_model *model)
{
    if (!model)
        return;
    if (model->map)
        munmap((void *)model->map, model->size);
    free(model->normalizers);
    free(model->splits);
    free(model);
}

const struct doppel_model_info *doppel_model_info(const struct doppel_model *model)
{
    return &model->info;
}
