/* A tokenizer.json of huggingface's tokenizers: the vocabulary, and what is added to it. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/try.h"
#include "embed/tokenizer/tokenizer.h"
#include "embed/tokenizer/steps.h"

enum {
    MAX_FILE = 512 << 20,
    REFERENCE_TOKENS = 512 /* what model2vec's encode() looks at, unless it is told otherwise */
};

struct tokenizer_reader {
    const char *path;
    struct model_source *source;
    struct doppel_error *error;
    const json_t *model;
    json_t *ids;      /* of each token, as in the vocabulary; given, or borrowed of `model` */
    bool *taken;      /* whether an id has a token */
    size_t id_count;  /* of `taken` */
    uint32_t *counts; /* of tokens by their length in characters, the last of all longer ones */
};

enum { COUNTED_LENGTHS = 1024 };

static enum doppel_status fail_reading(const struct tokenizer_reader *reader,
                                       enum doppel_status status, const char *what,
                                       const char *which)
{
    return doppel_fail(reader->error, status, "%s: %s%.80s", reader->path, what, which);
}

/* ---- the file ---- */

static enum doppel_status load_json(const char *path, json_t **out, struct doppel_error *error)
{
    json_error_t problem;
    FILE *file = fopen(path, "re");
    if (!file)
        return doppel_fail(error, errno == ENOENT ? DOPPEL_E_NOT_FOUND : DOPPEL_E_IO, "%s: %s",
                           path, strerror(errno));
    bool seekable = fseeko(file, 0, SEEK_END) == 0;
    off_t size = seekable ? ftello(file) : -1;
    json_t *json = NULL;
    problem.text[0] = '\0';
    if (size >= 0 && size <= MAX_FILE && fseeko(file, 0, SEEK_SET) == 0)
        json = json_loadf(file, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &problem);
    (void)fclose(file);
    if (size < 0 || size > MAX_FILE)
        return doppel_fail(error, DOPPEL_E_LIMIT, "%s: is no file of at most 512 MB", path);
    if (!json_is_object(json)) {
        json_decref(json);
        return doppel_fail(error, DOPPEL_E_CORRUPT, "%s: line %d: %.160s", path,
                           json ? 1 : problem.line, json ? "no object" : problem.text);
    }
    *out = json;
    return DOPPEL_OK;
}

/* ---- tokens ---- */

static size_t characters_of(const char *text, size_t size)
{
    size_t count = 0;
    for (size_t i = 0; i < size; i++)
        count += ((uint8_t)text[i] & 0xc0) != 0x80;
    return count;
}

/* Note that an id has this token. */
static enum doppel_status take_id(struct tokenizer_reader *reader, const char *token, size_t size,
                                  const json_t *id)
{
    struct model_head *head = &reader->source->head;
    json_int_t number = json_is_integer(id) ? json_integer_value(id) : -1;
    if (number < 0 || number >= (json_int_t)reader->id_count)
        return fail_reading(reader, DOPPEL_E_CORRUPT, "has an id that is beyond its tokens for ",
                            token);
    if (reader->taken[number])
        return fail_reading(reader, DOPPEL_E_CORRUPT, "gives the id of another token to ", token);
    reader->taken[number] = true;
    size_t length = characters_of(token, size);
    reader->counts[length < COUNTED_LENGTHS ? length : COUNTED_LENGTHS - 1]++;
    head->vocabulary++;
    if (head->tokens <= number)
        head->tokens = (uint32_t)number + 1;
    return DOPPEL_OK;
}

static enum doppel_status put_key(const struct tokenizer_reader *reader, const char *bytes,
                                  size_t size, enum model_root root, uint32_t value)
{
    struct trie_key key = {bytes, (uint32_t)size, root, value};
    if (!size)
        return DOPPEL_OK; /* nothing is ever looked up by it */
    if (memchr(bytes, 0, size))
        return fail_reading(reader, DOPPEL_E_UNSUPPORTED, "has a token with a NUL in it", "");
    return array_push(&reader->source->keys, key)
               ? DOPPEL_OK
               : fail_reading(reader, DOPPEL_E_MEMORY, "no memory", "");
}

/* A token of the vocabulary. @param prefix of those that go on a word; NULL: there is none such */
static enum doppel_status take_vocabulary_token(struct tokenizer_reader *reader, const char *token,
                                                size_t size, const json_t *id, const char *prefix)
{
    enum doppel_status status;
    TRY(take_id(reader, token, size, id));
    uint32_t number = (uint32_t)json_integer_value(id);
    TRY(put_key(reader, token, size, ROOT_WORD, number));
    size_t prefix_size = prefix ? strlen(prefix) : 0;
    if (prefix && size >= prefix_size && memcmp(token, prefix, prefix_size) == 0)
        TRY(put_key(reader, token + prefix_size, size - prefix_size, ROOT_CONTINUED, number));
done:
    return status;
}

static enum doppel_status prepare_ids(struct tokenizer_reader *reader, size_t vocabulary,
                                      const json_t *added)
{
    reader->id_count = vocabulary + json_array_size(added);
    if (!vocabulary || reader->id_count > MODEL_MAX_TOKENS)
        return fail_reading(reader, vocabulary ? DOPPEL_E_LIMIT : DOPPEL_E_CORRUPT,
                            vocabulary ? "has more tokens than doppel takes" : "has no tokens", "");
    reader->taken = calloc(reader->id_count, sizeof *reader->taken);
    reader->counts = calloc(COUNTED_LENGTHS, sizeof *reader->counts);
    return reader->taken && reader->counts ? DOPPEL_OK
                                           : fail_reading(reader, DOPPEL_E_MEMORY, "no memory", "");
}

/* ---- WordPiece and WordLevel ---- */

static enum doppel_status take_unknown(const struct tokenizer_reader *reader)
{
    const char *unknown = json_string_value(json_object_get(reader->model, "unk_token"));
    const json_t *id = unknown ? json_object_get(reader->ids, unknown) : NULL;
    if (!id)
        return fail_reading(reader, DOPPEL_E_CORRUPT,
                            "its unk_token is not in the vocabulary: ", unknown ? unknown : "none");
    reader->source->head.unknown = (uint32_t)json_integer_value(id) + 1;
    return DOPPEL_OK;
}

static enum doppel_status take_max_word(const struct tokenizer_reader *reader)
{
    const json_t *most = json_object_get(reader->model, "max_input_chars_per_word");
    json_int_t number = most ? json_integer_value(most) : 100;
    if (number < 1 || number > MOST_WORD)
        return fail_reading(reader, DOPPEL_E_UNSUPPORTED,
                            "max_input_chars_per_word is not from 1 to 1000", "");
    reader->source->head.max_word = (uint32_t)number;
    return DOPPEL_OK;
}

static enum doppel_status take_words(struct tokenizer_reader *reader, bool pieces)
{
    const json_t *prefix = json_object_get(reader->model, "continuing_subword_prefix");
    const char *continued = json_is_string(prefix) ? json_string_value(prefix) : "##";
    enum doppel_status status;
    const char *token;
    size_t size;
    json_t *id;
    reader->ids = json_incref(json_object_get(reader->model, "vocab"));
    if (!json_is_object(reader->ids))
        return fail_reading(reader, DOPPEL_E_CORRUPT, "its vocab is no object", "");
    json_object_keylen_foreach(reader->ids, token, size, id)
    {
        TRY(take_vocabulary_token(reader, token, size, id, pieces ? continued : NULL));
    }
    TRY(take_unknown(reader));
    if (pieces)
        TRY(take_max_word(reader));
done:
    return status;
}

/* ---- Unigram ---- */

static enum doppel_status take_scored_token(struct tokenizer_reader *reader, size_t number,
                                            double *least)
{
    const json_t *pair = json_array_get(json_object_get(reader->model, "vocab"), number);
    const json_t *token = json_array_get(pair, 0), *score = json_array_get(pair, 1);
    enum doppel_status status;
    if (!json_is_string(token) || !json_is_number(score) || json_array_size(pair) != 2 ||
        !isfinite(json_number_value(score)))
        return fail_reading(reader, DOPPEL_E_CORRUPT, "its vocab has no pairs of token and score",
                            "");
    const char *bytes = json_string_value(token);
    size_t size = json_string_length(token);
    if (json_object_getn(reader->ids, bytes, size))
        return fail_reading(reader, DOPPEL_E_CORRUPT, "its vocab has twice ", bytes);
    json_t *id = json_integer((json_int_t)number);
    if (!id || json_object_setn_new_nocheck(reader->ids, bytes, size, id) != 0)
        return fail_reading(reader, DOPPEL_E_MEMORY, "no memory", "");
    reader->source->scores[number] = json_number_value(score);
    if (json_number_value(score) < *least)
        *least = json_number_value(score);
    TRY(take_vocabulary_token(reader, bytes, size, id, NULL));
done:
    return status;
}

static enum doppel_status take_scored_tokens(struct tokenizer_reader *reader)
{
    enum { UNKNOWN_PENALTY = 10 };
    const json_t *unknown = json_object_get(reader->model, "unk_id");
    size_t count = json_array_size(json_object_get(reader->model, "vocab"));
    struct model_head *head = &reader->source->head;
    double least = INFINITY;
    enum doppel_status status = DOPPEL_OK;
    if (json_is_true(json_object_get(reader->model, "byte_fallback")))
        return fail_reading(reader, DOPPEL_E_UNSUPPORTED,
                            "doppel does not know Unigram with byte_fallback", "");
    reader->ids = json_object();
    reader->source->scores = calloc(reader->id_count, sizeof *reader->source->scores);
    if (!reader->ids || !reader->source->scores)
        return fail_reading(reader, DOPPEL_E_MEMORY, "no memory", "");
    for (size_t i = 0; i < count; i++)
        TRY(take_scored_token(reader, i, &least));
    if (json_is_integer(unknown)) {
        if (json_integer_value(unknown) < 0 || json_integer_value(unknown) >= (json_int_t)count)
            return fail_reading(reader, DOPPEL_E_CORRUPT, "its unk_id is beyond the vocab", "");
        head->unknown = (uint32_t)json_integer_value(unknown) + 1;
        head->keep_unknown = 1;
    }
    head->unknown_score = least - UNKNOWN_PENALTY;
done:
    return status;
}

/* ---- added tokens ---- */

static enum doppel_status put_added_key(struct tokenizer_reader *reader, const json_t *entry,
                                        const json_t *content, uint32_t value)
{
    const char *bytes = json_string_value(content);
    size_t size = json_string_length(content);
    struct normalizing work = {.charsmap = reader->source->charsmap,
                               .charsmap_size = reader->source->charsmap_size};
    const json_t *normalized = json_object_get(entry, "normalized");
    if (!json_is_true(normalized))
        return put_key(reader, bytes, size, ROOT_ADDED, value);
    normalize(&work, reader->source->normalizers.items, bytes, size, &bytes, &size);
    char *kept = work.failed ? NULL : model_source_keep(reader->source, bytes, size);
    normalizing_free(&work);
    return kept ? put_key(reader, kept, size, ROOT_ADDED_NORMALIZED, value)
                : fail_reading(reader, DOPPEL_E_MEMORY, "no memory", "");
}

static enum doppel_status take_added_token(struct tokenizer_reader *reader, const json_t *entry)
{
    const json_t *content = json_object_get(entry, "content"), *id = json_object_get(entry, "id");
    const char *bytes = json_string_value(content);
    enum doppel_status status = DOPPEL_OK;
    if (!bytes || !json_is_integer(id))
        return fail_reading(reader, DOPPEL_E_CORRUPT, "an added token lacks its content or id", "");
    if (!json_string_length(content))
        return DOPPEL_OK;
    const json_t *known = json_object_getn(reader->ids, bytes, json_string_length(content));
    if (!known)
        TRY(take_id(reader, bytes, json_string_length(content), id));
    else if (json_integer_value(known) != json_integer_value(id))
        return fail_reading(reader, DOPPEL_E_CORRUPT, "two ids are those of the added token ",
                            bytes);
    struct model_added added = {.token = (uint32_t)json_integer_value(id)};
    added.flags |= json_is_true(json_object_get(entry, "single_word")) ? ADDED_SINGLE_WORD : 0;
    added.flags |= json_is_true(json_object_get(entry, "lstrip")) ? ADDED_STRIP_LEFT : 0;
    added.flags |= json_is_true(json_object_get(entry, "rstrip")) ? ADDED_STRIP_RIGHT : 0;
    TRY(put_added_key(reader, entry, content, (uint32_t)reader->source->added.count));
    if (!array_push(&reader->source->added, added))
        status = fail_reading(reader, DOPPEL_E_MEMORY, "no memory", "");
done:
    return status;
}

/* ---- limits ---- */

/* The median of the lengths of all tokens; of an even number the mean of two, rounded down. */
static uint32_t median_length(const struct tokenizer_reader *reader)
{
    uint32_t count = reader->source->head.vocabulary, seen = 0, lower = 0, upper = 0;
    for (uint32_t length = 0; length < COUNTED_LENGTHS && seen <= count / 2; length++) {
        uint32_t more = seen + reader->counts[length];
        if (seen <= (count - 1) / 2 && more > (count - 1) / 2)
            lower = length;
        if (seen <= count / 2 && more > count / 2)
            upper = length;
        seen = more;
    }
    return (lower + upper) / 2;
}

static enum doppel_status take_limits(const struct tokenizer_reader *reader, const json_t *json)
{
    const json_t *truncation = json_object_get(json, "truncation");
    const char *direction = json_string_value(json_object_get(truncation, "direction"));
    json_int_t most = json_integer_value(json_object_get(truncation, "max_length"));
    struct model_head *head = &reader->source->head;
    if (direction && strcmp(direction, "Right") != 0)
        return fail_reading(reader, DOPPEL_E_UNSUPPORTED, "doppel does not know truncation to the ",
                            direction);
    if (json_is_object(truncation) && (most < 1 || most > UINT32_MAX))
        return fail_reading(reader, DOPPEL_E_UNSUPPORTED, "truncates texts to no tokens", "");
    head->max_all_tokens = json_is_object(truncation) ? (uint32_t)most : 0;
    head->max_tokens = REFERENCE_TOKENS;
    head->max_characters = REFERENCE_TOKENS * median_length(reader);
    return DOPPEL_OK;
}

/* ---- the whole ---- */

static enum doppel_status take_model(struct tokenizer_reader *reader, const json_t *added)
{
    const char *type = json_string_value(json_object_get(reader->model, "type"));
    const json_t *vocab = json_object_get(reader->model, "vocab");
    struct model_head *head = &reader->source->head;
    size_t count = json_is_array(vocab) ? json_array_size(vocab) : json_object_size(vocab);
    enum doppel_status status;
    head->kind = !type                            ? 0
                 : strcmp(type, "WordPiece") == 0 ? DOPPEL_MODEL_WORD_PIECES
                 : strcmp(type, "WordLevel") == 0 ? DOPPEL_MODEL_WHOLE_WORDS
                 : strcmp(type, "Unigram") == 0   ? DOPPEL_MODEL_UNIGRAM
                                                  : 0;
    if (!head->kind)
        return fail_reading(reader, DOPPEL_E_UNSUPPORTED,
                            "doppel does not know the tokenizer's model ", type ? type : "unnamed");
    TRY(prepare_ids(reader, count, added));
    if (head->kind == DOPPEL_MODEL_UNIGRAM)
        TRY(take_scored_tokens(reader));
    else
        TRY(take_words(reader, head->kind == DOPPEL_MODEL_WORD_PIECES));
    for (size_t i = 0; i < json_array_size(added); i++)
        TRY(take_added_token(reader, json_array_get(added, i)));
done:
    return status;
}

enum doppel_status tokenizer_read(const char *path, struct model_source *out,
                                  struct doppel_error *error)
{
    struct tokenizer_reader reader = {.path = path, .source = out, .error = error};
    json_t *json = NULL;
    enum doppel_status status = load_json(path, &json, error);
    if (status)
        return status;
    out->json = json;
    reader.model = json_object_get(json, "model");
    TRY(read_normalizer(json_object_get(json, "normalizer"), path, out, error));
    TRY(read_pre_tokenizer(json_object_get(json, "pre_tokenizer"), path, out, error));
    if (!array_push(&out->normalizers, (struct text_step){0}) ||
        !array_push(&out->splits, (struct text_step){0}))
        TRY(fail_reading(&reader, DOPPEL_E_MEMORY, "no memory", ""));
    TRY(take_model(&reader, json_object_get(json, "added_tokens")));
    TRY(take_limits(&reader, json));
done:
    json_decref(reader.ids);
    free(reader.taken);
    free(reader.counts);
    return status;
}
