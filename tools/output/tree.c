/* Groups for people: a head, the kept one, and below it the others, what each is to it, in columns
 * of the group. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "tools/memory.h"
#include "tools/output/formats.h"
#include "core/text/printable.h"

enum part { REASON, SIMILARITY, DISTANCE, SIZE, PIXELS, DURATION, NOTES, PARTS };

/* So wide at least, that most groups stand alike. */
static const size_t usual_width[PARTS] = {[REASON] = 9, [SIMILARITY] = 4, [SIZE] = 7};

struct member_text {
    char *parts[PARTS];
    char *path;
    bool kept;
};

struct row_tree {
    FILE *stream;
    bool color;
    size_t columns;
    size_t width[PARTS];
};

/* ---- what is said of a member ---- */

static char *formatted(const char *format, ...) DOPPEL_PRINTF(1, 2);
static char *formatted(const char *format, ...)
{
    char *text = NULL;
    va_list arguments;
    va_start(arguments, format);
    int length = vasprintf(&text, format, arguments);
    va_end(arguments);
    return must_have(length < 0 ? NULL : text);
}

static char *similarity_of(const json_t *member)
{
    double similarity = json_number_value(json_object_get(member, "similarity"));
    int percent = (int)(similarity * 100 + 0.5);
    if (!json_object_get(member, "bits") && !json_object_get(member, "relation"))
        return must_copy(""); /* identical, or the kept one */
    return formatted("%d%%", percent == 100 && similarity < 1 ? 99 : percent);
}

static char *distance_of(const json_t *member)
{
    const json_t *distance = json_object_get(member, "distance");
    json_int_t bits = json_integer_value(json_object_get(member, "bits"));
    return bits ? formatted("%lld/%lld", (long long)json_integer_value(distance), (long long)bits)
                : must_copy("");
}

static char *pixels_of(const json_t *member)
{
    json_int_t width = json_integer_value(json_object_get(member, "width"));
    json_int_t height = json_integer_value(json_object_get(member, "height"));
    return width ? formatted("%lld\u00d7%lld", (long long)width, (long long)height) : must_copy("");
}

/* What a person decided. */
static const char *mark_note(const json_t *member)
{
    const char *mark = json_string_value(json_object_get(member, "mark"));
    return !mark                         ? ""
           : strcmp(mark, "leave") == 0  ? " left alone"
           : strcmp(mark, "remove") == 0 ? " marked: remove"
                                         : " marked: keep";
}

static char *notes_of(const json_t *member)
{
    const json_t *transform = json_object_get(member, "transform");
    long long turned = (long long)json_integer_value(json_object_get(transform, "rotated"));
    double speed = json_number_value(json_object_get(transform, "speed"));
    size_t names = json_array_size(json_object_get(member, "names"));
    char angle[32] = "", pace[32] = "", linked[64] = "";
    if (turned)
        snprintf(angle, sizeof angle, " turned %lld\u00b0", turned);
    if (speed > 0 && (speed < 0.9995 || speed > 1.0005))
        snprintf(pace, sizeof pace, " speed %.3f", speed);
    if (names)
        snprintf(linked, sizeof linked, " with %zu other name%s", names, names == 1 ? "" : "s");
    char *notes =
        formatted("%s%s%s%s%s%s%s%s%s%s%s%s%s", mark_note(member), linked,
                  json_object_get(member, "companion_of") ? " of one shot with one above" : "",
                  json_is_true(json_object_get(member, "gone")) ? " gone" : "",
                  json_object_get(member, "frees") ? " has names elsewhere" : "",
                  json_is_true(json_object_get(member, "reference")) ? " reference" : "",
                  json_is_true(json_object_get(member, "burst")) ? " burst" : "",
                  json_is_true(json_object_get(transform, "mirrored")) ? " mirrored" : "", angle,
                  json_is_true(json_object_get(transform, "cropped")) ? " cropped" : "",
                  json_is_true(json_object_get(transform, "trimmed")) ? " trimmed" : "", pace,
                  json_object_get(member, "identical_to") ? " identical to one above" : "");
    memmove(notes, notes + (*notes == ' '), strlen(notes) + (*notes != ' '));
    return notes;
}

/* A record is called by its id and its line. */
static char *tree_record(const json_t *member)
{
    const json_t *record = json_object_get(member, "record"),
                 *path = json_object_get(member, "path");
    char *id = human_text(CELL_TEXT, record), *file = human_text(CELL_PATH, path);
    long long line = (long long)json_integer_value(json_object_get(member, "line"));
    char *text = path     ? formatted("%s%s%s:%lld", id, record ? "  " : "", file, line)
                 : record ? formatted("%s", id)
                          : formatted("item %lld",
                                      (long long)json_integer_value(json_object_get(member, "id")));
    free(id);
    free(file);
    return text;
}

static char *tree_name(const json_t *member)
{
    if (json_object_get(member, "line"))
        return tree_record(member);
    return human_text(CELL_PATH,
                      json_object_get(member, json_object_get(member, "path") ? "path" : "name"));
}

/* Reasons are keys of JSON; people read what they mean. */
static const char *reason_for_people(const char *reason)
{
    return strcmp(reason, "kept") == 0   ? "keep"
           : strcmp(reason, "part") == 0 ? "contained"
                                         : reason;
}

static struct member_text tree_text(const json_t *member)
{
    const char *reason = json_string_value(json_object_get(member, "reason"));
    return (struct member_text){
        .parts = {[REASON] = must_copy(reason_for_people(reason)),
                  [SIMILARITY] = similarity_of(member),
                  [DISTANCE] = distance_of(member),
                  [SIZE] = human_text(CELL_SIZE, json_object_get(member, "size")),
                  [PIXELS] = pixels_of(member),
                  [DURATION] = human_text(CELL_SECONDS, json_object_get(member, "duration")),
                  [NOTES] = notes_of(member)},
        .path = tree_name(member),
        .kept = strcmp(reason, "kept") == 0,
    };
}

static void text_free(struct member_text *text)
{
    for (size_t i = 0; i < PARTS; i++)
        free(text->parts[i]);
    free(text->path);
}

/* ---- printing ---- */

static const char *color(const struct row_tree *tree, const char *code)
{
    return tree->color ? code : "";
}

/* The bytes at the beginning of `text` that take `columns` columns. */
static size_t bytes_of_columns(const char *text, size_t columns)
{
    size_t used = 0;
    char point[8] = "";
    while (text[used]) {
        size_t length = utf8_decode(text + used, NULL);
        length = length ? length : 1;
        memcpy(point, text + used, length);
        point[length] = '\0';
        size_t width = display_width(point);
        if (width > columns)
            break;
        columns -= width;
        used += length;
    }
    return used;
}

/* A path that does not fit loses what is in the middle: its beginning and its name tell most. */
static void print_path(const struct row_tree *tree, const char *path, size_t room)
{
    enum { LEAST_ROOM = 16 };
    size_t width = display_width(path);
    if (!tree->columns || room < LEAST_ROOM || width <= room) {
        fputs(path, tree->stream);
        return;
    }
    size_t head = bytes_of_columns(path, room / 3), tail_room = room - room / 3 - 1;
    size_t tail = bytes_of_columns(path, width - tail_room);
    while (display_width(path + tail) > tail_room)
        tail += utf8_decode(path + tail, NULL);
    fprintf(tree->stream, "%.*s\u2026%s", (int)head, path, path + tail);
}

static bool aligns_right(enum part part)
{
    return part != REASON && part != NOTES;
}

/* @return columns used */
static size_t print_parts(const struct row_tree *tree, const struct member_text *text)
{
    size_t used = 0;
    for (size_t i = 0; i < PARTS; i++) {
        int padding = (int)(tree->width[i] - display_width(text->parts[i]));
        bool right = aligns_right((enum part)i), green = i == REASON && text->kept;
        if (!tree->width[i])
            continue;
        fprintf(tree->stream, "%*s%s%s%s%*s  ", right ? padding : 0, "",
                color(tree, green ? "\033[32m" : ""), text->parts[i],
                color(tree, green ? "\033[0m" : ""), right ? 0 : padding, "");
        used += tree->width[i] + 2;
    }
    return used;
}

static void print_member(const struct row_tree *tree, const struct member_text *text, bool last)
{
    enum { MARGIN = 5 };
    const char *branch = text->kept ? "\u25cf" : last ? "\u2514" : "\u251c";
    fprintf(tree->stream, "   %s%s%s ", color(tree, text->kept ? "\033[32m" : "\033[2m"), branch,
            color(tree, "\033[0m"));
    size_t used = MARGIN + print_parts(tree, text);
    fputs(color(tree, "\033[36m"), tree->stream);
    print_path(tree, text->path, tree->columns > used ? tree->columns - used : 0);
    fprintf(tree->stream, "%s\n", color(tree, "\033[0m"));
}

static void print_head(const struct row_tree *tree, const json_t *row, size_t count)
{
    char size[32];
    bool records = false;
    size_t i;
    json_t *member;
    json_array_foreach(json_object_get(row, "members"), i, member) records |=
        json_object_get(member, "line") != NULL;
    double savable = json_number_value(json_object_get(row, "savable"));
    human_size(savable, size, sizeof size);
    fprintf(tree->stream, "%s%lld  %s, %zu %s%s", color(tree, "\033[1m"),
            (long long)json_integer_value(json_object_get(row, "group")),
            json_string_value(json_object_get(row, "kind")), count, records ? "texts" : "files",
            color(tree, "\033[0m"));
    if (savable > 0)
        fprintf(tree->stream, ": %s could be saved", size);
    fputc('\n', tree->stream);
}

static void measure(struct row_tree *tree, const struct member_text *texts, size_t count)
{
    memcpy(tree->width, usual_width, sizeof tree->width);
    for (size_t i = 0; i < count; i++)
        for (size_t part = 0; part < PARTS; part++) {
            size_t width = display_width(texts[i].parts[part]);
            if (width > tree->width[part])
                tree->width[part] = width;
        }
}

void tree_print(FILE *stream, const json_t *row, bool with_color, size_t columns)
{
    struct row_tree tree = {.stream = stream, .color = with_color, .columns = columns};
    const json_t *members = json_object_get(row, "members");
    size_t count = json_array_size(members);
    struct member_text *texts = must_allocate((count + 1) * sizeof *texts);
    for (size_t i = 0; i < count; i++)
        texts[i] = tree_text(json_array_get(members, i));
    measure(&tree, texts, count);
    print_head(&tree, row, count);
    for (size_t i = 0; i < count; i++)
        print_member(&tree, &texts[i], i + 1 == count);
    fputc('\n', stream);
    for (size_t i = 0; i < count; i++)
        text_free(&texts[i]);
    free(texts);
}
