/* The words for what a walk leaves out, and whether it can be made twice. */
#include <string.h>

#include "intake/walk.h"

const char *walk_skip_text(enum walk_skip skip)
{
    static const char *const texts[SKIP_COUNT] = {
        [SKIP_HIDDEN] = "hidden, skipped (--hidden takes it in)",
        [SKIP_EXCLUDED] = "excluded",
        [SKIP_TRASH] = "trash or thumbnails, skipped (name it as a PATH to take it in)",
        [SKIP_SMALL] = "smaller than --min-size, skipped",
        [SKIP_EXTENSION] = "without an extension of --ext, skipped",
        [SKIP_AGE] = "not of the age that is asked for, skipped",
        [SKIP_SYMLINK] = "a symbolic link, skipped (--follow follows)",
        [SKIP_SPECIAL] = "not a regular file, skipped",
        [SKIP_OTHER_FILE_SYSTEM] = "on another file system, skipped",
        [SKIP_WALKED] = "walked before, skipped",
        [SKIP_OPERAND] = "also given as a PATH of its own, taken there",
    };
    return texts[skip];
}

bool walk_repeatable(const struct doppel_walk_options *options)
{
    bool takes_stdin =
        options->feed || (options->files_from && strcmp(options->files_from, "-") == 0);
    for (size_t i = 0; options->stdin_operand && i < options->paths.count; i++)
        takes_stdin |= strcmp(options->paths.items[i], "-") == 0;
    return !takes_stdin;
}
