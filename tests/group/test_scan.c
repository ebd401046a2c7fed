/* Groups of files, and of a library, by calls: kinds, reasons, the copy to keep, failures; alone,
 * at once, and cancelled. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include <doppel/decide.h>
#include <doppel/group.h>

#define FOX                                                                                        \
    "the old fox lives in the deep wood behind the long hill where the brown bear sleeps all "     \
    "winter and dreams of honey and of the warm days of the next summer when the bees come back "
#define KETTLE                                                                                     \
    "a kettle sings on the stove while rain knocks at each window of this small kitchen and "      \
    "someone reads last week's paper aloud to nobody but a cat under one chair "

enum { SIDE = 192, FOUND_BYTES = 4096 };

struct folder {
    char path[64];
};

/* What a scan found, as text: "image keep=a.bmp b.bmp:near". */
struct found {
    const struct folder *folder;
    struct doppel_run *run;
    struct doppel_group_counts counts;
    enum doppel_status status, visited; /* `visited`: what the visitor returns */
    uint64_t groups, failures;
    bool cancels; /* at the first group */
    char text[FOUND_BYTES];
};

/* ---- files ---- */

static FILE *create_file(const struct folder *folder, const char *name)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", folder->path, name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    return file;
}

static void write_text(const struct folder *folder, const char *name, const char *text)
{
    FILE *file = create_file(folder, name);
    fputs(text, file);
    fclose(file);
}

static void write_number(FILE *file, int number, int bytes)
{
    for (int i = 0; i < bytes; i++)
        fputc(number >> 8 * i & 255, file);
}

/* One of 9 by 9 levels of an image of its own for each seed. */
static int level(int seed, int x, int y)
{
    uint32_t mixed = (uint32_t)(seed * 977 + y * 9 + x + 1) * UINT32_C(2654435761);
    return (int)((mixed ^ mixed >> 13) * UINT32_C(2246822519) >> 24);
}

/* Between the levels around it, `cell` pixels apart. */
static int shade(int seed, int x, int y, int cell)
{
    int column = x / cell, row = y / cell, right = x % cell, down = y % cell;
    int upper = level(seed, column, row) * (cell - right) + level(seed, column + 1, row) * right;
    int lower =
        level(seed, column, row + 1) * (cell - right) + level(seed, column + 1, row + 1) * right;
    return (upper * (cell - down) + lower * down) / (cell * cell);
}

/* Fine detail, which an enlargement would not have. */
static int grain(int x, int y)
{
    return (int)(((uint32_t)(y * 5003 + x) * UINT32_C(2654435761)) >> 28);
}

/* An image, `step` times as large and in a black frame. */
static void write_framed_image(const struct folder *folder, const char *name, int seed, int step,
                               int frame)
{
    FILE *file = create_file(folder, name);
    int inner = SIDE * step, side = inner + 2 * frame;
    write_number(file, 0x4d42, 2); /* "BM" */
    write_number(file, 54 + 3 * side * side, 4);
    write_number(file, 0, 4);
    write_number(file, 54, 4); /* where pixels begin */
    write_number(file, 40, 4);
    write_number(file, side, 4);
    write_number(file, side, 4);
    write_number(file, 1, 2);
    write_number(file, 24, 2); /* bits a pixel */
    for (int i = 0; i < 6; i++)
        write_number(file, 0, 4);
    for (int i = 0; i < side * side; i++) {
        int x = i % side - frame, y = i / side - frame;
        bool inside = x >= 0 && x < inner && y >= 0 && y < inner;
        int grey = inside ? 15 * shade(seed, x, y, inner / 8) / 16 + grain(x, y) : 0;
        write_number(file, 0x010101 * grey, 3);
    }
    fclose(file);
}

static void write_image(const struct folder *folder, const char *name, int seed, int step)
{
    write_framed_image(folder, name, seed, step, 0);
}

static void write_folder(struct folder *folder)
{
    strcpy(folder->path, "/tmp/doppel-scan-XXXXXX");
    assert_non_null(mkdtemp(folder->path));
    write_image(folder, "hills.bmp", 0, 1);
    write_image(folder, "hills-again.bmp", 0, 1);
    write_image(folder, "hills-large.bmp", 0, 2);
    write_image(folder, "other.bmp", 7, 1);
    write_text(folder, "broken.png", "\x89PNG\r\n\x1a\n and nothing that follows");
    write_text(folder, "fox.txt", FOX FOX "and that is all of it");
    write_text(folder, "fox-copy.txt", FOX FOX "and that is all of it");
    write_text(folder, "fox-end.txt", FOX FOX "and that is all");
    write_text(folder, "fox-spaced.txt", FOX " " FOX "and  that is all of it");
    write_text(folder, "kettle.txt", KETTLE);
}

static void remove_folder(const struct folder *folder)
{
    char command[128];
    snprintf(command, sizeof command, "rm -r '%s'", folder->path);
    assert_int_equal(system(command), 0);
}

/* ---- scans ---- */

static enum doppel_status note_group(void *context, const struct doppel_group *group,
                                     struct doppel_error *error)
{
    struct found *found = context;
    size_t skip = strlen(found->folder->path) + 1, used = strlen(found->text);
    (void)error;
    found->groups++;
    assert_int_equal(group->number, found->groups);
    assert_string_equal(group->keep, group->members[0].path);
    assert_int_equal(group->members[0].reason, DOPPEL_REASON_KEPT);
    used += (size_t)snprintf(found->text + used, FOUND_BYTES - used, "%s keep=%s",
                             doppel_kind_name(group->kind), group->keep + skip);
    for (size_t i = 1; i < group->count; i++) {
        const struct doppel_group_member *member = &group->members[i];
        assert_int_equal(member->match != NULL, member->reason == DOPPEL_REASON_NEAR);
        used += (size_t)snprintf(found->text + used, FOUND_BYTES - used, " %s:%s",
                                 member->path + skip, doppel_reason_name(member->reason));
    }
    snprintf(found->text + used, FOUND_BYTES - used, "\n");
    if (found->cancels)
        doppel_run_cancel(found->run);
    return found->visited;
}

/* In its own thread, or not. @param context struct found with `folder` set */
static void *scan_folder(void *context)
{
    struct found *found = context;
    const struct doppel_group_options options = doppel_group_options_default();
    const char *const paths[] = {found->folder->path};
    const struct doppel_scan_paths scanned = {paths, 1, 0};
    struct doppel_error error;
    if (doppel_run_new(&(struct doppel_run_options){.jobs = 1}, &found->run, &error))
        return NULL;
    found->status =
        doppel_scan(found->run, &scanned, &options, note_group, found, &found->counts, &error);
    found->failures = doppel_run_failures(found->run);
    doppel_run_free(found->run);
    return NULL;
}

static const char *const wanted = "image keep=hills-large.bmp hills-again.bmp:near hills.bmp:near\n"
                                  "text keep=fox-spaced.txt fox-copy.txt:same-content "
                                  "fox-end.txt:near fox.txt:same-content\n";

static void groups_have_kinds_reasons_and_the_copy_to_keep(void **state)
{
    struct folder folder;
    struct found found = {.folder = &folder};
    (void)state;
    write_folder(&folder);
    scan_folder(&found);
    assert_int_equal(found.status, DOPPEL_OK);
    assert_string_equal(found.text, wanted);
    assert_int_equal(found.failures, 1); /* the broken one */
    assert_int_equal(found.counts.items[DOPPEL_KIND_IMAGE], 4);
    assert_int_equal(found.counts.items[DOPPEL_KIND_TEXT], 5);
    assert_int_equal(found.counts.items[DOPPEL_KIND_AUDIO], 0);
    remove_folder(&folder);
}

/* A frame makes a file larger, and what it shows no better. */
/* What repeats no other. */
static enum doppel_status note_text(void *context, const struct doppel_group_text *text,
                                    struct doppel_error *error)
{
    struct found *found = context;
    size_t skip = strlen(found->folder->path) + 1, used = strlen(found->text);
    (void)error;
    snprintf(found->text + used, FOUND_BYTES - used, "%s group=%d duplicates=%zu%s\n",
             text->path + skip, (int)text->group, text->duplicates,
             text->reference ? " reference" : "");
    return found->visited;
}

static enum doppel_status no_group(void *context, const struct doppel_group *group,
                                   struct doppel_error *error)
{
    (void)context;
    (void)group;
    (void)error;
    return DOPPEL_OK;
}

static void texts_that_repeat_none_are_visited(void **state)
{
    static const struct {
        size_t references;
        bool cross_folder;
        enum doppel_status visited;
        const char *texts;
    } cases[] = {
        {0, false, DOPPEL_OK,
         "fox-spaced.txt group=2 duplicates=3\nkettle.txt group=0 duplicates=0\n"},
        {0, true, DOPPEL_OK, /* groups within the PATH are not shown */
         "fox-copy.txt group=0 duplicates=3\nkettle.txt group=0 duplicates=0\n"},
        {1, false, DOPPEL_OK, /* nor are those of references, which are not compared */
         "fox-copy.txt group=0 duplicates=2 reference\n"
         "fox-end.txt group=0 duplicates=0 reference\n"
         "kettle.txt group=0 duplicates=0 reference\n"},
        {0, false, DOPPEL_E_BUSY, "fox-spaced.txt group=2 duplicates=3\n"},
    };
    struct folder folder;
    (void)state;
    write_folder(&folder);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct found found = {.folder = &folder, .visited = cases[i].visited};
        struct doppel_group_options options = doppel_group_options_default();
        const char *const paths[] = {folder.path};
        const struct doppel_scan_paths scanned = {paths, 1, cases[i].references};
        options.visit_text = note_text;
        options.text_context = &found;
        options.cross_folder = cases[i].cross_folder;
        assert_int_equal(doppel_run_new(&(struct doppel_run_options){.jobs = 1}, &found.run, NULL),
                         DOPPEL_OK);
        assert_int_equal(doppel_scan(found.run, &scanned, &options, no_group, NULL, NULL, NULL),
                         cases[i].visited);
        doppel_run_free(found.run);
        assert_string_equal(found.text, cases[i].texts);
    }
    remove_folder(&folder);
}

static void a_framed_copy_is_not_kept(void **state)
{
    struct folder folder;
    struct found found = {.folder = &folder};
    (void)state;
    strcpy(folder.path, "/tmp/doppel-scan-XXXXXX");
    assert_non_null(mkdtemp(folder.path));
    write_framed_image(&folder, "framed.bmp", 0, 1, 24);
    write_image(&folder, "original.bmp", 0, 1);
    write_framed_image(&folder, "large-framed.bmp", 3, 2, 40); /* there is no better one */
    write_image(&folder, "small.bmp", 3, 1);
    scan_folder(&found);
    assert_int_equal(found.status, DOPPEL_OK);
    assert_string_equal(found.text, "image keep=original.bmp framed.bmp:near\n"
                                    "image keep=large-framed.bmp small.bmp:near\n");
    remove_folder(&folder);
}

static void references_are_kept(void **state)
{
    struct folder folder, reference;
    struct found found = {.folder = &folder};
    const struct doppel_group_options options = doppel_group_options_default();
    (void)state;
    write_folder(&folder);
    strcpy(reference.path, "/tmp/doppel-refs-XXXXXX"); /* as long as the other */
    assert_non_null(mkdtemp(reference.path));
    write_text(&reference, "paper.txt", KETTLE);
    const char *const paths[] = {reference.path, folder.path};
    const struct doppel_scan_paths scanned = {paths, 2, 1};
    assert_int_equal(doppel_run_new(NULL, &found.run, NULL), DOPPEL_OK);
    assert_int_equal(doppel_scan(found.run, &scanned, &options, note_group, &found, NULL, NULL),
                     DOPPEL_OK);
    assert_int_equal(found.groups, 3);
    assert_non_null(strstr(found.text, "text keep=paper.txt kettle.txt:identical\n"));
    doppel_run_free(found.run);
    remove_folder(&folder);
    remove_folder(&reference);
}

static void two_at_once_are_as_alone(void **state)
{
    enum { SCANS = 2 };
    struct folder folders[SCANS];
    struct found alone[SCANS] = {0}, at_once[SCANS] = {0};
    pthread_t threads[SCANS];
    (void)state;
    for (int i = 0; i < SCANS; i++)
        write_folder(&folders[i]);
    write_text(&folders[1], "kettle-copy.txt", KETTLE);
    for (int i = 0; i < SCANS; i++) {
        alone[i].folder = at_once[i].folder = &folders[i];
        scan_folder(&alone[i]);
    }
    for (int i = 0; i < SCANS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, scan_folder, &at_once[i]), 0);
    for (int i = 0; i < SCANS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    for (int i = 0; i < SCANS; i++) {
        assert_int_equal(at_once[i].status, DOPPEL_OK);
        assert_int_equal(at_once[i].failures, 1);
        assert_string_equal(at_once[i].text, alone[i].text);
        assert_int_equal(at_once[i].groups, 2 + i);
        remove_folder(&folders[i]);
    }
}

static void a_cancelled_scan_says_so(void **state)
{
    struct folder folder;
    struct found found = {.folder = &folder, .cancels = true};
    struct doppel_run *run;
    const struct doppel_group_options options = doppel_group_options_default();
    (void)state;
    write_folder(&folder);
    scan_folder(&found);
    assert_int_equal(found.status, DOPPEL_E_CANCELLED);
    assert_int_equal(found.groups, 1);

    const char *const paths[] = {folder.path};
    const struct doppel_scan_paths scanned = {paths, 1, 0};
    struct found none = {.folder = &folder};
    assert_int_equal(doppel_run_new(NULL, &run, NULL), DOPPEL_OK);
    doppel_run_cancel(run);
    assert_int_equal(doppel_scan(run, &scanned, &options, note_group, &none, &none.counts, NULL),
                     DOPPEL_E_CANCELLED);
    assert_int_equal(none.groups, 0);
    assert_int_equal(none.counts.items[DOPPEL_KIND_IMAGE], 0);
    doppel_run_free(run);
    remove_folder(&folder);
}

/* ---- a library ---- */

static void add_files(struct doppel_run *run, struct doppel_library *library,
                      const struct folder *folder, const char *const *names, size_t count)
{
    const struct doppel_decide_options options = doppel_decide_options_default();
    struct doppel_decider *decider;
    char path[128];
    assert_int_equal(doppel_decider_new(run, library, &options, &decider, NULL), DOPPEL_OK);
    for (size_t i = 0; i < count; i++) {
        struct doppel_decided decided;
        snprintf(path, sizeof path, "%s/%s", folder->path, names[i]);
        assert_int_equal(
            doppel_decider_push(decider, &(struct doppel_decide_input){.path = path}, NULL),
            DOPPEL_OK);
        assert_int_equal(doppel_decider_pull(decider, &decided, NULL), DOPPEL_OK);
    }
    doppel_decider_free(decider);
}

static void groups_of_a_library_are_those_of_its_files(void **state)
{
    static const char *const names[] = {"hills.bmp",    "hills-large.bmp", "other.bmp", "fox.txt",
                                        "fox-copy.txt", "fox-end.txt",     "kettle.txt"};
    struct folder folder;
    struct found found = {.folder = &folder}, one = found;
    struct doppel_group_options options = doppel_group_options_default();
    struct doppel_library *library;
    struct doppel_error error;
    char path[128];
    (void)state;
    write_folder(&folder);
    snprintf(path, sizeof path, "%s/library", folder.path);
    assert_int_equal(doppel_run_new(NULL, &found.run, NULL), DOPPEL_OK);
    assert_int_equal(
        doppel_library_open(path, &(struct doppel_library_options){.create = true}, &library, NULL),
        DOPPEL_OK);
    add_files(found.run, library, &folder, names, sizeof names / sizeof *names);
    assert_int_equal(doppel_library_groups(found.run, library, &options, note_group, &found,
                                           &found.counts, &error),
                     DOPPEL_OK);
    assert_string_equal(found.text, "image keep=hills-large.bmp hills.bmp:near\n"
                                    "text keep=fox.txt fox-copy.txt:identical fox-end.txt:near\n");
    assert_int_equal(found.counts.items[DOPPEL_KIND_IMAGE], 3);
    options.compare.schemes[DOPPEL_KIND_IMAGE].id = DOPPEL_SCHEME_NONE;
    assert_int_equal(
        doppel_library_groups(found.run, library, &options, note_group, &one, NULL, NULL),
        DOPPEL_OK);
    assert_int_equal(one.groups, 1);
    doppel_run_cancel(found.run);
    assert_int_equal(
        doppel_library_groups(found.run, library, &options, note_group, &one, NULL, &error),
        DOPPEL_E_CANCELLED);
    assert_int_equal(one.groups, 1);
    doppel_library_close(library);
    doppel_run_free(found.run);
    remove_folder(&folder);
}

static void what_a_visitor_returns_ends_the_scan(void **state)
{
    struct folder folder;
    struct found found = {.folder = &folder, .visited = DOPPEL_E_BUSY};
    (void)state;
    write_folder(&folder);
    scan_folder(&found);
    assert_int_equal(found.status, DOPPEL_E_BUSY);
    assert_int_equal(found.groups, 1);
    remove_folder(&folder);
}

static void note_status(void *context, const char *path, const struct doppel_error *reason)
{
    enum doppel_status *status = context;
    (void)path;
    *status = reason->status;
}

static enum doppel_status take_no_group(void *context, const struct doppel_group *group,
                                        struct doppel_error *error)
{
    (void)context;
    return doppel_fail(error, DOPPEL_E_ARGUMENT, "no group was expected: %s", group->keep);
}

/* By the default options; why a file failed is told with its status. */
static void failures_have_their_status(void **state)
{
    static const char *const gone[] = {"/no/such/file"};
    const struct doppel_scan_paths paths = {gone, 1, 0};
    enum doppel_status failed = DOPPEL_OK;
    const struct doppel_run_options options = {.on_failed = note_status, .context = &failed};
    struct doppel_run *run;
    (void)state;
    assert_int_equal(doppel_run_new(&options, &run, NULL), DOPPEL_OK);
    assert_int_equal(doppel_scan(run, &paths, NULL, take_no_group, NULL, NULL, NULL), DOPPEL_OK);
    assert_int_equal(failed, DOPPEL_E_NOT_FOUND);
    assert_int_equal(doppel_run_failures(run), 1);
    assert_string_equal(doppel_reason_name((enum doppel_reason)99), "unknown");
    doppel_run_free(run);
}

/* ---- copies ---- */

enum { WORDS = 300, STORIES = 3 };

/* Words of a story, every 18th of the first half another one in all but the first story, the last
 * ten other ones in the third: so the first is a little like the second, not like the third, and
 * these two are much alike. */
static void write_story(const struct folder *folder, const char *name, int story)
{
    FILE *file = create_file(folder, name);
    for (int i = 0; i < WORDS; i++) {
        const bool changed = story && i % 18 == 10 && i < 160, end = story == 2 && i >= WORDS - 10;
        fprintf(file, "%s%xle ", end ? "last" : changed ? "other" : "word", i);
    }
    fclose(file);
}

/* Whichever comes first: the two copies are in one group. */
static void copies_are_not_parted(void **state)
{
    static const int orders[][STORIES] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                          {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    static const char *const names[STORIES] = {"a.txt", "b.txt", "c.txt"};
    (void)state;
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
        struct folder folder = {"/tmp/doppel-scan-XXXXXX"};
        assert_non_null(mkdtemp(folder.path));
        for (int place = 0; place < STORIES; place++)
            write_story(&folder, names[place], orders[i][place]);
        struct found found = {.folder = &folder};
        scan_folder(&found);
        assert_int_equal(found.status, DOPPEL_OK);
        assert_int_equal(found.groups, 1);
        /* The first is near the second alone, and so in their group where that one leads it. */
        bool second_leads = false, third_came = false;
        for (int place = 0; place < STORIES; place++) {
            const int story = orders[i][place];
            second_leads |= story == 1 && !third_came;
            third_came |= story == 2;
            if (story)
                assert_non_null(strstr(found.text, names[place]));
        }
        for (int place = 0; second_leads && place < STORIES; place++)
            assert_non_null(strstr(found.text, names[place]));
        remove_folder(&folder);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(groups_have_kinds_reasons_and_the_copy_to_keep),
        cmocka_unit_test(texts_that_repeat_none_are_visited),
        cmocka_unit_test(a_framed_copy_is_not_kept),
        cmocka_unit_test(references_are_kept),
        cmocka_unit_test(two_at_once_are_as_alone),
        cmocka_unit_test(a_cancelled_scan_says_so),
        cmocka_unit_test(groups_of_a_library_are_those_of_its_files),
        cmocka_unit_test(what_a_visitor_returns_ends_the_scan),
        cmocka_unit_test(failures_have_their_status),
        cmocka_unit_test(copies_are_not_parted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
