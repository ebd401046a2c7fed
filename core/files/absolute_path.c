/* The absolute form of a path. */
#include "core/files/absolute_path.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

char *absolute_path(const char *path)
{
    char *real = realpath(path, NULL);
    if (real)
        return real;
    char *here = path[0] == '/' ? NULL : getcwd(NULL, 0);
    if (!here)
        return strdup(path);
    char *joined = NULL;
    if (asprintf(&joined, "%s/%s", here, path) < 0)
        joined = NULL;
    free(here);
    return joined;
}

bool lies_below(const char *real, const char *folder)
{
    char *above = realpath(folder, NULL);
    const size_t size = !above || strcmp(above, "/") == 0 ? 0 : strlen(above);
    const bool below = above && strncmp(real, above, size) == 0 && real[size] == '/';
    free(above);
    return below;
}
