/* The absolute form of a path, and what lies below a folder. */
#ifndef DOPPEL_CORE_FILES_ABSOLUTE_PATH_H
#define DOPPEL_CORE_FILES_ABSOLUTE_PATH_H

#include <stdbool.h>

/** Without links where it leads anywhere, else below the working directory. Given (free); NULL
 * without memory. */
char *absolute_path(const char *path);

/** Whether a path is of something below a folder, or below what a link to a folder leads to.
 * @param real absolute, without links. @return false also without memory, or without such a folder
 */
bool lies_below(const char *real, const char *folder);

#endif
