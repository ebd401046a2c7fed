/* Names of fields that stand in others. */
#include "corpus/read/field_path.h"

#include <stdlib.h>
#include <string.h>

/* Write "a[12]" as "a.12". */
static void write_dotted(const char *name, char *out)
{
    while (*name) {
        size_t digits = strspn(name + 1, "0123456789");
        bool is_index = *name == '[' && digits && name[1 + digits] == ']';
        *out++ = is_index ? '.' : *name;
        name++;
        if (!is_index)
            continue;
        memcpy(out, name, digits);
        out += digits;
        name += digits + 1;
    }
    *out = '\0';
}

static size_t cut_steps(char *words, char **out)
{
    size_t count = 0;
    for (char *step = words; step;)
        out[count++] = strsep(&step, ".");
    return count;
}

bool field_path_init(struct field_path *out, const char *name)
{
    size_t size = strlen(name) + 1;
    struct field_path path = {.words = malloc(size), .steps = calloc(size, sizeof *path.steps)};
    if (!path.words || !path.steps) {
        field_path_free(&path);
        return false;
    }
    write_dotted(name + (*name == '.'), path.words);
    size_t count = cut_steps(path.words, path.steps);
    bool plain = count == 1 && *name != '.';
    path.json = (struct json_path){.steps = path.steps, .count = plain ? 0 : count};
    *out = path;
    return true;
}

void field_path_free(struct field_path *path)
{
    free(path->words);
    free(path->steps);
    *path = (struct field_path){0};
}
