/* Which files of a run are there, by their names, and which are missing. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/array.h"
#include "core/try.h"
#include "corpus/stages/stage_file.h"

/* The files of a stage for one number of parts. */
struct part_set {
    enum doppel_stage stage;
    char name[STAGE_NAME_BYTES]; /* of outputs */
    uint32_t parts, there;
    bool *is_there; /* of each part */
};

typedef ARRAY(struct part_set) part_sets;

static enum doppel_status no_memory_to_survey(struct doppel_error *error)
{
    return doppel_fail(error, DOPPEL_E_MEMORY, "not enough memory");
}

/* ---- names ---- */

static const char *parse_digits(const char *at, uint32_t *out)
{
    char *end;
    unsigned long value = *at >= '0' && *at <= '9' ? strtoul(at, &end, 10) : 0;
    if (!value || value > DOPPEL_STAGE_MAX_PARTS)
        return NULL;
    *out = (uint32_t)value;
    return end;
}

/* "-0007-of-0400…" */
static bool parse_part(const char *at, struct doppel_stage_part *out)
{
    at = *at == '-' ? parse_digits(at + 1, &out->number) : NULL;
    at = at && strncmp(at, "-of-", 4) == 0 ? parse_digits(at + 4, &out->count) : NULL;
    return at && out->number <= out->count;
}

/* As stage_file_name_print has it: "sign-7-of-400" is none of ours. */
static bool is_printed_name(const char *entry, const struct part_set *set,
                            struct doppel_stage_part part)
{
    char stem[STAGE_NAME_BYTES + 8], printed[STAGE_NAME_BYTES];
    const bool emit = set->stage == DOPPEL_STAGE_EMIT;
    snprintf(stem, sizeof stem, "%s%s%s", doppel_stage_name(set->stage), emit ? "-" : "",
             set->name);
    stage_file_name_print(&(struct stage_file_name){stem, part}, printed);
    const size_t size = strlen(printed);
    return strncmp(entry, printed, size) == 0 &&
           strcmp(entry + size, emit ? ".jsonl.xxh128" : "") == 0;
}

/* @return false: it is no file of a stage */
static bool parse_stage_name(const char *entry, struct part_set *set,
                             struct doppel_stage_part *part)
{
    *set = (struct part_set){0};
    for (int stage = DOPPEL_STAGE_SIGN; stage <= DOPPEL_STAGE_EMIT; stage++) {
        const char *stem = doppel_stage_name((enum doppel_stage)stage);
        if (strncmp(entry, stem, strlen(stem)) == 0)
            set->stage = (enum doppel_stage)stage;
    }
    if (!set->stage)
        return false;
    const char *rest = entry + strlen(doppel_stage_name(set->stage));
    if (set->stage == DOPPEL_STAGE_EMIT) {
        size_t size = *rest == '-' ? strcspn(rest + 1, "-") : 0;
        if (!size || size >= sizeof set->name)
            return false;
        memcpy(set->name, rest + 1, size);
        rest += size + 1;
    }
    if (!parse_part(rest, part))
        return false;
    set->parts = part->count;
    return is_printed_name(entry, set, *part);
}

/* A file of another run, or of another size than its head states, does not count. */
static bool is_of_run(const struct doppel_stages *stages, enum doppel_stage stage,
                      struct doppel_stage_part part)
{
    struct stage_file file;
    if (stage == DOPPEL_STAGE_EMIT)
        return true;
    if (stage_file_open(stages, stage, part, 0, &file, NULL))
        return false;
    stage_file_close(&file);
    return true;
}

/* ---- sets ---- */

static struct part_set *find_set(part_sets *sets, const struct part_set *like)
{
    for (size_t i = 0; i < sets->count; i++) {
        const struct part_set *set = &sets->items[i];
        if (set->stage == like->stage && set->parts == like->parts &&
            strcmp(set->name, like->name) == 0)
            return &sets->items[i];
    }
    if (!array_push(sets, *like))
        return NULL;
    struct part_set *set = &sets->items[sets->count - 1];
    set->is_there = calloc(set->parts, sizeof *set->is_there);
    return set->is_there ? set : NULL;
}

static int by_stage_and_parts(const void *a, const void *b)
{
    const struct part_set *x = a, *y = b;
    int names = strcmp(x->name, y->name);
    if (x->stage != y->stage)
        return x->stage < y->stage ? -1 : 1;
    if (names)
        return names;
    return x->parts < y->parts ? -1 : x->parts > y->parts;
}

static void free_sets(part_sets *sets)
{
    for (size_t i = 0; i < sets->count; i++)
        free(sets->items[i].is_there);
    array_free(sets);
}

/* @param only of this stage; 0: of all */
static enum doppel_status find_sets(const struct doppel_stages *stages, enum doppel_stage only,
                                    part_sets *sets, struct doppel_error *error)
{
    struct part_set like, *set;
    struct doppel_stage_part part;
    DIR *folder = opendir(stages->folder);
    if (!folder)
        return doppel_fail(error, DOPPEL_E_IO, "%s cannot be read: %s", stages->folder,
                           strerror(errno));
    enum doppel_status status = DOPPEL_OK;
    for (struct dirent *entry; (entry = readdir(folder));) {
        if (!parse_stage_name(entry->d_name, &like, &part) || (only && like.stage != only) ||
            (!only && !is_of_run(stages, like.stage, part)))
            continue;
        set = find_set(sets, &like);
        TRY(set ? DOPPEL_OK : no_memory_to_survey(error));
        set->there += !set->is_there[part.number - 1];
        set->is_there[part.number - 1] = true;
    }
    if (sets->count)
        qsort(sets->items, sets->count, sizeof *sets->items, by_stage_and_parts);
done:
    closedir(folder);
    return status;
}

/* ---- for the stage that comes after ---- */

/* "3, 7 to 9", cut where it is long. */
static void print_missing(const struct part_set *set, char *out, size_t size)
{
    size_t used = 0;
    *out = '\0';
    for (uint32_t i = 0; i < set->parts; i++) {
        uint32_t last = i;
        if (set->is_there[i])
            continue;
        while (last + 1 < set->parts && !set->is_there[last + 1])
            last++;
        const char *comma = used ? ", " : "";
        if (size - used < 40) {
            snprintf(out + used, size - used, ", …");
            return;
        }
        used += (size_t)(last == i ? snprintf(out + used, size - used, "%s%u", comma, i + 1)
                                   : snprintf(out + used, size - used, "%s%u to %u", comma, i + 1,
                                              last + 1));
        i = last;
    }
}

static enum doppel_status say_missing(const struct doppel_stages *stages, enum doppel_stage stage,
                                      const part_sets *sets, struct doppel_error *error)
{
    char missing[200];
    const struct part_set *fullest = NULL;
    const char *name = doppel_stage_name(stage);
    for (size_t i = 0; i < sets->count; i++) {
        const struct part_set *set = &sets->items[i];
        if (!fullest || set->parts - set->there < fullest->parts - fullest->there)
            fullest = set;
    }
    if (!fullest)
        return doppel_fail(error, DOPPEL_E_NOT_FOUND,
                           "%s has no part of --stage %s yet: it comes first", stages->folder,
                           name);
    print_missing(fullest, missing, sizeof missing);
    return doppel_fail(error, DOPPEL_E_NOT_FOUND, "%s lacks %u of the %u parts of --stage %s: %s",
                       stages->folder, fullest->parts - fullest->there, fullest->parts, name,
                       missing);
}

enum doppel_status stages_parts_of(const struct doppel_stages *stages, enum doppel_stage stage,
                                   uint32_t *out_parts, struct doppel_error *error)
{
    part_sets sets = {0};
    bool found = false;
    enum doppel_status status;
    TRY(find_sets(stages, stage, &sets, error));
    for (size_t i = 0; i < sets.count && !found; i++)
        if (sets.items[i].there == sets.items[i].parts) {
            *out_parts = sets.items[i].parts;
            found = true;
        }
    if (!found)
        status = say_missing(stages, stage, &sets, error);
done:
    free_sets(&sets);
    return status;
}

enum doppel_status stages_parts_if_any(const struct doppel_stages *stages, enum doppel_stage stage,
                                       uint32_t *out_parts, struct doppel_error *error)
{
    part_sets sets = {0};
    enum doppel_status status = find_sets(stages, stage, &sets, error);
    bool any = sets.count > 0;
    free_sets(&sets);
    *out_parts = 0;
    return status || !any ? status : stages_parts_of(stages, stage, out_parts, error);
}

/* ---- for the caller ---- */

static enum doppel_status visit_set(const struct part_set *set, doppel_stage_files_visitor *visitor,
                                    void *context, bool *goes_on, struct doppel_error *error)
{
    uint32_t *missing = calloc(set->parts + 1, sizeof *missing);
    struct doppel_stage_files files = {.stage = set->stage,
                                       .name = *set->name ? set->name : NULL,
                                       .parts = set->parts,
                                       .missing = missing};
    if (!missing)
        return no_memory_to_survey(error);
    for (uint32_t i = 0; i < set->parts; i++)
        if (!set->is_there[i])
            missing[files.missing_count++] = i + 1;
    *goes_on = visitor(context, &files);
    free(missing);
    return DOPPEL_OK;
}

enum doppel_status doppel_stages_visit(struct doppel_stages *stages,
                                       doppel_stage_files_visitor *visitor, void *context,
                                       struct doppel_error *error)
{
    part_sets sets = {0};
    size_t at = 0;
    bool goes_on = true;
    enum doppel_status status;
    TRY(find_sets(stages, 0, &sets, error));
    for (int stage = DOPPEL_STAGE_SIGN; stage <= DOPPEL_STAGE_EMIT && goes_on; stage++) {
        const struct part_set none = {.stage = (enum doppel_stage)stage};
        if (at == sets.count || sets.items[at].stage != none.stage)
            TRY(visit_set(&none, visitor, context, &goes_on, error));
        for (; at < sets.count && sets.items[at].stage == none.stage && goes_on; at++)
            TRY(visit_set(&sets.items[at], visitor, context, &goes_on, error));
    }
done:
    free_sets(&sets);
    return status;
}

static uint32_t parts_of_none(const struct doppel_stages *stages, enum doppel_stage stage)
{
    enum { PART_BYTES = 1 << 28, MOST = 1000 };
    const uint64_t parts = stages->bytes / PART_BYTES + 1;
    if (stage != DOPPEL_STAGE_SIGN)
        return stage != DOPPEL_STAGE_COMPARE;
    return parts < MOST ? (uint32_t)parts : MOST;
}

/* Whether a smaller share of it is missing. */
static bool is_fuller(const struct part_set *set, const struct part_set *than)
{
    return (uint64_t)(set->parts - set->there) * than->parts <
           (uint64_t)(than->parts - than->there) * set->parts;
}

uint32_t doppel_stages_parts(const struct doppel_stages *stages, enum doppel_stage stage)
{
    part_sets sets = {0};
    uint32_t parts = parts_of_none(stages, stage);
    const struct part_set *fullest = NULL;
    if (!find_sets(stages, stage, &sets, NULL))
        for (size_t i = 0; i < sets.count; i++)
            if (!fullest || is_fuller(&sets.items[i], fullest))
                fullest = &sets.items[i];
    if (fullest)
        parts = fullest->parts;
    free_sets(&sets);
    return parts;
}
