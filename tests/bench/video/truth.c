/* Reads queries.tsv. */
#include "truth.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS = 13 };

bool named_in(const char *list, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = list; at; at = strchr(at, ',')) {
        at += *at == ',';
        if (!strncmp(at, name, length) && (at[length] == ',' || !at[length]))
            return true;
    }
    return false;
}

static bool split(char *line, char *columns[COLUMNS])
{
    for (int i = 0; i < COLUMNS; i++) {
        columns[i] = strsep(&line, "\t");
        if (!columns[i])
            return false;
    }
    return true;
}

static bool add(struct truths *truths, char *line, const char *only)
{
    char *columns[COLUMNS];
    if (!split(line, columns))
        return false;
    if (only && !named_in(only, columns[1]))
        return true;
    if ((truths->count & (truths->count - 1)) == 0)
        truths->list = realloc(truths->list, (2 * truths->count + 1) * sizeof *truths->list);
    if (!truths->list)
        abort();
    truths->list[truths->count++] = (struct truth){.file = columns[0],
                                                   .edit = columns[1],
                                                   .clip = columns[2],
                                                   .is_static = *columns[3] == '1',
                                                   .scenes = atoi(columns[4]),
                                                   .a_start = atof(columns[5]),
                                                   .a_end = atof(columns[6]),
                                                   .b_start = atof(columns[7]),
                                                   .b_end = atof(columns[8]),
                                                   .speed = atof(columns[9]),
                                                   .mirrored = *columns[10] == '1',
                                                   .also = columns[11],
                                                   .amounts = columns[12]};
    return true;
}

bool truths_read(struct truths *truths, const char *folder, const char *only)
{
    char path[4096];
    size_t capacity = 0;
    snprintf(path, sizeof path, "%s/queries.tsv", folder);
    FILE *file = fopen(path, "r");
    if (!file)
        return false;
    *truths = (struct truths){0};
    bool read = getdelim(&truths->text, &capacity, 0, file) > 0;
    fclose(file);
    char *rest = read ? truths->text : NULL;
    strsep(&rest, "\n"); /* the names of the columns */
    for (char *line; read && (line = strsep(&rest, "\n")) && *line;)
        read = add(truths, line, only);
    if (!read)
        truths_free(truths);
    return read;
}

void truths_add_files(const struct truths *truths, const char *folder, struct clips *out)
{
    char path[4096];
    for (size_t i = 0; i < truths->count; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, truths->list[i].file);
        videos_add(out, path);
    }
}

void truths_free(struct truths *truths)
{
    free(truths->list);
    free(truths->text);
    *truths = (struct truths){0};
}
