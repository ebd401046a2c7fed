/* What is carried, read from JSON: it may come from an unrelated item. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/try.h"
#include "exchange/model_read.h"
#include "exchange/model_write.h"

/* ---- words ---- */

static const char *state_word(int number)
{
    return doppel_list_state_name((enum doppel_list_state)number);
}

static const char *mark_word(int number)
{
    static const char *const words[] = {"", "same", "distinct"};
    return words[number];
}

/* ---- what was set by people ---- */

static enum doppel_status read_policy_line(struct fields *fields, const struct exchange_sink *sink)
{
    struct doppel_keep_policy policy;
    char text[256] = "";
    char **names = NULL;
    size_t count = 0, used = 0;
    field_names(fields, "policy", &names, &count);
    for (size_t i = 0; i < count; i++) {
        size_t length = strlen(names[i]);
        if (used + length + 2 < sizeof text)
            used += (size_t)sprintf(text + used, "%s%s", i ? "," : "", names[i]);
        free(names[i]);
    }
    free(names);
    enum doppel_status status;
    TRY(fields->status);
    TRY(doppel_keep_policy_parse(text, &policy, fields->error));
    TRY(sink->policy(sink->context, &policy, fields->error));
done:
    return status;
}

static enum doppel_status read_source_line(struct fields *fields, const struct exchange_sink *sink)
{
    char *pattern = NULL;
    int64_t authority = 0;
    field_bytes(fields, "source_pattern", &pattern);
    field_number(fields, "authority", INT64_MIN, INT64_MAX, &authority);
    enum doppel_status status = fields->status;
    if (!status)
        status = sink->source(sink->context, pattern ? pattern : "", authority, fields->error);
    free(pattern);
    return status;
}

static enum doppel_status read_list_line(struct fields *fields, const struct exchange_sink *sink)
{
    char *name = NULL;
    int state = DOPPEL_LIST_ACTIVE;
    int64_t distance = -1, flood = 0;
    double similarity = -1;
    field_bytes(fields, "list", &name);
    field_word(fields, "state", state_word, DOPPEL_LIST_BENIGN, &state);
    field_number(fields, "max_distance", 0, UINT16_MAX, &distance);
    field_real(fields, "min_similarity", 0, 1, &similarity);
    field_number(fields, "flood", 0, UINT32_MAX, &flood);
    const struct doppel_list list = {.name = name ? name : "",
                                     .state = (enum doppel_list_state)state,
                                     .rule = {.limit_kind = distance >= 0 ? DOPPEL_LIMIT_DISTANCE
                                                            : similarity >= 0
                                                                ? DOPPEL_LIMIT_SIMILARITY
                                                                : DOPPEL_LIMIT_NONE,
                                              .limit = distance >= 0     ? (double)distance
                                                       : similarity >= 0 ? similarity
                                                                         : 0,
                                              .flood = (uint32_t)flood}};
    enum doppel_status status = fields->status;
    if (!status)
        status = sink->list(sink->context, &list, fields->error);
    free(name);
    return status;
}

static enum doppel_status read_text_options(struct fields *fields, const struct exchange_sink *sink)
{
    struct doppel_text_options options = doppel_text_options_default();
    struct doppel_text_limits limits = doppel_text_limits_default();
    struct fields inner = {json_object_get(fields->object, "text_options"), fields->error, 0};
    int64_t format = options.format, unit = options.unit, shingle = options.shingle;
    int64_t min_words = options.min_words, lanes = options.lanes;
    field_number(&inner, "format", 0, 3, &format);
    field_bool(&inner, "nfkc", &options.nfkc);
    field_bool(&inner, "fold_case", &options.fold_case);
    field_bool(&inner, "drop_punctuation", &options.drop_punctuation);
    field_number(&inner, "unit", 0, DOPPEL_TEXT_BY_SCRIPT, &unit);
    field_number(&inner, "shingle", 1, DOPPEL_TEXT_MAX_SHINGLE, &shingle);
    field_number(&inner, "min_words", 0, UINT32_MAX, &min_words);
    field_number(&inner, "lanes", 128, 256, &lanes);
    field_real(&inner, "min_similarity", 0, 1, &limits.min_similarity);
    field_real(&inner, "min_containment", 0, 1, &limits.min_containment);
    if (lanes != 128 && lanes != 256)
        field_is_wrong(&inner, "lanes", "128 or 256");
    options.format = (enum doppel_text_format)format;
    options.unit = (enum doppel_text_unit)unit;
    options.shingle = (uint32_t)shingle;
    options.min_words = (uint32_t)min_words;
    options.lanes = (uint32_t)lanes;
    return inner.status ? inner.status
                        : sink->text_options(sink->context, &options, &limits, fields->error);
}

static enum doppel_status read_mark_line(struct fields *fields, const struct exchange_sink *sink)
{
    struct doppel_mark mark = {0};
    char *note = NULL;
    int word = DOPPEL_LABEL_NONE;
    field_word(fields, "mark", mark_word, DOPPEL_LABEL_DISTINCT, &word);
    field_digest(fields, "a", &mark.a);
    field_digest(fields, "b", &mark.b);
    field_number(fields, "time_ns", INT64_MIN, INT64_MAX, &mark.time_ns);
    field_bytes(fields, "note", &note);
    mark.word = (enum doppel_manual_label)word;
    mark.note = note;
    enum doppel_status status = fields->status;
    if (!status && mark.word != DOPPEL_LABEL_NONE)
        status = sink->mark(sink->context, &mark, fields->error);
    free(note);
    return status;
}

static enum doppel_status check_head(struct fields *fields, const struct exchange_sink *sink)
{
    (void)sink;
    int64_t format = 0;
    field_number(fields, "doppel_export", 0, INT64_MAX, &format);
    if (!fields->status && format > EXPORT_FORMAT)
        return doppel_fail(fields->error, DOPPEL_E_VERSION,
                           "the export is of format %lld; this version of doppel reads up to %d",
                           (long long)format, EXPORT_FORMAT);
    return fields->status;
}

enum doppel_status exchange_json_line(const json_t *object, const struct exchange_sink *sink,
                                      struct doppel_error *error)
{
    static const struct type {
        const char *key;
        enum doppel_status (*read)(struct fields *fields, const struct exchange_sink *sink);
    } types[] = {
        {"item", read_item},
        {"text", read_text},
        {"log", NULL},
        {"mark", read_mark_line},
        {"list", read_list_line},
        {"source_pattern", read_source_line},
        {"policy", read_policy_line},
        {"exact", read_item},
        {"text_options", read_text_options},
        {"doppel_export", check_head},
        {"scheme", read_item},
    };
    struct fields fields = {object, error, DOPPEL_OK};
    if (!json_is_object(object))
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "it is no object in JSON");
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (json_object_get(object, types[i].key))
            return types[i].read ? types[i].read(&fields, sink) : DOPPEL_OK;
    return doppel_fail(error, DOPPEL_E_ARGUMENT,
                       "it is no line of an export: there is no item, text, exact, scheme, list, "
                       "source_pattern, policy, mark, log or text_options in it");
}
