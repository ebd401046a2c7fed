/* Opening what lies deeper than one call of the kernel can say. */
#ifndef DOPPEL_CORE_FILES_OPEN_DEEP_H
#define DOPPEL_CORE_FILES_OPEN_DEEP_H

/* As open(2), to be read, of a path of any length. */
int open_deep(const char *path, int flags);

#endif
