/* The walk on made trees: order, filters, links, loops, odd names, what cannot be read. */
#include "tree.h"

#include "core/files/file_set.h"
#include "intake/walk.h"

/* What a walk gave, a line an entry: "file a/b 0". */
struct listing {
    char text[8192];
    size_t count[4];
};

static void list_entry(struct listing *listing, const struct walk_entry *entry)
{
    static const char *const names[] = {"file", "same", "skip", "error"};
    size_t used = strlen(listing->text);
    listing->count[entry->what]++;
    snprintf(listing->text + used, sizeof listing->text - used, "%s %s %zu\n", names[entry->what],
             entry->path, entry->argument);
}

static struct listing walked(const struct doppel_walk_options *options)
{
    struct listing listing = {0};
    struct walk *walk;
    struct walk_entry entry;
    assert_int_equal(walk_new(options, NULL, &walk, NULL), DOPPEL_OK);
    while (walk_next(walk, &entry)) {
        list_entry(&listing, &entry);
        walk_entry_free(&entry);
    }
    walk_free(walk);
    return listing;
}

#define PATHS(...)                                                                                 \
    {                                                                                              \
        .items = (const char *[]){__VA_ARGS__},                                                    \
        .count = sizeof((const char *[]){__VA_ARGS__}) / sizeof(const char *)                      \
    }

static void order_is_by_bytes_depth_first(void **state)
{
    (void)state;
    tree_file("b/2", "x");
    tree_file("b/1/z", "x");
    tree_file("b/1/A", "x");
    tree_file("a.txt", "x");
    tree_file("B", "x");
    struct doppel_walk_options options = {.paths = PATHS("b/", "./a.txt", ".")};
    assert_string_equal(walked(&options).text, "file b/1/A 0\n"
                                               "file b/1/z 0\n"
                                               "file b/2 0\n"
                                               "file ./a.txt 1\n"
                                               "file ./B 2\n"
                                               "skip ./a.txt 2\n"
                                               "skip ./b 2\n");
}

static void paths_that_overlap_give_a_file_once(void **state)
{
    (void)state;
    tree_file("a/b/file", "x");
    struct doppel_walk_options inner_last = {.paths = PATHS("a", "a/b")};
    assert_string_equal(walked(&inner_last).text, "skip a/b 0\nfile a/b/file 1\n");
    struct doppel_walk_options twice = {.paths = PATHS("a", "a/")};
    assert_string_equal(walked(&twice).text, "file a/b/file 0\nskip a/ 1\n");
    struct doppel_walk_options file_twice = {.paths = PATHS("a/b/file", "a/b/file", "a")};
    assert_string_equal(walked(&file_twice).text,
                        "file a/b/file 0\nsame a/b/file 1\nskip a/b/file 2\n");
}

static void hidden_and_trash_are_left_out(void **state)
{
    (void)state;
    tree_file("x/.hidden/file", "x");
    tree_file("x/.Trash-1000/file", "x");
    tree_file("x/.cache/thumbnails/file", "x");
    tree_file("x/@eaDir/file", "x");
    tree_file("x/seen", "x");
    struct doppel_walk_options options = {.paths = PATHS("x")};
    assert_string_equal(walked(&options).text, "skip x/.Trash-1000 0\n"
                                               "skip x/.cache 0\n"
                                               "skip x/.hidden 0\n"
                                               "skip x/@eaDir 0\n"
                                               "file x/seen 0\n");
    options.hidden = true;
    assert_string_equal(walked(&options).text, "skip x/.Trash-1000 0\n"
                                               "skip x/.cache/thumbnails 0\n"
                                               "file x/.hidden/file 0\n"
                                               "skip x/@eaDir 0\n"
                                               "file x/seen 0\n");
    struct doppel_walk_options named = {.paths = PATHS("x/.Trash-1000", "x/.hidden/file")};
    assert_string_equal(walked(&named).text, "file x/.Trash-1000/file 0\nfile x/.hidden/file 1\n");
}

static void globs_exclude(void **state)
{
    (void)state;
    tree_file("x/a.jpg", "x");
    tree_file("x/b.png", "x");
    tree_file("x/sub/c.png", "x");
    tree_file("x/sub/deep/d.jpg", "x");
    tree_file("x/tmp", "x");
    const struct {
        const char *glob, *expected;
    } cases[] = {
        {"*.png", "skip x/b.png 0\nskip x/sub/c.png 0\n"},
        {"/*.png", "skip x/b.png 0\n"},
        {"sub/*.png", "skip x/sub/c.png 0\n"},
        {"sub/*.jpg", ""},
        {"sub/**.jpg", "skip x/sub/deep/d.jpg 0\n"},
        {"deep", "skip x/sub/deep 0\n"},
        {"tmp/", ""},
        {"sub/", "skip x/sub 0\n"},
        {"x", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct doppel_walk_options options = {.paths = PATHS("x"), .exclude = PATHS(cases[i].glob)};
        struct listing listing = walked(&options);
        char skipped[512] = "";
        for (char *line = strtok(listing.text, "\n"); line; line = strtok(NULL, "\n"))
            if (strncmp(line, "skip", 4) == 0)
                strcat(strcat(skipped, line), "\n");
        assert_string_equal(skipped, cases[i].expected);
    }
}

static void small_files_are_left_out(void **state)
{
    (void)state;
    tree_file("x/four", "1234");
    tree_file("x/three", "123");
    struct doppel_walk_options options = {.paths = PATHS("x"), .min_size = 4};
    assert_string_equal(walked(&options).text, "file x/four 0\nskip x/three 0\n");
}

static void hard_links_are_one_file(void **state)
{
    (void)state;
    tree_file("x/a", "1");
    assert_int_equal(link("x/a", "x/b"), 0);
    tree_file("x/c", "1");
    struct doppel_walk_options options = {.paths = PATHS("x")};
    assert_string_equal(walked(&options).text, "file x/a 0\nsame x/b 0\nfile x/c 0\n");
}

static void loops_of_links_end(void **state)
{
    (void)state;
    tree_file("x/a/file", "1");
    assert_int_equal(symlink("..", "x/a/up"), 0);
    assert_int_equal(symlink("a", "x/again"), 0);
    assert_int_equal(symlink("a/file", "x/link"), 0);
    assert_int_equal(symlink("nowhere", "x/nothing"), 0);
    assert_int_equal(symlink("self", "x/self"), 0);
    struct doppel_walk_options options = {.paths = PATHS("x")};
    assert_string_equal(walked(&options).text, "file x/a/file 0\n"
                                               "skip x/a/up 0\n"
                                               "skip x/again 0\n"
                                               "skip x/link 0\n"
                                               "skip x/nothing 0\n"
                                               "skip x/self 0\n");
    options.follow = true;
    assert_string_equal(walked(&options).text, "file x/a/file 0\n"
                                               "skip x/a/up 0\n"
                                               "skip x/again 0\n"
                                               "same x/link 0\n"
                                               "error x/nothing 0\n"
                                               "error x/self 0\n");
    struct doppel_walk_options named = {.paths = PATHS("x/link", "x/nothing")};
    assert_string_equal(walked(&named).text, "file x/link 0\nerror x/nothing 1\n");
}

static void odd_names_pass_through(void **state)
{
    (void)state;
    tree_file("x/new\nline", "1");
    tree_file("x/bad\xff\xfeutf8", "1");
    tree_file("x/ space ", "1");
    struct doppel_walk_options options = {.paths = PATHS("x")};
    assert_string_equal(walked(&options).text,
                        "file x/ space  0\nfile x/bad\xff\xfeutf8 0\nfile x/new\nline 0\n");
}

static void every_name_is_given_when_asked_for(void **state)
{
    (void)state;
    tree_file("x/a", "1");
    assert_int_equal(link("x/a", "x/b"), 0);
    struct doppel_walk_options options = {.paths = PATHS("x/a", "x/a", "x"), .every_name = true};
    assert_string_equal(walked(&options).text, "file x/a 0\nfile x/a 1\nfile x/a 2\nfile x/b 2\n");
}

static void pipes_are_not_opened(void **state)
{
    (void)state;
    assert_int_equal(mkdir("x", 0755), 0);
    assert_int_equal(mkfifo("x/pipe", 0644), 0);
    struct doppel_walk_options options = {.paths = PATHS("x", "x/pipe", "/dev/null", "x/none")};
    assert_string_equal(walked(&options).text, "skip x/pipe 0\n"
                                               "error x/pipe 1\n"
                                               "error /dev/null 2\n"
                                               "error x/none 3\n");
}

static void unreadable_folders_are_reported(void **state)
{
    (void)state;
    tree_file("x/a", "1");
    tree_file("x/locked/file", "1");
    tree_file("x/z", "1");
    assert_int_equal(chmod("x/locked", 0), 0);
    bool root = geteuid() == 0;
    assert_int_equal(root ? seteuid(65534) : 0, 0);
    struct doppel_walk_options options = {.paths = PATHS("x")};
    struct listing listing = walked(&options);
    assert_int_equal(root ? seteuid(0) : 0, 0);
    assert_int_equal(chmod("x/locked", 0755), 0);
    assert_string_equal(listing.text, "file x/a 0\nerror x/locked 0\nfile x/z 0\n");
}

static void too_deep_is_an_error(void **state)
{
    (void)state;
    assert_int_equal(mkdir("x", 0755), 0);
    assert_int_equal(chdir("x"), 0);
    for (int i = 0; i < 300; i++) {
        assert_int_equal(mkdir("d", 0755), 0);
        assert_int_equal(chdir("d"), 0);
    }
    assert_int_equal(chdir(tree_root), 0);
    struct doppel_walk_options options = {.paths = PATHS("x")};
    struct listing listing = walked(&options);
    assert_int_equal(listing.count[WALK_ERROR], 1);
    assert_int_equal(listing.count[WALK_FILE], 0);
}

static void lists_name_more_paths(void **state)
{
    (void)state;
    tree_file("x/a", "1");
    tree_file("x/b\nb", "1");
    tree_file("lines", "x/a\n\nnone\nx/a\nx");
    tree_file("first", "1");
    struct doppel_walk_options options = {.paths = PATHS("first"), .files_from = "lines"};
    assert_string_equal(walked(&options).text, "file first 0\n"
                                               "file x/a 1\n"
                                               "error none 1\n"
                                               "same x/a 1\n"
                                               "same x/a 1\n"
                                               "file x/b\nb 1\n");
    FILE *list = fopen("nuls", "w");
    fwrite("x/b\nb\0x/a", 1, 9, list);
    fclose(list);
    struct doppel_walk_options nuls = {.files_from = "nuls", .null_separated = true};
    assert_string_equal(walked(&nuls).text, "file x/b\nb 0\nfile x/a 0\n");
}

static void endless_lines_take_no_memory(void **state)
{
    (void)state;
    FILE *list = fopen("lines", "w");
    for (int i = 0; i < 100000; i++)
        fputc('x', list);
    fputs("\nlines\n", list);
    fclose(list);
    struct doppel_walk_options options = {.files_from = "lines"};
    struct listing listing = walked(&options);
    assert_int_equal(listing.count[WALK_ERROR], 1);
    assert_int_equal(listing.count[WALK_FILE], 1);
}

static void missing_lists_are_said(void **state)
{
    (void)state;
    struct walk *walk = NULL;
    struct doppel_error error;
    struct doppel_walk_options options = {.files_from = "none"};
    assert_int_equal(walk_new(&options, NULL, &walk, &error), DOPPEL_E_NOT_FOUND);
    assert_null(walk);
    assert_string_equal(error.message, "none: No such file or directory");
}

/* The first entry that is a file, with the walk still standing at it. */
static struct walk *walk_to_file(const struct doppel_walk_options *options,
                                 struct walk_entry *entry)
{
    struct walk *walk;
    assert_int_equal(walk_new(options, NULL, &walk, NULL), DOPPEL_OK);
    while (walk_next(walk, entry) && entry->what != WALK_FILE)
        walk_entry_free(entry);
    return walk;
}

static void opens_the_file_it_looked_at(void **state)
{
    (void)state;
    struct doppel_walk_options options = {.paths = PATHS("x")};
    struct walk_entry entry;
    char byte;
    int fd = -1;
    tree_file("x/a", "1");
    tree_file("y", "2");
    struct walk *walk = walk_to_file(&options, &entry);
    assert_int_equal(walk_open(walk, &entry, &fd, NULL), DOPPEL_OK);
    assert_int_equal(read(fd, &byte, 1), 1);
    assert_int_equal(byte, '1');
    close(fd);
    assert_int_equal(unlink("x/a"), 0);
    assert_int_equal(walk_open(walk, &entry, &fd, NULL), DOPPEL_E_NOT_FOUND);
    assert_int_equal(symlink("../y", "x/a"), 0);
    assert_int_equal(walk_open(walk, &entry, &fd, NULL), DOPPEL_E_IO);
    assert_int_equal(unlink("x/a"), 0);
    assert_int_equal(mkfifo("x/a", 0644), 0);
    assert_int_equal(walk_open(walk, &entry, &fd, NULL), DOPPEL_E_CHANGED);
    walk_entry_free(&entry);
    walk_free(walk);
}

static void standard_input_is_spooled(void **state)
{
    (void)state;
    int ends[2], fd = -1, before = dup(STDIN_FILENO);
    char text[16] = "";
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], "hello", 5), 5);
    close(ends[1]);
    dup2(ends[0], STDIN_FILENO);
    struct doppel_walk_options options = {.paths = PATHS("-", "-"), .stdin_operand = true};
    struct walk_entry entry;
    struct walk *walk = walk_to_file(&options, &entry);
    assert_string_equal(entry.path, "-");
    assert_true(entry.is_stdin);
    assert_false(walk_repeatable(&options));
    assert_int_equal(entry.stat.st_size, 5);
    assert_int_equal(walk_open(walk, &entry, &fd, NULL), DOPPEL_OK);
    assert_int_equal(pread(fd, text, sizeof text, 0), 5);
    assert_string_equal(text, "hello");
    walk_entry_free(&entry);
    assert_true(walk_next(walk, &entry));
    assert_int_equal(entry.what, WALK_SAME_FILE);
    walk_entry_free(&entry);
    walk_free(walk);
    close(fd);
    dup2(before, STDIN_FILENO);
    close(before);
    close(ends[0]);
}

/* ---- against the C library's own walk ---- */

enum { MOST_FILES = 512 };
static char oracle_paths[MOST_FILES][128];
static size_t oracle_count;

static int oracle_take(const char *path, const struct stat *stat, int flag, struct FTW *ftw)
{
    (void)stat;
    (void)ftw;
    if (flag == FTW_F && S_ISREG(stat->st_mode) && oracle_count < MOST_FILES)
        strcpy(oracle_paths[oracle_count++], path);
    return 0;
}

/* Files, empty folders and links among folders that nest at random. */
static void make_random_tree(void)
{
    char path[128] = "x", other[128];
    assert_true(mkdir(path, 0755) == 0);
    for (int i = 0; i < 60; i++) {
        size_t length = strlen(path);
        snprintf(path + length, sizeof path - length, "/%c%d", (char)(' ' + rand() % 90), i);
        path[length + 1] =
            path[length + 1] == '/' || path[length + 1] == '.' ? '_' : path[length + 1];
        snprintf(other, sizeof other, "%.*s/link%d", (int)length, path, i);
        if (rand() % 3) {
            tree_file(path, "1");
            assert_true(rand() % 4 || symlink("..", other) == 0);
            path[length] = 0;
        } else {
            assert_int_equal(mkdir(path, 0755), 0);
        }
        if (rand() % 4 == 0 || length > 60)
            path[strcspn(path, "/")] = 0; /* back to the top */
    }
}

static int compare_lines(const void *a, const void *b)
{
    return strcmp(a, b);
}

static void files_are_those_of_nftw(void **state)
{
    (void)state;
    for (unsigned seed = 1; seed <= 20; seed++) {
        srand(seed);
        make_random_tree();
        oracle_count = 0;
        assert_int_equal(nftw("x", oracle_take, 16, FTW_PHYS), 0);
        qsort(oracle_paths, oracle_count, sizeof *oracle_paths, compare_lines);
        struct doppel_walk_options options = {.paths = PATHS("x"), .hidden = true};
        struct walk *walk;
        struct walk_entry entry;
        size_t count = 0;
        assert_int_equal(walk_new(&options, NULL, &walk, NULL), DOPPEL_OK);
        while (walk_next(walk, &entry)) {
            if (entry.what == WALK_FILE)
                count += bsearch(entry.path, oracle_paths, oracle_count, sizeof *oracle_paths,
                                 compare_lines) != NULL;
            walk_entry_free(&entry);
        }
        walk_free(walk);
        assert_true(oracle_count > 10);
        assert_int_equal(count, oracle_count);
        assert_int_equal(nftw("x", tree_remove_one, 16, FTW_DEPTH | FTW_PHYS), 0);
    }
}

/* ---- the set that tells files apart ---- */

static void sets_hold_what_was_added(void **state)
{
    (void)state;
    static bool added[8][512]; /* the oracle */
    struct file_set set = {0};
    size_t count = 0;
    srand(1);
    for (int i = 0; i < 20000; i++) {
        struct stat stat = {.st_dev = 1 + (dev_t)rand() % 8, .st_ino = (ino_t)rand() % 512};
        bool *has = &added[stat.st_dev - 1][stat.st_ino];
        assert_int_equal(file_set_has(&set, &stat), *has);
        if (rand() % 4 == 0) {
            assert_int_equal(file_set_add(&set, &stat), !*has);
            count += !*has;
            *has = true;
        }
    }
    assert_int_equal(set.count, count);
    file_set_free(&set);
}

#define TREE_TEST(name) cmocka_unit_test_setup_teardown(name, tree_begin, tree_end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TREE_TEST(order_is_by_bytes_depth_first),
        TREE_TEST(paths_that_overlap_give_a_file_once),
        TREE_TEST(hidden_and_trash_are_left_out),
        TREE_TEST(globs_exclude),
        TREE_TEST(small_files_are_left_out),
        TREE_TEST(hard_links_are_one_file),
        TREE_TEST(loops_of_links_end),
        TREE_TEST(odd_names_pass_through),
        TREE_TEST(every_name_is_given_when_asked_for),
        TREE_TEST(pipes_are_not_opened),
        TREE_TEST(unreadable_folders_are_reported),
        TREE_TEST(too_deep_is_an_error),
        TREE_TEST(lists_name_more_paths),
        TREE_TEST(endless_lines_take_no_memory),
        TREE_TEST(missing_lists_are_said),
        TREE_TEST(opens_the_file_it_looked_at),
        TREE_TEST(standard_input_is_spooled),
        TREE_TEST(files_are_those_of_nftw),
        cmocka_unit_test(sets_hold_what_was_added),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
