/* The absolute form of a path. */
#include "core/absolute_path.h"

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
