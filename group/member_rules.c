/* What somebody wants of the members of all groups. */
#include "group/member_rules.h"

#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/files/absolute_path.h"
#include "group/companions.h"
#include "group/marks.h"

/* The whole of it, its end behind a slash, or all that lies below. */
static bool glob_covers(const char *glob, const char *path)
{
    static const char *const forms[] = {"%s", "*/%s", "%s/*", "*/%s/*"};
    char form[PATH_MAX + 8];
    bool matches = false;
    for (size_t i = 0; i < sizeof forms / sizeof *forms && !matches; i++) {
        int size = snprintf(form, sizeof form, forms[i], glob);
        matches = size < (int)sizeof form && fnmatch(form, path, 0) == 0;
    }
    return matches;
}

static bool is_protected_by(const char *glob, const char *path)
{
    char plain[PATH_MAX];
    while (strncmp(glob, "./", 2) == 0)
        glob += 2;
    while (strncmp(path, "./", 2) == 0)
        path += 2;
    size_t length = strlen(glob);
    while (length > 1 && glob[length - 1] == '/')
        length--;
    snprintf(plain, sizeof plain, "%.*s", (int)length, glob);
    if (*plain && glob_covers(plain, path))
        return true;
    char *whole = *path == '/' ? NULL : absolute_path(path);
    bool matches = whole && *plain && glob_covers(plain, whole);
    free(whole);
    return matches;
}

bool is_protected(const struct doppel_strings *globs, const char *path)
{
    for (size_t i = 0; i < globs->count; i++)
        if (is_protected_by(globs->items[i], path))
            return true;
    return false;
}

enum doppel_status met_rules_init(const struct doppel_group_options *options, struct met_rules *out,
                                  struct doppel_error *error)
{
    bool *protecting = calloc(options->protect.count + 1, sizeof *protecting);
    if (!protecting)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for what is protected");
    *out = (struct met_rules){options, protecting};
    return DOPPEL_OK;
}

void met_rules_free(struct met_rules *met)
{
    free(met->protecting);
}

void met_rules_note(struct met_rules *met, const struct doppel_digest *digest, const char *path)
{
    const struct doppel_strings *globs = &met->options->protect;
    if (met->options->marks && digest)
        marks_note_file(met->options->marks, digest, path);
    for (size_t i = 0; i < globs->count; i++)
        met->protecting[i] = met->protecting[i] || is_protected_by(globs->items[i], path);
}

void met_rules_report(const struct met_rules *met, bool pairs, struct doppel_run *run)
{
    if (met->options->marks)
        marks_report_missing(met->options->marks, pairs, run);
    for (size_t i = 0; i < met->options->protect.count; i++)
        if (!met->protecting[i])
            doppel_run_notice(run, "'%s' protects none of these files",
                              met->options->protect.items[i]);
}

enum doppel_status check_keep_from(const struct doppel_strings *folders, struct doppel_error *error)
{
    struct stat status;
    for (size_t i = 0; i < folders->count; i++)
        if (stat(folders->items[i], &status) || !S_ISDIR(status.st_mode))
            return doppel_fail(error, DOPPEL_E_ARGUMENT, "%s: is no folder to keep copies from",
                               folders->items[i]);
    return DOPPEL_OK;
}

static bool member_lies_under(const char *path, const char *folder)
{
    size_t length = strlen(folder);
    return strncmp(path, folder, length) == 0 &&
           (path[length] == '/' || (length && folder[length - 1] == '/'));
}

/* @param out_memory false: there was none */
static bool lies_in_any(const struct doppel_strings *folders, char *path, bool *out_memory)
{
    char *whole = path ? absolute_path(path) : NULL;
    bool lies = false;
    *out_memory &= whole != NULL;
    for (size_t i = 0; i < folders->count && whole && !lies; i++) {
        char *folder = absolute_path(folders->items[i]);
        *out_memory &= folder != NULL;
        lies = folder && member_lies_under(whole, folder);
        free(folder);
    }
    free(whole);
    free(path);
    return lies;
}

size_t prefer_folders(const struct grouping *grouping, struct led_item *members, size_t count)
{
    const struct doppel_strings *folders = &grouping->options->group->keep_from;
    size_t used = 0;
    bool memory = true;
    for (size_t i = 0; i < count && folders->count; i++)
        if (lies_in_any(folders, item_store_path(&grouping->items, members[i].item), &memory)) {
            struct led_item there = members[i];
            members[i] = members[used]; /* the others stay, behind */
            members[used++] = there;
        }
    if (!memory)
        return 0;
    return used ? used : count;
}

static size_t member_folder_length(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? (size_t)(slash - path) : 0;
}

bool last_shares_folder(const struct doppel_group_member *members, size_t count)
{
    const char *last = members[count - 1].path;
    size_t length = member_folder_length(last);
    for (size_t i = 0; i + 1 < count; i++)
        if (member_folder_length(members[i].path) == length &&
            memcmp(members[i].path, last, length) == 0)
            return true;
    return false;
}

void group_leave_alone(struct doppel_group_member *members, size_t count)
{
    bool left = false;
    for (size_t i = 0; i < count; i++)
        left |= members[i].mark == DOPPEL_FILE_LEAVE;
    for (size_t i = 0; i < count && left; i++)
        members[i].mark = DOPPEL_FILE_LEAVE;
}

/* What shares a part with another image or video, or is shown in it, is no copy of it. */
static bool is_shown_in_part(const struct doppel_group_member *member)
{
    return member->reason == DOPPEL_REASON_CONTAINED &&
           (!member->match || member->match->has_places);
}

bool doppel_group_member_holds_more(const struct doppel_group_member *member)
{
    const struct doppel_match *match = member->match;
    return match && match->relation == DOPPEL_RELATION_CONTAINS &&
           match->scheme == DOPPEL_SCHEME_MINHASH128;
}

static bool member_goes(const struct doppel_group_member *member)
{
    return !member->reference && !member->gone &&
           (member->mark == DOPPEL_FILE_REMOVE ||
            (member->mark == DOPPEL_FILE_UNMARKED && !member->burst && !is_shown_in_part(member) &&
             !doppel_group_member_holds_more(member)));
}

size_t group_copy_left(const struct doppel_group_member *members, size_t count)
{
    size_t left = count;
    for (size_t i = 0; i < count; i++) {
        if (members[i].gone || (i && members[i].burst))
            continue;
        if (!i || !member_goes(&members[i]))
            return i;
        left = i < left ? i : left;
    }
    return left;
}

uint64_t group_savable_bytes(const struct doppel_group_member *members, size_t count)
{
    const size_t left = group_copy_left(members, count);
    uint64_t bytes = 0;
    for (size_t i = 1; i < count; i++)
        if (i != left && member_goes(&members[i]) && !are_companions(&members[i], &members[0]))
            bytes += members[i].freed_bytes;
    return bytes;
}
