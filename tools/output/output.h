/* Results on stdout, one row at a time, as JSON Lines, CSV, a table for people, or bare paths (-0);
 * rows of a playlist as cue sheet or M3U as well.
 *
 * A row is the text of a JSON object, as --format json prints it. CSV, tables and -0 pick from it
 * by a layout: columns with dotted keys ("transform.mirrored"); a layout with `expand` gives a line
 * for each object of that list (the members of a group), keys of which begin with its name
 * ("members.path"). */
#ifndef DOPPEL_TOOLS_OUTPUT_OUTPUT_H
#define DOPPEL_TOOLS_OUTPUT_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>

#include <jansson.h>

#include <doppel/compare.h>
#include <doppel/core.h>
#include <doppel/match.h>

#include "core/json_writer.h"

struct report;
struct settings;

enum cell {
    CELL_TEXT,
    CELL_PATH,
    CELL_NUMBER,  /* printed as JSON has it */
    CELL_SIZE,    /* bytes; 1.2 MB for people */
    CELL_TIME,    /* seconds since 1970; a local date for people */
    CELL_SECONDS, /* a duration; 1:02:03 for people */
    CELL_WORDS,   /* text for people: not in CSV; never the first */
    CELL_PLACE,   /* seconds in a recording; 1:02.35 for people */
    CELL_BOOL,    /* yes, or nothing, for people */
    CELL_ANSWER   /* yes or no */
};

struct column {
    const char *key;
    const char *title; /* in tables; NULL: not in tables */
    enum cell cell;
};

struct layout {
    const struct column *columns;
    size_t count;
    const char *expand;   /* key of a list of objects, or NULL */
    const char *path_key; /* what -0 prints; NULL: -0 changes nothing */
    /* Whether -0 prints an element of the list of a row; NULL: all. */
    bool (*bare_wants)(const json_t *row, const json_t *element);
};

struct output;

/** @param layout,report borrowed for the life of the output. Never fails: exits without memory. */
struct output *output_new(const struct settings *settings, const struct layout *layout,
                          struct report *report);

/** For people, print no table but a tree for each row, which is a group. Before the first row. */
void output_trees(struct output *output);

/** For people, print no table but for each row lines of a name and a value. Before the first row.
 */
void output_sheets(struct output *output);

/** Begin a row: an object, to which its members are written. One at a time.
 *
 * @return borrowed until output_end */
struct doppel_json *output_begin(struct output *output);

/** End the row and print it. JSON is flushed at once; tables are aligned in blocks of rows. */
void output_end(struct output *output);

/** Print a whole object. */
void output_object(struct output *output, const struct doppel_json *object);

/** Print an object that was read again, in tables, CSV and as bare paths: not in JSON. */
void output_parsed(struct output *output, const json_t *object);

/** A last line for people; nothing in the other formats. */
void output_line(struct output *output, const char *text);

/** Print what is held back now: of rows that come one by one. */
void output_flush(struct output *output);

/** Print what is held back and free. @return false when stdout could not be written (said, unless a
 * pipe was closed): the verb returns EXIT_WRONG_USE then */
bool output_finish(struct output *output);

/** "1.2 MB"; `out` always ends in NUL. */
void human_size(double bytes, char *out, size_t size);

/** The columns of doppel_match_to_json, to be repeated in a layout after the verb's own. */
#define MATCH_COLUMNS                                                                              \
    {"kind", NULL, CELL_TEXT}, {"scheme", NULL, CELL_TEXT}, {"relation", "relation", CELL_TEXT},   \
        {"distance", "distance", CELL_NUMBER}, {"bits", NULL, CELL_NUMBER},                        \
        {"similarity", "similarity", CELL_NUMBER}, {"score", NULL, CELL_NUMBER},                   \
        {"false_positive_rate", "FP rate", CELL_NUMBER}, {"verified", "verified", CELL_TEXT},      \
        {"transform.mirrored", NULL, CELL_BOOL}, {"transform.rotated", NULL, CELL_NUMBER},         \
        {"transform.cropped", NULL, CELL_BOOL}, {"transform.trimmed", NULL, CELL_BOOL},            \
        {"transform.speed", "speed", CELL_NUMBER}, {"transform.pitch", "pitch", CELL_NUMBER},      \
        {"query_coverage", NULL, CELL_NUMBER},                                                     \
    {                                                                                              \
        "item_coverage", NULL, CELL_NUMBER                                                         \
    }

#endif
