/* JSON Lines: one object a line. */
#include <stdlib.h>

#include "tools/output/formats.h"

void json_write(FILE *stream, const json_t *row)
{
    /* 15 digits give back every rounded decimal as it was written. */
    char *text = json_dumps(row, JSON_COMPACT | JSON_REAL_PRECISION(15));
    if (!text)
        return;
    fputs(text, stream);
    fputc('\n', stream);
    free(text);
}
