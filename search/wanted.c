/* Which items of a library are searched. */
#include "search/wanted.h"

#include "compare/video.h"

/* Without videos among the kinds, those of the library may be wanted for their audio. */
bool search_wants(const struct doppel_search_options *options, const struct doppel_record *record)
{
    uint64_t versions = 0;
    const struct doppel_scheme *recordings =
        doppel_compare_scheme(&options->compare, DOPPEL_KIND_AUDIO);
    bool by_audio =
        options->audio_of_videos && recordings && recordings->id == DOPPEL_SCHEME_PEAKS32;
    return doppel_record_has_scheme(record, doppel_compare_scheme(&options->compare, record->kind),
                                    &versions) ||
           (by_audio && is_video(record));
}

bool search_may_find(const struct doppel_search_options *options, struct doppel_library *library,
                     uint64_t id)
{
    uint64_t leader;
    return !options->representatives || doppel_library_leader(library, id, &leader, NULL) ||
           leader == id;
}

enum doppel_kind search_kind_of(const struct doppel_search_options *options,
                                struct doppel_library *library, uint64_t id)
{
    struct doppel_item item;
    if (!search_may_find(options, library, id) ||
        doppel_library_get(library, id, false, &item, NULL))
        return DOPPEL_KIND_UNKNOWN;
    enum doppel_kind kind =
        search_wants(options, &item.record) ? item.record.kind : DOPPEL_KIND_UNKNOWN;
    doppel_item_free(&item);
    return kind;
}

enum doppel_status search_finds_bytes_of(const struct doppel_search_options *options,
                                         struct doppel_library *library, uint64_t id, bool *out,
                                         struct doppel_error *error)
{
    struct doppel_item item;
    enum doppel_status status = doppel_library_get(library, id, false, &item, error);
    if (status)
        return status;
    *out = search_wants(options, &item.record) ||
           (item.record.scheme == DOPPEL_SCHEME_NONE && doppel_item_has_file(&item));
    doppel_item_free(&item);
    return DOPPEL_OK;
}
