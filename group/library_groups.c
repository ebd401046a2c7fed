/* The groups of duplicates among the items of a library. */
#include <doppel/group.h>

#include <stdlib.h>
#include <string.h>

#include "compare/video.h"
#include "core/try.h"
#include "group/grouping.h"
#include "group/marks.h"
#include "group/member_rules.h"
#include "group/record_groups.h"

enum { KINDS = DOPPEL_KIND_VIDEO + 1 };

struct library_grouping {
    struct doppel_run *run;
    struct doppel_library *library;
    const struct doppel_group_options *options;
    const struct group_receiver *receiver;
    struct manual_labels labels;
    struct file_names names; /* of the group in hand */
    struct met_rules met;
    bool has_sources; /* whose authority counts */
    struct grouping_options kinds[KINDS];
    struct grouping *by_kind[KINDS]; /* UNKNOWN: of files of which nothing is known but their bytes;
                                        NULL: not wanted */
    struct doppel_library_pairs pairs; /* of images */
    struct doppel_error *error;
    enum doppel_status status;
    uint64_t others; /* items of another version */
};

/* The item, with what was computed of it: where that is nothing, of another one with its bytes.
 * @param out given (doppel_item_free) */
static enum doppel_status get_computed(struct library_grouping *grouping, uint64_t id,
                                       struct doppel_item *out, struct doppel_error *error)
{
    struct doppel_item item;
    uint64_t same = id;
    enum doppel_status status;
    TRY(doppel_library_get(grouping->library, id, true, &item, error));
    if (item.record.scheme == DOPPEL_SCHEME_NONE &&
        !doppel_library_by_digest(grouping->library, &item.record.digest, &same, NULL) &&
        same != id) {
        doppel_item_free(&item);
        TRY(doppel_library_get(grouping->library, same, true, &item, error));
    }
    *out = item;
done:
    return status;
}

/* Shingles that are kept are of the text as it was when it was added. */
static bool load_item_text(void *context, const struct grouping_item *entry, struct text_view *out)
{
    struct library_grouping *grouping = context;
    struct doppel_item item;
    if (get_computed(grouping, entry->id, &item, NULL))
        return false;
    enum doppel_status status =
        text_view_load(&item.record, &grouping->options->compare.text, out, NULL);
    out->kept = status == DOPPEL_OK;
    doppel_item_free(&item);
    if (status == DOPPEL_E_MEMORY)
        grouping->status =
            doppel_fail(grouping->error, status, "no memory for a text of the library");
    return status == DOPPEL_OK;
}

static enum doppel_status add_text_item(struct library_grouping *grouping,
                                        const struct grouping_item *entry)
{
    struct text_view view;
    if (!load_item_text(grouping, entry, &view)) {
        enum doppel_status unread =
            grouping->status ? grouping->status
                             : doppel_library_read_failure(grouping->library, grouping->error);
        if (unread)
            return unread;
        doppel_run_fail_input(grouping->run, entry->path,
                              "what the library keeps of it is damaged");
        return DOPPEL_OK;
    }
    enum doppel_status status =
        grouping_add_text(grouping->by_kind[DOPPEL_KIND_TEXT], entry, &view, grouping->error);
    text_view_free(&view);
    return status;
}

/* A recording or a video, with what was computed of it. */
static enum doppel_status add_timed(struct library_grouping *grouping, struct grouping_item *entry)
{
    struct doppel_item item;
    enum doppel_status status = get_computed(grouping, entry->id, &item, grouping->error);
    if (status)
        return status;
    status = item.record.kind == DOPPEL_KIND_AUDIO
                 ? grouping_add_audio(grouping->by_kind[DOPPEL_KIND_AUDIO], entry, &item.record,
                                      grouping->error)
                 : grouping_add_video(grouping->by_kind[DOPPEL_KIND_VIDEO], entry, &item.record,
                                      grouping->error);
    doppel_item_free(&item);
    return status;
}

/* A library keeps no cells. */
static bool load_item_video(void *context, const struct grouping_item *entry,
                            struct doppel_video_track *out)
{
    struct library_grouping *grouping = context;
    struct doppel_item item;
    if (get_computed(grouping, entry->id, &item, NULL))
        return false;
    bool good = video_read(&item.record, DOPPEL_VIDEO_CODES, out);
    doppel_item_free(&item);
    return good;
}

/* Add what the library keeps of an item beside what was computed of it. */
static enum doppel_status add_library_state(struct library_grouping *grouping,
                                            struct grouping_item *entry)
{
    struct doppel_library *library = grouping->library;
    enum doppel_list_state state;
    uint64_t leader, chosen = 0;
    struct doppel_metadata about = {0};
    enum doppel_status status;
    TRY(doppel_library_state_of(library, entry->id, &state, grouping->error));
    entry->benign = state == DOPPEL_LIST_BENIGN;
    TRY(doppel_library_leader(library, entry->id, &leader, grouping->error));
    TRY(doppel_library_get_canonical(library, leader, &chosen, grouping->error));
    entry->chosen = chosen == entry->id;
    entry->has_authority = grouping->has_sources;
    if (grouping->has_sources) {
        TRY(doppel_library_get_metadata(library, entry->id, &about, grouping->error));
        TRY(doppel_library_authority(library, about.source, &entry->authority, grouping->error));
    }
done:
    doppel_metadata_free(&about);
    return status;
}

static bool is_disabled(const struct library_grouping *grouping, uint64_t id)
{
    enum doppel_list_state state;
    return doppel_library_has_states(grouping->library) &&
           !doppel_library_state_of(grouping->library, id, &state, NULL) &&
           state == DOPPEL_LIST_DISABLED;
}

/* The keypoints of an image or a video that was added. */
static enum doppel_status add_points_of(struct library_grouping *grouping,
                                        const struct grouping_item *entry)
{
    struct doppel_item item;
    enum doppel_status status = get_computed(grouping, entry->id, &item, grouping->error);
    if (status)
        return status;
    struct grouping *images = grouping->by_kind[DOPPEL_KIND_IMAGE];
    status = grouping_find_parts(images, &item.record, grouping->error);
    if (!status)
        status = grouping_add_parts(images, &item.record, grouping->error);
    doppel_item_free(&item);
    return status;
}

static enum doppel_status add_entry(struct library_grouping *grouping,
                                    const struct doppel_record *record, struct grouping_item *entry)
{
    if (record->scheme == DOPPEL_SCHEME_NONE)
        return grouping_add(grouping->by_kind[DOPPEL_KIND_UNKNOWN], entry, NULL, grouping->error);
    if (record->kind == DOPPEL_KIND_TEXT)
        return add_text_item(grouping, entry);
    const bool by_parts =
        record->scheme == DOPPEL_SCHEME_LOCAL || record->scheme == DOPPEL_SCHEME_FRAMES128;
    if (record->kind == DOPPEL_KIND_AUDIO || (record->kind == DOPPEL_KIND_VIDEO && !by_parts))
        return add_timed(grouping, entry);
    enum doppel_status status = grouping_add(grouping->by_kind[DOPPEL_KIND_IMAGE], entry,
                                             &record->fingerprint, grouping->error);
    return status || !by_parts ? status : add_points_of(grouping, entry);
}

/* Of a digest alone there is nothing to group. */
static bool item_is_wanted(struct library_grouping *grouping, const struct doppel_item *item,
                           const struct doppel_record *record)
{
    if (record->scheme == DOPPEL_SCHEME_NONE)
        return grouping->by_kind[DOPPEL_KIND_UNKNOWN] && doppel_item_has_file(item);
    return doppel_record_has_scheme(
        record, doppel_compare_scheme(&grouping->options->compare, record->kind),
        &grouping->others);
}

/* Add an item with what was computed of it, or of the item that `source_id` says. @return whether
 * to go on */
static bool add_item(struct library_grouping *grouping, const struct doppel_item *item,
                     const struct doppel_record *record, uint64_t source_id)
{
    if (!item_is_wanted(grouping, item, record))
        return true;
    const struct doppel_item_set *wanted = grouping->options->wanted;
    if ((wanted && !doppel_item_set_has(wanted, item->id)) || is_disabled(grouping, item->id))
        return !doppel_run_cancelled(grouping->run);
    bool on_disk = grouping->options->on_disk;
    if (on_disk &&
        !doppel_item_has_file(item)) /* nor is anything done about what is near it alone */
        return true;
    char *name = doppel_library_item_name(grouping->library, item);
    struct grouping_item entry = {
        .path = name,
        .no_file = !doppel_item_has_file(item),
        .digest = record->digest,
        .pixels = record->pixels,
        .size = item->stamp.size,
        .mtime_ns = item->stamp.mtime_ns,
        .id = item->id,
        .source_id = source_id,
        .width = record->width,
        .height = record->height,
        .quality = record->quality,
    };
    if (on_disk) {
        entry.device = item->stamp.device;
        entry.inode = item->stamp.inode;
    }
    grouping->status = name ? add_library_state(grouping, &entry)
                            : doppel_fail(grouping->error, DOPPEL_E_MEMORY, "no memory for a name");
    if (name)
        met_rules_note(&grouping->met, &entry.digest, name);
    if (!grouping->status)
        grouping->status = add_entry(grouping, record, &entry);
    if (grouping->status == DOPPEL_E_CORRUPT) { /* of this one; the others go on */
        doppel_run_failed(grouping->run, name, grouping->error);
        grouping->status = DOPPEL_OK;
    }
    free(name);
    return grouping->status == DOPPEL_OK && !doppel_run_cancelled(grouping->run);
}

static bool take_library_item(void *context, const struct doppel_item *item)
{
    struct library_grouping *grouping = context;
    struct doppel_item same;
    uint64_t others = 0;
    if (item->record.error.status) {
        doppel_run_failed(grouping->run, item->path, &item->record.error);
        return !doppel_run_cancelled(grouping->run);
    }
    if (item->record.scheme != DOPPEL_SCHEME_NONE || !doppel_item_has_file(item) ||
        get_computed(grouping, item->id, &same, NULL))
        return add_item(grouping, item, &item->record, item->id);
    bool computed = doppel_record_has_scheme(
        &same.record, doppel_compare_scheme(&grouping->options->compare, same.record.kind),
        &others);
    bool go_on = add_item(grouping, item, computed ? &same.record : &item->record, same.id);
    doppel_item_free(&same);
    return go_on;
}

static enum doppel_status load_item_features(void *context, const struct grouping_item *entry,
                                             struct doppel_image_features *out)
{
    struct library_grouping *grouping = context;
    struct doppel_item item;
    enum doppel_status status = get_computed(grouping, entry->id, &item, NULL);
    if (status)
        return status;
    bool good = doppel_record_image_features(&item.record, out);
    if (good)
        item.record.fingerprint = (struct doppel_fingerprint){0}; /* it is the features' now */
    else
        *out = (struct doppel_image_features){0};
    doppel_item_free(&item);
    return good ? DOPPEL_OK : DOPPEL_E_NOT_FOUND;
}

/* Add what the library keeps of a member. @param out given (doppel_metadata_free) */
static void add_metadata(struct library_grouping *grouping, struct doppel_group_member *member,
                         struct doppel_metadata *out)
{
    if (doppel_library_get_metadata(grouping->library, member->id, out, NULL)) {
        *out = (struct doppel_metadata){0};
        return;
    }
    member->lists = (const char *const *)out->lists;
    member->list_count = out->list_count;
    member->labels = (const char *const *)out->labels;
    member->label_count = out->label_count;
}

/* Add lists and labels of the members. */
static enum doppel_status visit_with_metadata(void *context, const struct doppel_group *group,
                                              struct doppel_error *error)
{
    struct library_grouping *grouping = context;
    struct doppel_metadata *metadata = calloc(group->count, sizeof *metadata);
    struct doppel_group_member *members = calloc(group->count, sizeof *members);
    enum doppel_status status = DOPPEL_OK;
    if (!metadata || !members)
        status = doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a group");
    for (size_t i = 0; i < group->count && !status; i++) {
        members[i] = group->members[i];
        add_metadata(grouping, &members[i], &metadata[i]);
    }
    struct doppel_group with_metadata = *group;
    with_metadata.members = members;
    if (!status)
        status = grouping->receiver->visit(grouping->receiver->context, &with_metadata, error);
    for (size_t i = 0; i < group->count && metadata; i++)
        doppel_metadata_free(&metadata[i]);
    free(metadata);
    free(members);
    return status;
}

static bool note_authority(void *context, const char *pattern, int64_t authority)
{
    struct library_grouping *grouping = context;
    (void)pattern;
    grouping->has_sources |= authority != 0;
    return !grouping->has_sources;
}

/* Load what the library keeps of labels, of sources, and of which members are to be kept. */
static enum doppel_status load_policy(struct library_grouping *grouping,
                                      struct doppel_keep_policy *out)
{
    enum doppel_status status =
        manual_labels_load(&grouping->labels, grouping->library, grouping->error);
    if (status == DOPPEL_OK && grouping->options->marks)
        status = manual_labels_merge(&grouping->labels, marks_labels(grouping->options->marks),
                                     grouping->error);
    if (status == DOPPEL_OK)
        status = doppel_library_each_source(grouping->library, note_authority, grouping,
                                            grouping->error);
    if (status == DOPPEL_E_CANCELLED)
        status = DOPPEL_OK;
    *out = grouping->options->keep;
    if (status == DOPPEL_OK && !grouping->options->keep_given)
        status = doppel_library_policy(grouping->library, out, grouping->error);
    return status;
}

static bool wants_kind(const struct library_grouping *grouping, enum doppel_kind kind)
{
    const struct doppel_compare_options *compare = &grouping->options->compare;
    if (kind == DOPPEL_KIND_IMAGE && groups_videos_by_parts(grouping->options))
        return true;
    return kind == DOPPEL_KIND_UNKNOWN ? grouping->options->bytes_alone
                                       : doppel_compare_scheme(compare, kind) != NULL;
}

static enum doppel_status make_library_groupings(struct library_grouping *grouping)
{
    struct doppel_keep_policy policy;
    enum doppel_status status = load_policy(grouping, &policy);
    for (int kind = DOPPEL_KIND_UNKNOWN; kind <= DOPPEL_KIND_VIDEO && !status; kind++) {
        grouping->kinds[kind] = (struct grouping_options){
            .group = grouping->options,
            .run = grouping->run,
            .kind = (enum doppel_kind)kind,
            .features = load_item_features,
            .text = load_item_text,
            .video = load_item_video,
            .context = grouping,
            .labels = &grouping->labels,
            .names = &grouping->names,
            .policy = policy,
        };
        if (wants_kind(grouping, (enum doppel_kind)kind))
            status =
                grouping_new(&grouping->kinds[kind], &grouping->by_kind[kind], grouping->error);
    }
    return status;
}

/* Of images each is compared with all of the library, wherever groups are wanted. */
static enum doppel_status count_compared(struct library_grouping *grouping)
{
    const struct doppel_scheme *scheme =
        doppel_compare_scheme(&grouping->options->compare, DOPPEL_KIND_IMAGE);
    uint64_t *out = &grouping->kinds[DOPPEL_KIND_IMAGE].compared;
    struct doppel_scheme_count count = {0};
    enum doppel_status status = DOPPEL_OK;
    *out = grouping->options->compare.images_compared;
    if (*out)
        return DOPPEL_OK;
    if (scheme)
        status = doppel_library_count_scheme(grouping->library, scheme, &count, grouping->error);
    *out = count.all;
    return status || count.all <= DOPPEL_SCHEME_COUNT_MAX
               ? status
               : doppel_library_count_images(grouping->library, out, grouping->error);
}

/* ---- the groups ---- */

static bool wants_records(const struct library_grouping *grouping)
{
    const struct doppel_group_options *options = grouping->options;
    const struct doppel_scheme *scheme = doppel_compare_scheme(&options->compare, DOPPEL_KIND_TEXT);
    struct doppel_text_options text;
    if (options->on_disk || options->records == DOPPEL_GROUP_NO_RECORDS || !scheme ||
        doppel_library_text_options(grouping->library, &text, NULL, NULL))
        return false;
    return options->records == DOPPEL_GROUP_ALL_RECORDS ||
           scheme->id == (text.lanes == 256 ? DOPPEL_SCHEME_MINHASH256 : DOPPEL_SCHEME_MINHASH128);
}

static void notice_other_versions(const struct library_grouping *grouping)
{
    bool one = grouping->others == 1;
    if (grouping->others)
        doppel_run_notice(
            grouping->run,
            "%llu item%s of another version of the scheme, or of other options, left out; "
            "'doppel add --refresh' recomputes %s",
            (unsigned long long)grouping->others, one ? "" : "s", one ? "it" : "them");
}

/* ---- the items ---- */

static bool is_grouping_cancelled(void *context)
{
    const struct library_grouping *grouping = context;
    return doppel_run_cancelled(grouping->run);
}

static void show_comparing(void *context, uint64_t images)
{
    const struct library_grouping *grouping = context;
    if (images)
        doppel_run_begin(grouping->run, "pictures compared", images);
    else
        doppel_run_end(grouping->run);
}

static int compare_named_digests(const void *left, const void *right)
{
    return memcmp(left, right, sizeof(struct doppel_digest));
}

/* The contents that labels name. @param out given (free), in order; NULL without memory */
static struct doppel_digest *list_labelled(const struct manual_labels *labels)
{
    const size_t count = labels->items.count;
    struct doppel_digest *out = calloc(2 * count + 1, sizeof *out);
    for (size_t i = 0; out && i < count; i++) {
        out[2 * i] = labels->items.items[i].a;
        out[2 * i + 1] = labels->items.items[i].b;
    }
    if (out)
        qsort(out, 2 * count, sizeof *out, compare_named_digests);
    return out;
}

/* Images that can be in no group are not even read, unless rules are to be held against all. */
static enum doppel_status add_paired_items(struct library_grouping *grouping,
                                           const struct doppel_scheme *scheme)
{
    const struct doppel_group_options *options = grouping->options;
    struct doppel_match_options match = match_options_from(&options->compare);
    match.compared = grouping->kinds[DOPPEL_KIND_IMAGE].compared;
    struct doppel_digest *labelled = list_labelled(&grouping->labels);
    const struct doppel_pairs_request request = {.scheme = scheme,
                                                 .options = &match,
                                                 .wanted = options->wanted,
                                                 .with_file = options->on_disk,
                                                 .every = options->marks || options->protect.count,
                                                 .named = labelled,
                                                 .named_count = 2 * grouping->labels.items.count,
                                                 .threads = doppel_run_jobs(grouping->run),
                                                 .cancelled = is_grouping_cancelled,
                                                 .comparing = show_comparing,
                                                 .context = grouping};
    enum doppel_status status =
        labelled ? doppel_library_each_paired(grouping->library, &request, take_library_item,
                                              grouping, &grouping->pairs, grouping->error)
                 : doppel_fail(grouping->error, DOPPEL_E_MEMORY, "no memory for the labels");
    free(labelled);
    if (status)
        return status;
    if (grouping->pairs.known)
        grouping_set_pairs(grouping->by_kind[DOPPEL_KIND_IMAGE], &grouping->pairs);
    grouping->others += grouping->pairs.versions;
    if (grouping->pairs.not_kept.status)
        doppel_run_notice(grouping->run, "%s", grouping->pairs.not_kept.message);
    return DOPPEL_OK;
}

static enum doppel_status add_items(struct library_grouping *grouping)
{
    const struct doppel_scheme *scheme =
        doppel_compare_scheme(&grouping->options->compare, DOPPEL_KIND_IMAGE);
    const bool paired = scheme && scheme->id != DOPPEL_SCHEME_LOCAL;
    enum doppel_status status = paired ? add_paired_items(grouping, scheme)
                                       : doppel_library_each(grouping->library, take_library_item,
                                                             grouping, grouping->error);
    notice_other_versions(grouping);
    met_rules_report(&grouping->met, false, grouping->run);
    return grouping->status ? grouping->status : status;
}

/* ---- the groups ---- */

static enum doppel_status visit_library_groups(struct library_grouping *grouping,
                                               struct doppel_group_counts *counts)
{
    struct grouping *const groupings[] = {
        grouping->by_kind[DOPPEL_KIND_IMAGE], grouping->by_kind[DOPPEL_KIND_TEXT],
        grouping->by_kind[DOPPEL_KIND_AUDIO], grouping->by_kind[DOPPEL_KIND_VIDEO],
        grouping->by_kind[DOPPEL_KIND_UNKNOWN]};
    const struct group_receiver with_metadata = {visit_with_metadata, grouping};
    struct record_groups records = {grouping->run, grouping->library, grouping->options->wanted,
                                    &grouping->labels, &grouping->options->compare};
    const struct linked_groups linked = {record_groups_visit, &records};
    const struct all_groups all = {groupings, sizeof groupings / sizeof *groupings,
                                   wants_records(grouping) ? &linked : NULL, grouping->run};
    groupings_count(&all, counts);
    counts->items[DOPPEL_KIND_IMAGE] += grouping->pairs.passed_over;
    return groupings_visit(&all, grouping->options->metadata ? &with_metadata : grouping->receiver,
                           grouping->error);
}

enum doppel_status doppel_library_groups(struct doppel_run *run, struct doppel_library *library,
                                         const struct doppel_group_options *options,
                                         doppel_group_visitor *visit, void *context,
                                         struct doppel_group_counts *counts,
                                         struct doppel_error *error)
{
    const struct group_receiver receiver = {visit, context};
    const struct doppel_group_options defaults = doppel_group_options_default();
    struct doppel_group_counts unwanted;
    struct doppel_error ignored;
    struct library_grouping grouping = {.run = run,
                                        .library = library,
                                        .options = options ? options : &defaults,
                                        .receiver = &receiver,
                                        .error = error ? error : &ignored};
    counts = counts ? counts : &unwanted;
    *counts = (struct doppel_group_counts){0};
    enum doppel_status status;
    (void)doppel_library_read_failure(library, NULL); /* of what came before */
    TRY(met_rules_init(grouping.options, &grouping.met, grouping.error));
    TRY(check_keep_from(&grouping.options->keep_from, grouping.error));
    TRY(make_library_groupings(&grouping));
    TRY(count_compared(&grouping));
    TRY(add_items(&grouping));
    TRY(visit_library_groups(&grouping, counts));
    TRY(grouping.status);
    TRY(doppel_library_read_failure(library, grouping.error)); /* then something may be left out */
done:
    met_rules_free(&grouping.met);
    doppel_library_pairs_free(&grouping.pairs);
    manual_labels_free(&grouping.labels);
    file_names_free(&grouping.names);
    for (size_t i = 0; i < KINDS; i++)
        grouping_free(grouping.by_kind[i]);
    return status;
}
