/* What a command line says of items, told to the library. */
#include "tools/args/metadata_options.h"

#include <jansson.h>

#include "core/text/printable.h"

bool metadata_is_given(const struct settings *settings)
{
    return settings->lists.count || settings->labels.count || settings->external_id ||
           settings->source || settings->meta;
}

static enum doppel_status check_names(const struct strings *names, const char *option,
                                      struct doppel_error *error)
{
    for (size_t i = 0; i < names->count; i++)
        if (!*names->items[i])
            return doppel_fail(error, DOPPEL_E_ARGUMENT, "'--%s' takes a name, which is not empty",
                               option);
        else if (!utf8_valid(names->items[i]))
            return doppel_fail(error, DOPPEL_E_ARGUMENT, "'--%s' takes a name in UTF-8", option);
    return DOPPEL_OK;
}

enum doppel_status about_check(const struct settings *settings, struct doppel_error *error)
{
    enum doppel_status status = check_names(&settings->lists, "list", error);
    if (!status)
        status = check_names(&settings->labels, "label", error);
    if (status || !settings->meta)
        return status;
    json_t *meta = json_loads(settings->meta, 0, NULL);
    if (!json_is_object(meta))
        status = doppel_fail(error, DOPPEL_E_ARGUMENT,
                             "'--meta' takes an object in JSON such as '{\"place\":\"Pune\"}', not "
                             "'%.100s'",
                             settings->meta);
    json_decref(meta);
    return status;
}

struct doppel_metadata about_of(const struct settings *settings)
{
    return (struct doppel_metadata){
        .source = (char *)settings->source,
        .external_id = (char *)settings->external_id,
        .meta = (char *)settings->meta,
        .labels = (char **)settings->labels.items,
        .label_count = settings->labels.count,
        .lists = (char **)settings->lists.items,
        .list_count = settings->lists.count,
    };
}

enum doppel_status about_tell(const struct settings *settings, struct doppel_library *library,
                              uint64_t id, struct doppel_error *error)
{
    const struct doppel_metadata about = about_of(settings);
    return metadata_is_given(settings) ? doppel_library_set_metadata(library, id, &about, error)
                                       : DOPPEL_OK;
}
