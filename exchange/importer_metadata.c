/* What was set in another library, taken into this one: what this one says itself stays. */
#include <string.h>

#include "core/try.h"
#include "exchange/importer_internal.h"

/* ---- what the library says itself ---- */

static bool learn_source(void *context, const char *pattern, int64_t authority)
{
    struct importer *importer = context;
    json_object_set_new(importer->sources, pattern, json_integer(authority));
    return true;
}

static bool learn_list(void *context, const struct doppel_list *list)
{
    struct importer *importer = context;
    json_object_set_new(importer->lists, list->name, json_integer(list->state));
    return true;
}

enum doppel_status importer_learn(struct importer *importer, struct doppel_error *error)
{
    importer->sources = json_object();
    importer->lists = json_object();
    enum doppel_status status = doppel_library_policy(importer->library, &importer->policy, error);
    if (!status)
        status = doppel_library_each_source(importer->library, learn_source, importer, error);
    if (!status || status == DOPPEL_E_CORRUPT)
        status = doppel_library_each_list(importer->library, learn_list, importer, error);
    return status == DOPPEL_E_CORRUPT ? DOPPEL_OK : status;
}

/* ---- taking ---- */

static bool same_policy(const struct doppel_keep_policy *a, const struct doppel_keep_policy *b)
{
    return a->count == b->count && memcmp(a->criteria, b->criteria, a->count) == 0;
}

enum doppel_status importer_take_policy(void *context, const struct doppel_keep_policy *policy,
                                        struct doppel_error *error)
{
    struct importer *importer = context;
    const struct doppel_keep_policy usual = doppel_keep_policy_default();
    if (same_policy(policy, &importer->policy) || same_policy(policy, &usual))
        return DOPPEL_OK;
    if (!same_policy(&importer->policy, &usual)) {
        importer->conflicts++;
        return DOPPEL_OK;
    }
    importer->policy = *policy;
    return doppel_library_set_policy(importer->library, policy, error);
}

enum doppel_status importer_take_source(void *context, const char *pattern, int64_t authority,
                                        struct doppel_error *error)
{
    struct importer *importer = context;
    const json_t *known = json_object_get(importer->sources, pattern);
    if (known) {
        importer->conflicts += json_integer_value(known) != authority;
        return DOPPEL_OK;
    }
    enum doppel_status status;
    TRY(doppel_library_set_source(importer->library, pattern, authority, error));
    json_object_set_new(importer->sources, pattern, json_integer(authority));
    TRY(importer_took(importer, 0, error));
done:
    return status;
}

enum doppel_status importer_take_list(void *context, const struct doppel_list *list,
                                      struct doppel_error *error)
{
    struct importer *importer = context;
    const json_t *known = json_object_get(importer->lists, list->name);
    if (known) {
        importer->conflicts += json_integer_value(known) != (json_int_t)list->state;
        return DOPPEL_OK;
    }
    enum doppel_status status;
    TRY(doppel_library_set_list(importer->library, list->name, list->state, error));
    if (list->rule.limit_kind || list->rule.flood)
        TRY(doppel_library_set_list_rule(importer->library, list->name, &list->rule, error));
    json_object_set_new(importer->lists, list->name, json_integer(list->state));
    TRY(importer_took(importer, 0, error));
done:
    return status;
}

enum doppel_status importer_take_mark(void *context, const struct doppel_mark *mark,
                                      struct doppel_error *error)
{
    struct importer *importer = context;
    enum doppel_manual_label word = DOPPEL_LABEL_NONE;
    if (memcmp(&mark->a, &mark->b, sizeof mark->a) == 0)
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "a word is about two contents, not one");
    enum doppel_status status = importer_write_codes(importer, error);
    if (!status)
        status = doppel_library_get_label(importer->library, &mark->a, &mark->b, &word, error);
    if (status)
        return status;
    if (word != DOPPEL_LABEL_NONE) {
        importer->conflicts += word != mark->word;
        return DOPPEL_OK;
    }
    status = doppel_library_mark(importer->library, &mark->a, &mark->b, NULL, mark->word,
                                 mark->note, error);
    return status ? status : importer_took(importer, 0, error);
}
