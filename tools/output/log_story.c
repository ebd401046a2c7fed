/* The story of an item: entries of the log as sentences. */
#include "tools/output/log_story.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "tools/memory.h"

enum { NAMED_FOLLOWERS = 10 };

/* ---- parts of a sentence ---- */

/* A string of the JSON of an entry; "" where there is none. `root` borrowed. */
static const char *detail_of(const json_t *root, const char *key)
{
    const char *text = json_string_value(json_object_get(root, key));
    return text ? text : "";
}

static void print_from(FILE *out, const struct doppel_log_entry *entry)
{
    if (*entry->name)
        fprintf(out, ": %s", entry->name);
    if (entry->source)
        fprintf(out, ", from %s", entry->source);
}

static void print_limit(FILE *out, const struct doppel_log_entry *entry)
{
    switch (entry->limit_kind) {
    case DOPPEL_LIMIT_DISTANCE:
        fprintf(out, ", where %.0f may", entry->limit);
        break;
    case DOPPEL_LIMIT_SIMILARITY:
        fprintf(out, ", where %.4g is enough", entry->limit);
        break;
    case DOPPEL_LIMIT_RATE:
        fprintf(out, ", where a chance of %.2g is allowed", entry->limit);
        break;
    case DOPPEL_LIMIT_NONE:
        break;
    }
}

/* Of texts the version has the options in it, if they are not the usual ones. */
static void print_scheme(FILE *out, const struct doppel_log_entry *entry)
{
    const struct doppel_scheme *scheme = doppel_scheme_by_id(entry->scheme);
    if (!entry->scheme) /* of bytes alone there is none */
        return;
    fprintf(out, " (%s", scheme ? scheme->name : "a scheme that is not known");
    if (scheme && scheme->kind == DOPPEL_KIND_TEXT && entry->version > UINT8_MAX)
        fputs(", with options of its own)", out);
    else
        fprintf(out, ", version %u)", entry->version);
}

/* "2 of 64 bits differ, where 10 may; similarity 0.97; unrelated ones match so by a chance of
 * 1e-9". */
static void print_story_match(FILE *out, const struct doppel_log_entry *entry)
{
    bool lanes =
        entry->scheme == DOPPEL_SCHEME_MINHASH128 || entry->scheme == DOPPEL_SCHEME_MINHASH256;
    bool limit_of_distance = entry->limit_kind == DOPPEL_LIMIT_DISTANCE;
    const char *between = ": ";
    if (entry->bits) {
        fprintf(out, "%s%u of %u %s differ", between, entry->distance, entry->bits,
                lanes ? "lanes" : "bits");
        between = "; ";
        if (limit_of_distance)
            print_limit(out, entry);
    }
    if (entry->similarity >= 0) {
        fprintf(out, "%ssimilarity %.4g", between, entry->similarity);
        between = "; ";
    }
    if (!limit_of_distance && entry->similarity >= 0 &&
        entry->limit_kind == DOPPEL_LIMIT_SIMILARITY)
        print_limit(out, entry);
    if (entry->false_positive_rate >= 0) {
        fprintf(out, "%sunrelated ones match so by a chance of %.2g", between,
                entry->false_positive_rate);
        if (entry->limit_kind == DOPPEL_LIMIT_RATE)
            print_limit(out, entry);
    }
    print_scheme(out, entry);
}

/* What is new all the same has something in common with another one. */
static void print_beside(FILE *out, const struct doppel_log_entry *entry, uint64_t id)
{
    const char *reason = entry->reason ? entry->reason : "";
    bool overlaps = strcmp(reason, "overlaps") == 0, contains = strcmp(reason, "contains") == 0;
    char item[32] = "this one";
    if (id != entry->of)
        snprintf(item, sizeof item, "item %" PRIu64, entry->of);
    fprintf(out, ", though it %s %s%s",
            overlaps   ? "shares a part with"
            : contains ? "contains"
                       : "matches",
            item, strcmp(reason, "benign") == 0 ? " (benign)" : "");
}

/* "came in, and was decided to be a duplicate", of another one than `id` who was. */
static void print_decision(FILE *out, const struct doppel_log_entry *entry, uint64_t id)
{
    const char *decision = doppel_decision_name((enum doppel_decision)entry->decision);
    bool noun = entry->decision != DOPPEL_DECISION_NEW &&
                entry->decision != DOPPEL_DECISION_TOO_SHORT &&
                entry->decision != DOPPEL_DECISION_UNREADABLE;
    if (id == entry->item)
        fputs("came in, and", out);
    else if (entry->item)
        fprintf(out, "item %" PRIu64, entry->item);
    else
        fputs("a record, which was not added,", out);
    fprintf(out, " was decided to be %s%s", noun ? "a " : "", decision);
}

/* How it is known; that the same bytes match needs no figures. */
static void print_why(FILE *out, const struct doppel_log_entry *entry, bool alone,
                      const json_t *detail)
{
    json_int_t same_as = json_integer_value(json_object_get(detail, "same_as"));
    const char *reason = entry->reason ? entry->reason : "";
    const char *decision = doppel_decision_name((enum doppel_decision)entry->decision);
    if (*reason && !alone && strcmp(reason, decision) != 0)
        fprintf(out, ", %s", reason);
    else if (*reason && !entry->of)
        fprintf(out, " (%s)", reason);
    if (same_as > 0)
        fprintf(out, " with item %" JSON_INTEGER_FORMAT, same_as);
    bool all = entry->distance == 0 && entry->similarity >= 1;
    if (!entry->has_match || (all && strcmp(reason, "identical") == 0))
        return;
    if (all && strcmp(reason, "same-content") == 0)
        print_scheme(out, entry);
    else
        print_story_match(out, entry);
}

/* What has no name there is called by its number. */
static void print_upstream(FILE *out, const json_t *detail)
{
    const json_int_t item = json_integer_value(json_object_get(detail, "item"));
    const char *name = detail_of(detail, "name");
    fprintf(out, "was new here, but is ignored: %s has it", detail_of(detail, "url"));
    if (*name)
        fprintf(out, ", as %s", name);
    else if (item)
        fprintf(out, ", as item %" JSON_INTEGER_FORMAT, item);
}

static void print_decided(FILE *out, const struct doppel_log_entry *entry, uint64_t id,
                          const json_t *detail)
{
    bool alone = !entry->of || entry->decision == DOPPEL_DECISION_NEW;
    if (entry->decision == DOPPEL_DECISION_IGNORED) {
        print_upstream(out, detail);
        return;
    }
    print_decision(out, entry, id);
    if (!alone && id == entry->item)
        fprintf(out, " of item %" PRIu64, entry->of);
    else if (!alone)
        fputs(" of it", out);
    if (alone && entry->of)
        print_beside(out, entry, id);
    print_why(out, entry, alone, detail);
    print_from(out, entry);
    if (entry->former && id == entry->item)
        fprintf(out, "; it took the place of item %" PRIu64, entry->former);
    else if (entry->former && id == entry->former)
        fputs("; that one took its place", out);
}

static void print_canonical(FILE *out, const struct doppel_log_entry *entry, uint64_t id)
{
    if (!entry->former)
        fprintf(out, "was chosen to be kept");
    else if (id == entry->item)
        fprintf(out, "took the place of item %" PRIu64 " as the one of its group to keep",
                entry->former);
    else if (id == entry->former)
        fprintf(out, "item %" PRIu64 " took its place as the one of the group to keep",
                entry->item);
    else
        fprintf(out,
                "in its group item %" PRIu64 " took the place of item %" PRIu64
                " as the one to keep",
                entry->item, entry->former);
    const char *reason = entry->reason ? entry->reason : "";
    if (strcmp(reason, "said") == 0)
        fputs(", as a person said", out);
    else if (strcmp(reason, "newer") == 0 || strcmp(reason, "same-id") == 0)
        fputs(", as the newer one", out);
    else if (*reason)
        fprintf(out, ", by %s", reason);
}

static void print_updated(FILE *out, const struct doppel_log_entry *entry, uint64_t id)
{
    if (!entry->former)
        fputs("was recomputed", out);
    else if (id == entry->former)
        fprintf(out, "item %" PRIu64 " took its place: the file had changed", entry->item);
    else
        fprintf(out, "took the place of item %" PRIu64 ": the file had changed", entry->former);
    print_from(out, entry);
}

static void print_marked(FILE *out, const struct doppel_log_entry *entry, uint64_t id,
                         const json_t *detail)
{
    uint64_t other = id == entry->item ? entry->of : entry->item;
    const char *digest = detail_of(detail, id == entry->item ? "b" : "a");
    const char *word = entry->reason ? entry->reason : "";
    char named[32] = "", note_mark[] = "; note: ";
    snprintf(named, sizeof named, "item %" PRIu64, other);
    const char *whom = other ? named : digest;
    if (strcmp(word, "taken back") == 0)
        fprintf(out, "a person took back what was said of it and %s", whom);
    else if (strcmp(word, "distinct") == 0)
        fprintf(out, "a person said that it is not the same as %s", whom);
    else
        fprintf(out, "a person said that it is the same as %s", whom);
    if (*detail_of(detail, "note"))
        fprintf(out, "%s%s", note_mark, detail_of(detail, "note"));
}

static void print_story_entry(FILE *out, const struct doppel_log_entry *entry, uint64_t id,
                              const json_t *detail)
{
    switch (entry->action) {
    case DOPPEL_LOG_ADDED:
        fputs("was added", out);
        print_from(out, entry);
        break;
    case DOPPEL_LOG_UPDATED:
        print_updated(out, entry, id);
        break;
    case DOPPEL_LOG_MOVED:
        fprintf(out, "moved from %s to %s", entry->former_name ? entry->former_name : "elsewhere",
                entry->name);
        break;
    case DOPPEL_LOG_REMOVED:
        fputs("was removed", out);
        if (entry->reason)
            fprintf(out, ", %s", entry->reason);
        print_from(out, entry);
        break;
    case DOPPEL_LOG_DECIDED:
        print_decided(out, entry, id, detail);
        break;
    case DOPPEL_LOG_CANONICAL:
        print_canonical(out, entry, id);
        break;
    case DOPPEL_LOG_MARKED:
        print_marked(out, entry, id, detail);
        break;
    case DOPPEL_LOG_LISTED:
        fprintf(out, "was %s list '%s'", entry->reason ? entry->reason : "put on",
                detail_of(detail, "list"));
        break;
    case DOPPEL_LOG_IMPORTED:
        fputs("was imported", out);
        print_from(out, entry);
        break;
    case DOPPEL_LOG_REFRESHED:
        fputs("was recomputed from its file", out);
        break;
    case DOPPEL_LOG_METADATA:
        if (entry->item && entry->source)
            fprintf(out, "was said to come from %s", entry->source);
        else
            fputs(entry->reason ? entry->reason : "the library was told something", out);
        break;
    }
}

/* What could not be written into memory is known when it ends. */
static void must_close(FILE *out)
{
    if (fclose(out))
        no_memory();
}

char *log_sentence(const struct doppel_log_entry *entry, uint64_t id)
{
    char *text = NULL;
    size_t size;
    FILE *out = must_have(open_memstream(&text, &size));
    json_t *detail = entry->detail ? json_loads(entry->detail, 0, NULL) : NULL;
    print_story_entry(out, entry, id, detail);
    if (*detail_of(detail, "client"))
        fprintf(out, ", by '%s'", detail_of(detail, "client"));
    json_decref(detail);
    must_close(out);
    return text;
}

/* ---- now ---- */

struct standing {
    FILE *out;
    uint64_t id, named, others;
    uint64_t successor; /* of another group, which took its place; 0: none */
};

static bool name_follower(void *context, uint64_t id)
{
    struct standing *standing = context;
    if (id == standing->id)
        return true;
    bool last = standing->named + 1 == standing->others;
    if (standing->named < NAMED_FOLLOWERS)
        fprintf(standing->out, "%s%" PRIu64,
                !standing->named ? (last ? "item " : "items ") : (last ? " and " : ", "), id);
    standing->named++;
    return true;
}

static bool count_follower(void *context, uint64_t id)
{
    struct standing *standing = context;
    standing->others += id != standing->id;
    return true;
}

static void print_standing_group(struct standing *standing, struct doppel_library *library,
                                 uint64_t leader)
{
    uint64_t canonical = leader;
    FILE *out = standing->out;
    doppel_library_each_follower(library, leader, 0, count_follower, standing, NULL);
    doppel_library_canonical(library, leader, &canonical, NULL);
    if (standing->successor)
        fprintf(out, "item %" PRIu64 " has its place; ", standing->successor);
    if (leader != standing->id)
        fprintf(out, "follows item %" PRIu64, leader);
    else if (standing->others == 0)
        fputs("follows none, and none follows it", out);
    if (leader == standing->id && standing->others) {
        fputs("is followed by ", out);
        doppel_library_each_follower(library, leader, NAMED_FOLLOWERS + 2, name_follower, standing,
                                     NULL);
        if (standing->others > NAMED_FOLLOWERS)
            fprintf(out, " and %" PRIu64 " more", standing->others - NAMED_FOLLOWERS);
    }
    if (canonical == standing->id && standing->others && !standing->successor)
        fputs("; of its group it is the one to keep", out);
    else if (canonical != standing->id)
        fprintf(out, "; of its group item %" PRIu64 " is the one to keep", canonical);
}

/* What took its place, if it is there yet and in no group with it: else the group says it. */
static uint64_t apart(struct doppel_library *library, uint64_t successor, uint64_t leader)
{
    struct doppel_metadata about;
    uint64_t its_leader = successor;
    if (!successor || doppel_library_get_metadata(library, successor, &about, NULL))
        return 0;
    doppel_metadata_free(&about);
    doppel_library_leader(library, successor, &its_leader, NULL);
    return its_leader == leader ? 0 : successor;
}

char *log_standing(struct doppel_library *library, uint64_t id, uint64_t successor)
{
    char *text = NULL;
    size_t size;
    struct doppel_error error;
    struct doppel_metadata about;
    uint64_t leader = id;
    struct standing standing = {.out = must_have(open_memstream(&text, &size)), .id = id};
    enum doppel_status status = doppel_library_get_metadata(library, id, &about, &error);
    if (!status) {
        doppel_metadata_free(&about);
        status = doppel_library_leader(library, id, &leader, &error);
    }
    standing.successor = apart(library, successor, leader);
    if (status == DOPPEL_E_NOT_FOUND)
        fputs("is not in the library any more", standing.out);
    else if (status)
        fputs(error.message, standing.out);
    else
        print_standing_group(&standing, library, leader);
    must_close(standing.out);
    return text;
}
