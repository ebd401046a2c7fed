/* What would be done, as a script for a POSIX shell. */
#include "act/plan.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "act/act.h"
#include "tools/output/output.h"
#include "core/printable.h"
#include "tools/signals.h"

static const char beginning[] =
    "#!/bin/sh\n"
    "# Made by doppel: each duplicate becomes a hard link to the file that is kept, if the two "
    "still\n"
    "# have the same bytes. Read it, change it, then run it with sh.\n"
    "status=0\n"
    "\n"
    "# What is done: $1 is kept, $2 is its duplicate. Something else would be: rm -- \"$2\"\n"
    "act() {\n"
    "    beside=${2%/*}/.doppel-$$\n"
    "    ln -- \"$1\" \"$beside\" && mv -f -- \"$beside\" \"$2\"\n"
    "}\n"
    "\n"
    "double() {\n"
    "    if [ -h \"$2\" ] || ! cmp -s -- \"$1\" \"$2\"; then\n"
    "        printf 'left alone, not the same as %s: %s\\n' \"$1\" \"$2\" >&2\n"
    "        status=3\n"
    "    elif ! [ \"$1\" -ef \"$2\" ]; then\n"
    "        act \"$1\" \"$2\" || status=3\n"
    "    fi\n"
    "}\n";

/* 'it'\''s': between single quotes nothing means anything to a shell but the next one. */
static void print_quoted(const char *text)
{
    putchar('\'');
    for (; *text; text++)
        if (*text == '\'')
            fputs("'\\''", stdout);
        else
            putchar(*text);
    putchar('\'');
}

/* Absolute, so that the script may be run anywhere; as it is when its folder is gone. */
static char *place_of(const char *path)
{
    char *place = real_place(path);
    if (!place && asprintf(&place, "./%s", path) < 0)
        place = NULL;
    return place;
}

static void print_double(const struct planned *file, const struct planned *kept)
{
    char *path = place_of(file->path), *keep = place_of(kept->path);
    if (path && keep) {
        fputs("double ", stdout);
        print_quoted(keep);
        putchar(' ');
        print_quoted(path);
        putchar('\n');
    }
    free(path);
    free(keep);
}

static void print_left(const struct planned *file, const char *reason)
{
    fputs("# ", stdout);
    print_printable(stdout, file->path, false);
    printf(": %s\n", reason);
}

static void print_group_head(const struct plan *plan, size_t kept, const struct settings *settings)
{
    size_t files = 0;
    int64_t bytes = 0;
    char size[32];
    for (size_t i = kept + 1; i < plan->files.count && plan->files.items[i].kept == kept; i++) {
        struct verdict verdict = act_plan_verdict(plan, i, settings);
        bool acts = verdict.kept && !verdict.left;
        files += acts;
        bytes += acts ? plan->files.items[i].stamp.size : 0;
    }
    human_size((double)bytes, size, sizeof size);
    printf("\n# group %u: %zu file%s, %s\n", plan->files.items[kept].group, files,
           files == 1 ? "" : "s", size);
}

enum doppel_status act_plan_script(const struct plan *plan, const struct settings *settings,
                                   struct doppel_error *error)
{
    errno = 0;
    fputs(beginning, stdout);
    for (size_t i = 0; i < plan->files.count; i++) {
        const struct planned *file = &plan->files.items[i];
        struct verdict verdict = act_plan_verdict(plan, i, settings);
        if (file->kept == i)
            print_group_head(plan, i, settings);
        else if (!verdict.kept)
            print_left(file, "lies in a reference folder");
        else if (verdict.left)
            print_left(file, verdict.left);
        else
            print_double(file, verdict.kept);
    }
    fputs("\nexit $status\n", stdout);
    if (fflush(stdout) == 0 && !ferror(stdout))
        return DOPPEL_OK;
    if (errno == EPIPE) {
        signals_closed_pipe();
        return DOPPEL_E_CANCELLED;
    }
    return doppel_fail(error, DOPPEL_E_IO, "standard output: %s", strerror(errno));
}
