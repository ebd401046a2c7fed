/* What output.c and its formats share. */
#ifndef DOPPEL_TOOLS_OUTPUT_FORMATS_H
#define DOPPEL_TOOLS_OUTPUT_FORMATS_H

#include <stdio.h>

#include "tools/output/output.h"

enum { MAX_COLUMNS = 48 };

/* A value of a row by dotted key, or NULL; `element` is the one of the expanded list, or NULL. */
json_t *cell_value(const struct layout *layout, const json_t *row, const json_t *element,
                   const char *key);

/* A value as text: strings as they are, all else as JSON has it; given (free). NULL for NULL. */
char *cell_text(const json_t *value);

void csv_write_header(FILE *stream, const struct layout *layout);
/* @param terminal what a terminal would obey is spelled out */
void csv_write_row(FILE *stream, const struct layout *layout, const json_t *row,
                   const json_t *element, bool terminal);
/* RFC 4180: in quotes where it must be. */
void csv_write_field(FILE *stream, const char *text);

struct text_table;
struct text_table *table_new(const struct layout *layout, bool color);
void table_add(struct text_table *table, FILE *stream, const json_t *row, const json_t *element);
/* The lines before this belong together: a blank line follows them. */
void table_end_group(struct text_table *table);
/* Print the lines that are held back, with all columns: what later ones have is not known. */
void table_flush(struct text_table *table, FILE *stream);
void table_finish(struct text_table *table, FILE *stream);

/* A group, for people. @param columns of the terminal; 0: it is none, lines are as long as they are
 */
void tree_print(FILE *stream, const json_t *row, bool with_color, size_t columns);

/* A row as lines of a name and a value. */
void sheet_print(FILE *stream, const struct layout *layout, const json_t *row, bool with_color);

/* Rows of a playlist as a cue sheet, a track each. */
struct cue_sheet {
    unsigned tracks;
    long end_frames; /* of the last track, in the file at hand */
};
void cue_print(struct cue_sheet *cue, FILE *stream, const json_t *row);

/* The same as extended M3U. */
void m3u_begin(FILE *stream);
void m3u_print(FILE *stream, const json_t *row);

/* A cell as people read it; given (free); "" when absent. */
char *human_text(enum cell cell, const json_t *value);

#endif
