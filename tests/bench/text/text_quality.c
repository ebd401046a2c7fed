/* How well texts are found again, on what Debian packages ship: against all pairs, exactly counted,
 * and after changes with fixed seeds. */
#include <stddef.h>
#include <string.h>

#include "parts.h"

static const struct {
    const char *name;
    part_function *run;
} parts[] = {{"pairs", part_pairs},         {"web", part_web},
             {"news", part_news},           {"ocr", part_ocr},
             {"strangers", part_strangers}, {"simhash", part_simhash},
             {"prose", part_prose},         {"code", part_code},
             {"contained", part_contained}, {"scripts", part_scripts}};

/* text_quality [tune] [PART...] */
int main(int count, char **words)
{
    bool held = !(count > 1 && strcmp(words[1], "tune") == 0);
    int first = held ? 1 : 2;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        bool wanted = first == count;
        for (int j = first; j < count; j++)
            wanted |= strcmp(words[j], parts[i].name) == 0;
        if (wanted)
            parts[i].run(held);
    }
    return 0;
}
