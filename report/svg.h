/* Pictures in SVG: what all of them share. Their colours follow the viewer's preference for light
 * or dark. */
#ifndef DOPPEL_REPORT_SVG_H
#define DOPPEL_REPORT_SVG_H

#include <stdbool.h>
#include <stdio.h>

#include <doppel/core.h>

/* A picture to be drawn. Classes that are there: title, small, paper, grid, frame. */
struct svg {
    size_t width, height;                      /* pixels */
    const char *style;                         /* more of CSS */
    bool (*draw)(void *context, FILE *stream); /* all between <svg> and </svg>; false: no memory */
    void *context;
};

/** Write it to a file. DOPPEL_E_IO, DOPPEL_E_MEMORY. */
enum doppel_status svg_write(const char *path, const struct svg *svg, struct doppel_error *error);

/** The end of a name, which may be any bytes: what XML or a terminal would not take is replaced. */
void svg_print_name(FILE *stream, const char *name, size_t most_bytes);

/** From one mark to the next on an axis of so many seconds, so that there are at most `marks`. */
double svg_clock_step(double range, int marks);

#endif
