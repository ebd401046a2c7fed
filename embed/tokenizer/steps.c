/* The steps of a tokenizer.json. What doppel does not do exactly as huggingface's tokenizers is
 * refused by its name: wrong tokens would be wrong vectors that nobody notices. */
#include "embed/tokenizer/steps.h"

#include <stdlib.h>
#include <string.h>

#include "core/bytes.h"
#include "core/text/base64.h"
#include "core/try.h"
#include "embed/tokenizer/tokenizer.h"

enum { MAX_DEPTH = 8 };

/* What is read, and where it goes. */
struct step_reader {
    const char *path, *part; /* for messages; "normalizer" or "pre_tokenizer" */
    struct model_source *source;
    struct doppel_error *error;
    bool splits;
};

static const char *type_of(const json_t *json)
{
    const char *type = json_string_value(json_object_get(json, "type"));
    return type ? type : "without a type";
}

static enum doppel_status refuse_part(const struct step_reader *reader, const json_t *json,
                                      const char *why)
{
    return doppel_fail(reader->error, DOPPEL_E_UNSUPPORTED,
                       "%s: doppel does not know the %s %.60s%s%.100s", reader->path, reader->part,
                       type_of(json), *why ? ", " : "", why);
}

static enum doppel_status append_text_step(const struct step_reader *reader, struct text_step step)
{
    struct model_source *source = reader->source;
    if (step.text_size > STEP_MAX_TEXT || step.content_size > STEP_MAX_TEXT)
        return doppel_fail(reader->error, DOPPEL_E_LIMIT, "%s: a step of its %s is too long",
                           reader->path, reader->part);
    size_t count = reader->splits ? source->splits.count : source->normalizers.count;
    size_t most = reader->splits ? MOST_SPLITS - 1 : MODEL_MOST_STEPS - 1;
    if (count == most)
        return doppel_fail(reader->error, DOPPEL_E_LIMIT, "%s: its %s has too many steps",
                           reader->path, reader->part);
    bool put =
        reader->splits ? array_push(&source->splits, step) : array_push(&source->normalizers, step);
    return put ? DOPPEL_OK : doppel_fail(reader->error, DOPPEL_E_MEMORY, "no memory");
}

/* A member that is true or false. */
static bool flag_of(const json_t *json, const char *name, bool otherwise)
{
    const json_t *value = json_object_get(json, name);
    return json_is_boolean(value) ? json_is_true(value) : otherwise;
}

/* ---- normalizers ---- */

static enum doppel_status put_bert(const struct step_reader *reader, const json_t *json)
{
    struct text_step step = {.kind = STEP_BERT};
    bool lower = flag_of(json, "lowercase", true);
    step.flags |= flag_of(json, "clean_text", true) ? BERT_CLEAN : 0;
    step.flags |= flag_of(json, "handle_chinese_chars", true) ? BERT_CHINESE : 0;
    step.flags |= flag_of(json, "strip_accents", lower) ? BERT_STRIP_ACCENTS : 0;
    step.flags |= lower ? BERT_LOWERCASE : 0;
    return append_text_step(reader, step);
}

static enum doppel_status put_strip(const struct step_reader *reader, const json_t *json)
{
    struct text_step step = {.kind = STEP_STRIP};
    step.flags |= flag_of(json, "strip_left", true) ? STRIP_LEFT : 0;
    step.flags |= flag_of(json, "strip_right", true) ? STRIP_RIGHT : 0;
    return append_text_step(reader, step);
}

static enum doppel_status put_replace(const struct step_reader *reader, const json_t *json)
{
    static const struct {
        const char *pattern;
        uint32_t flags;
    } patterns[] = {{"\\s+", 0},
                    {" +", SPACES_ONLY_BLANKS},
                    {"\\s{2,}", SPACES_TWO_OR_MORE},
                    {" {2,}", SPACES_ONLY_BLANKS | SPACES_TWO_OR_MORE}};
    const json_t *pattern = json_object_get(json, "pattern");
    const json_t *text = json_object_get(pattern, "String");
    const char *regex = json_string_value(json_object_get(pattern, "Regex"));
    const json_t *content = json_object_get(json, "content");
    struct text_step step = {.kind = text ? STEP_REPLACE : STEP_REPLACE_SPACES,
                             .content = json_string_value(content),
                             .content_size = (uint32_t)json_string_length(content)};
    if (!step.content || (text && !json_string_length(text)))
        return refuse_part(reader, json, "which lacks its pattern or content");
    if (text) {
        step.text = json_string_value(text);
        step.text_size = (uint32_t)json_string_length(text);
        return append_text_step(reader, step);
    }
    for (size_t i = 0; regex && i < sizeof patterns / sizeof *patterns; i++)
        if (strcmp(regex, patterns[i].pattern) == 0) {
            step.flags = patterns[i].flags;
            return append_text_step(reader, step);
        }
    return refuse_part(reader, json, regex ? regex : "which lacks its pattern or content");
}

static enum doppel_status put_prepend(const struct step_reader *reader, const json_t *json)
{
    const json_t *text = json_object_get(json, "prepend");
    if (!json_is_string(text))
        return refuse_part(reader, json, "which lacks its text");
    return append_text_step(reader,
                            (struct text_step){.kind = STEP_PREPEND,
                                               .content = json_string_value(text),
                                               .content_size = (uint32_t)json_string_length(text)});
}

static enum doppel_status put_precompiled(const struct step_reader *reader, const json_t *json)
{
    const json_t *map = json_object_get(json, "precompiled_charsmap");
    struct model_source *source = reader->source;
    if (!map || json_is_null(map) || (json_is_string(map) && !json_string_length(map)))
        return DOPPEL_OK;
    if (source->charsmap)
        return refuse_part(reader, json, "twice");
    if (json_is_string(map))
        source->charsmap = base64_decode(json_string_value(map), &source->charsmap_size);
    size_t size = source->charsmap_size;
    if (!source->charsmap || size < 8 || get_u32((const uint8_t *)source->charsmap) > size - 4)
        return doppel_fail(reader->error, DOPPEL_E_CORRUPT,
                           "%s: the map of its normalizer Precompiled is damaged", reader->path);
    return append_text_step(reader, (struct text_step){.kind = STEP_PRECOMPILED});
}

typedef enum doppel_status put_one(const struct step_reader *reader, const json_t *json);

static const struct {
    const char *type;
    enum step_kind kind; /* of those without settings */
    put_one *put;
} normalizers[] = {
    {"BertNormalizer", STEP_BERT, put_bert},
    {"Lowercase", STEP_LOWERCASE, NULL},
    {"NFC", STEP_NFC, NULL},
    {"NFD", STEP_NFD, NULL},
    {"NFKC", STEP_NFKC, NULL},
    {"NFKD", STEP_NFKD, NULL},
    {"StripAccents", STEP_STRIP_ACCENTS, NULL},
    {"Strip", STEP_STRIP, put_strip},
    {"Replace", STEP_REPLACE, put_replace},
    {"Prepend", STEP_PREPEND, put_prepend},
    {"Nmt", STEP_NMT, NULL},
    {"Precompiled", STEP_PRECOMPILED, put_precompiled},
};

static enum doppel_status put_normalizer(const struct step_reader *reader, const json_t *json)
{
    for (size_t i = 0; i < sizeof normalizers / sizeof *normalizers; i++) {
        if (strcmp(type_of(json), normalizers[i].type) != 0)
            continue;
        return normalizers[i].put
                   ? normalizers[i].put(reader, json)
                   : append_text_step(reader, (struct text_step){.kind = normalizers[i].kind});
    }
    return refuse_part(reader, json, "");
}

/* ---- pre-tokenizers ---- */

static enum doppel_status put_metaspace(const struct step_reader *reader, const json_t *json)
{
    const json_t *sign = json_object_get(json, "replacement");
    const char *scheme = json_string_value(json_object_get(json, "prepend_scheme"));
    const json_t *old = json_object_get(json, "add_prefix_space");
    struct text_step step = {.kind = STEP_METASPACE,
                             .content = json_string_value(sign),
                             .content_size = (uint32_t)json_string_length(sign)};
    if (json_is_false(old) && scheme && strcmp(scheme, "never") != 0)
        return refuse_part(reader, json, "whose settings contradict each other");
    if (!scheme)
        scheme = json_is_false(old) ? "never" : "always";
    if (!step.content_size)
        return refuse_part(reader, json, "which lacks its sign");
    if (strcmp(scheme, "always") == 0)
        step.flags |= METASPACE_ALWAYS;
    else if (strcmp(scheme, "first") == 0)
        step.flags |= METASPACE_FIRST;
    else if (strcmp(scheme, "never") != 0)
        return refuse_part(reader, json, scheme);
    step.flags |= flag_of(json, "split", true) ? METASPACE_SPLIT : 0;
    return append_text_step(reader, step);
}

static enum doppel_status put_punctuation(const struct step_reader *reader, const json_t *json)
{
    const char *behavior = json_string_value(json_object_get(json, "behavior"));
    if (behavior && strcmp(behavior, "Isolated") != 0)
        return refuse_part(reader, json, behavior);
    return append_text_step(reader, (struct text_step){.kind = STEP_SPLIT_PUNCTUATION});
}

static enum doppel_status put_digits(const struct step_reader *reader, const json_t *json)
{
    bool alone = flag_of(json, "individual_digits", false);
    return append_text_step(
        reader, (struct text_step){.kind = STEP_SPLIT_DIGITS, .flags = alone ? DIGITS_ALONE : 0});
}

static const struct {
    const char *type;
    enum step_kind kind;
    put_one *put;
} pre_tokenizers[] = {
    {"BertPreTokenizer", STEP_SPLIT_BERT, NULL},
    {"WhitespaceSplit", STEP_SPLIT_SPACES, NULL},
    {"Whitespace", STEP_SPLIT_WORDS, NULL},
    {"Punctuation", STEP_SPLIT_PUNCTUATION, put_punctuation},
    {"Digits", STEP_SPLIT_DIGITS, put_digits},
    {"Metaspace", STEP_METASPACE, put_metaspace},
};

static enum doppel_status put_pre_tokenizer(const struct step_reader *reader, const json_t *json)
{
    for (size_t i = 0; i < sizeof pre_tokenizers / sizeof *pre_tokenizers; i++) {
        if (strcmp(type_of(json), pre_tokenizers[i].type) != 0)
            continue;
        return pre_tokenizers[i].put
                   ? pre_tokenizers[i].put(reader, json)
                   : append_text_step(reader, (struct text_step){.kind = pre_tokenizers[i].kind});
    }
    return refuse_part(reader, json, "");
}

/* ---- sequences ---- */

static enum doppel_status read_steps_of(const struct step_reader *reader, const json_t *json,
                                        unsigned depth)
{
    const json_t *members = NULL;
    enum doppel_status status = DOPPEL_OK;
    if (!json || json_is_null(json))
        return DOPPEL_OK;
    if (strcmp(type_of(json), "Sequence") != 0)
        return reader->splits ? put_pre_tokenizer(reader, json) : put_normalizer(reader, json);
    members = json_object_get(json, reader->splits ? "pretokenizers" : "normalizers");
    if (!json_is_array(members) || depth == MAX_DEPTH)
        return refuse_part(reader, json, "so deep, or without members");
    for (size_t i = 0; i < json_array_size(members); i++)
        TRY(read_steps_of(reader, json_array_get(members, i), depth + 1));
done:
    return status;
}

enum doppel_status read_normalizer(const json_t *json, const char *path, struct model_source *out,
                                   struct doppel_error *error)
{
    struct step_reader reader = {path, "normalizer", out, error, false};
    return read_steps_of(&reader, json, 0);
}

enum doppel_status read_pre_tokenizer(const json_t *json, const char *path,
                                      struct model_source *out, struct doppel_error *error)
{
    struct step_reader reader = {path, "pre_tokenizer", out, error, true};
    return read_steps_of(&reader, json, 0);
}
