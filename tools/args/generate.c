/* Run by the build: `generate man|bash|zsh|fish` prints that file. */
#include "tools/args/generate.h"

#include <string.h>

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*generate)(FILE *stream);
    } files[] = {{"man", generate_man},
                 {"bash", generate_bash},
                 {"zsh", generate_zsh},
                 {"fish", generate_fish}};
    for (size_t i = 0; argc == 2 && i < sizeof files / sizeof *files; i++)
        if (strcmp(argv[1], files[i].name) == 0) {
            files[i].generate(stdout);
            return fflush(stdout) == 0 ? 0 : 1;
        }
    fputs("generate man|bash|zsh|fish\n", stderr);
    return 2;
}
