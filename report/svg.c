/* Pictures in SVG: what all of them share. */
#include "report/svg.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/files/write_all.h"
#include "core/text/point_locale.h"
#include "core/text/printable.h"

static const char style[] = "text { font: 13px system-ui, sans-serif; fill: #1f2328 }\n"
                            ".title { font-size: 15px; font-weight: 600 }\n"
                            ".small { font-size: 12px; fill: #59636e }\n"
                            ".paper { fill: #ffffff }\n"
                            ".grid { stroke: #d0d7de; stroke-width: 1 }\n"
                            ".frame { fill: none; stroke: #8c959f; stroke-width: 1 }\n"
                            "@media (prefers-color-scheme: dark) {\n"
                            "text { fill: #e6edf3 }\n"
                            ".small { fill: #9198a1 }\n"
                            ".paper { fill: #0d1117 }\n"
                            ".grid { stroke: #30363d }\n"
                            ".frame { stroke: #6e7681 }\n"
                            "}\n";

enum doppel_status svg_write(const char *path, const struct svg *svg, struct doppel_error *error)
{
    FILE *stream = fopen(path, "we");
    if (!stream)
        return doppel_fail(error, write_failure(errno), "%s: cannot be written (%s)", path,
                           strerror(errno));
    fprintf(stream,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%zu\" height=\"%zu\" "
            "viewBox=\"0 0 %zu %zu\">\n<style>\n%s%s</style>\n"
            "<rect class=\"paper\" width=\"%zu\" height=\"%zu\"/>\n",
            svg->width, svg->height, svg->width, svg->height, style, svg->style, svg->width,
            svg->height);
    locale_t before = point_locale_enter();
    bool drawn = svg->draw(svg->context, stream);
    point_locale_leave(before);
    fputs("</svg>\n", stream);
    bool failed = ferror(stream);
    failed |= fclose(stream) != 0;
    if (failed)
        return doppel_fail(error, write_failure(errno), "%s: cannot be written (%s)", path,
                           strerror(errno));
    return drawn ? DOPPEL_OK : doppel_fail(error, DOPPEL_E_MEMORY, "no memory to draw %s", path);
}

void svg_print_name(FILE *stream, const char *name, size_t most_bytes)
{
    char *shown = printable(name, true);
    if (!shown)
        return;
    size_t length = strlen(shown);
    const char *tail = length > most_bytes ? shown + length - most_bytes : shown;
    while ((*tail & 0xc0) == 0x80) /* not within a character */
        tail++;
    fputs(tail == shown ? "" : "…", stream);
    for (const char *at = tail; *at; at++)
        switch (*at) {
        case '&':
            fputs("&amp;", stream);
            break;
        case '<':
            fputs("&lt;", stream);
            break;
        case '>':
            fputs("&gt;", stream);
            break;
        default:
            fputc(*at, stream);
        }
    free(shown);
}

double svg_clock_step(double range, int marks)
{
    static const double steps[] = {.1, .2, .5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800};
    size_t i = 0;
    while (i + 1 < sizeof steps / sizeof *steps && range / steps[i] > marks)
        i++;
    return range / steps[i] > marks ? 3600 * ceil(range / 3600 / marks) : steps[i];
}
