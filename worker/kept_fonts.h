/* Fonts that PDFs name and do not bring along: kept in memory before the sandbox, in which nothing
 * is opened. */
#ifndef DOPPEL_WORKER_KEPT_FONTS_H
#define DOPPEL_WORKER_KEPT_FONTS_H

/* From now on what is opened to be read, and is a font by its name, is kept. */
void keep_fonts(void);

/* From now on nothing but what was kept can be opened. */
void hold_fonts(void);

#endif
