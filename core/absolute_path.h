/* The absolute form of a path. */
#ifndef DOPPEL_CORE_ABSOLUTE_PATH_H
#define DOPPEL_CORE_ABSOLUTE_PATH_H

/** Without links where it leads anywhere, else below the working directory. Given (free); NULL
 * without memory. */
char *absolute_path(const char *path);

#endif
