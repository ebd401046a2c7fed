/* The collection of the end-to-end tests. */
#include "collection.h"

#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <jansson.h>

#include "command.h"

/* ---- drawing ---- */

static bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), tail = strlen(end);
    return length >= tail && strcmp(text + length - tail, end) == 0;
}

void keep_image(const char *path, struct image image, int quality)
{
    assert_non_null(image.pixels);
    assert_true(ends_with(path, ".png") ? write_png(path, &image)
                                        : write_jpeg(path, &image, quality));
    image_free(&image);
}

void keep_drawing(const char *path, unsigned subject, uint32_t seed)
{
    keep_image(path, draw_image(subject, seed, DRAWN_WIDTH, DRAWN_HEIGHT), 90);
}

enum { MOUNTAINS, CLOCK, CHART, MARBLE, DOCUMENT, CITY, JULIA, PLANET, TILES, TREE, SEA, MOSAIC };

const char COLLECTION_GROUPS[] =
    "pics/city-framed.jpg near, pics/city.jpg kept\n"
    "pics/clock-again.png identical, pics/clock-third.png identical, pics/clock.png kept\n"
    "pics/marble-turned.jpg near, pics/marble.jpg kept\n"
    "pics/mountains-compressed.jpg near, pics/mountains-small.jpg near, pics/mountains.jpg kept\n"
    "pics/sub/planet-cropped.jpg part, pics/sub/planet.jpg kept\n"
    "pics/tree-mirrored.jpg near, pics/tree.jpg kept\n";

static void draw_originals(void)
{
    keep_drawing("pics/mountains.jpg", MOUNTAINS, 3);
    keep_drawing("pics/clock.png", CLOCK, 3);
    keep_drawing("pics/chart.jpg", CHART, 3);
    keep_drawing("pics/marble.jpg", MARBLE, 3);
    keep_drawing("pics/city.jpg", CITY, 3);
    keep_drawing("pics/julia.jpg", JULIA, 3);
    keep_drawing("pics/sub/planet.jpg", PLANET, 3);
    keep_drawing("pics/tiles.jpg", TILES, 3);
    keep_drawing("pics/tree.jpg", TREE, 3);
    keep_drawing("pics/sea.jpg", SEA, 3);
    keep_drawing("pics/sub/mosaic.jpg", MOSAIC, 3);
    keep_drawing("pics/sub/mosaic-of-another-seed.jpg", MOSAIC, 4);
}

static void draw_copies(void)
{
    struct image from = draw_image(MOUNTAINS, 3, DRAWN_WIDTH, DRAWN_HEIGHT);
    keep_image("pics/mountains-small.jpg", edit_shrink(&from, 240, 180), 85);
    keep_image("pics/mountains-compressed.jpg", from, 20);
    copy_file("pics/clock.png", "pics/clock-again.png");
    copy_file("pics/clock.png", "pics/clock-third.png");
    from = draw_image(CITY, 3, DRAWN_WIDTH, DRAWN_HEIGHT);
    keep_image("pics/city-framed.jpg", edit_border(&from, 40, 255), 85);
    image_free(&from);
    from = draw_image(PLANET, 3, DRAWN_WIDTH, DRAWN_HEIGHT);
    keep_image("pics/sub/planet-cropped.jpg", edit_crop(&from, 24, 18, 432, 324), 85);
    image_free(&from);
    from = draw_image(TREE, 3, DRAWN_WIDTH, DRAWN_HEIGHT);
    keep_image("pics/tree-mirrored.jpg", edit_mirror(&from), 85);
    image_free(&from);
    from = draw_image(MARBLE, 3, DRAWN_WIDTH, DRAWN_HEIGHT);
    keep_image("pics/marble-turned.jpg", edit_turn(&from), 85);
    image_free(&from);
}

/* ---- drawn once, then written from memory ---- */

static struct {
    char *path, *bytes;
    size_t size;
} drawn[64];
static size_t drawn_count;

static int remember(const char *path, const struct stat *stat, int type)
{
    (void)stat;
    if (type != FTW_F)
        return 0;
    assert_true(drawn_count < sizeof drawn / sizeof *drawn);
    drawn[drawn_count].path = strdup(path);
    drawn[drawn_count].bytes = read_file(path, &drawn[drawn_count].size);
    drawn_count++;
    return 0;
}

static void draw_all(void)
{
    draw_originals();
    draw_copies();
    assert_int_equal(ftw("pics", remember, 8), 0);
    assert_int_equal(drawn_count, COLLECTION_FILES);
}

void make_collection(void)
{
    /* Of equal files the oldest is kept. */
    const struct timespec old[] = {{1000000000, 0}, {1000000000, 0}};
    make_folder("pics");
    make_folder("pics/sub");
    if (drawn_count == 0)
        draw_all();
    for (size_t i = 0; i < drawn_count; i++)
        write_file(drawn[i].path, drawn[i].bytes, drawn[i].size);
    assert_int_equal(utimensat(AT_FDCWD, "pics/clock.png", old, 0), 0);
}

/* ---- reading groups ---- */

static int by_bytes(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Sort the `count` strings, join them with `between`, and free them. */
static char *join_sorted(char **parts, size_t count, const char *between)
{
    size_t size = 1;
    for (size_t i = 0; i < count; i++)
        size += strlen(parts[i]) + strlen(between);
    char *joined = calloc(1, size);
    assert_non_null(joined);
    qsort(parts, count, sizeof *parts, by_bytes);
    for (size_t i = 0; i < count; i++) {
        strcat(strcat(joined, i ? between : ""), parts[i]);
        free(parts[i]);
    }
    return joined;
}

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    if (!text)
        fail_msg("no \"%s\" in %s", key, json_dumps(object, 0));
    return text;
}

/* "path reason", once the member is seen to be whole. */
static char *member_as_text(const json_t *member, const char *keep, const char *base)
{
    const char *path = text_of(member, "path"), *reason = text_of(member, "reason");
    assert_int_equal(strncmp(path, base, strlen(base)), 0);
    assert_true(json_is_integer(json_object_get(member, "size")));
    assert_true(json_is_number(json_object_get(member, "mtime")));
    assert_int_equal(strcmp(reason, "kept") == 0, strcmp(path, keep) == 0);
    if (strcmp(reason, "near") == 0) {
        double similarity = json_number_value(json_object_get(member, "similarity"));
        assert_true(similarity > 0 && similarity <= 1);
        bool recording = json_object_get(member, "duration"); /* they have no distance */
        assert_true(json_is_integer(json_object_get(member, "distance")) || recording);
    }
    char *text = malloc(strlen(path) + strlen(reason) + 2);
    assert_non_null(text);
    sprintf(text, "%s %s", path + strlen(base), reason);
    return text;
}

static char *group_as_text(const char *line, size_t length, unsigned number, const char *base)
{
    json_error_t error;
    json_t *group = json_loadb(line, length, 0, &error);
    if (!group)
        fail_msg("not JSON: %s: %.*s", error.text, (int)length, line);
    assert_int_equal(json_integer_value(json_object_get(group, "group")), number);
    const char *kind = text_of(group, "kind");
    assert_true(strcmp(kind, "image") == 0 || strcmp(kind, "text") == 0 ||
                strcmp(kind, "audio") == 0 || strcmp(kind, "video") == 0);
    const json_t *members = json_object_get(group, "members");
    size_t count = json_array_size(members);
    assert_true(count >= 2 && count <= 64);
    char *parts[64];
    for (size_t i = 0; i < count; i++)
        parts[i] = member_as_text(json_array_get(members, i), text_of(group, "keep"), base);
    json_decref(group);
    return join_sorted(parts, count, ", ");
}

char *groups_as_text(const char *json_lines, const char *base)
{
    enum { MAX_GROUPS = 4096 };
    static char *groups[MAX_GROUPS + 1];
    size_t count = 0;
    for (const char *line = json_lines, *end; (end = strchr(line, '\n')); line = end + 1) {
        assert_true(count < MAX_GROUPS);
        groups[count] = group_as_text(line, (size_t)(end - line), (unsigned)count + 1, base);
        count++;
    }
    groups[count] = strdup("\xff"); /* sorts last: so that each line is ended */
    char *text = join_sorted(groups, count + 1, "\n");
    text[strlen(text) - 1] = 0;
    return text;
}
