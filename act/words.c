/* The names of actions, and of what members of a group are. */
#include <string.h>

#include <doppel/group.h>

#include "tools/args/options.h"

static const char *const actions[] = {
    [ACTION_HARDLINK] = "hardlink", [ACTION_REFLINK] = "reflink", [ACTION_SYMLINK] = "symlink",
    [ACTION_TRASH] = "trash",       [ACTION_MOVE_TO] = "move-to", [ACTION_SCRIPT] = "script",
};

const char *action_name(enum action action)
{
    return actions[action];
}

enum action action_from_name(const char *name)
{
    for (int i = 0; name && i <= ACTION_SCRIPT; i++)
        if (strcmp(actions[i], name) == 0)
            return (enum action)i;
    return ACTION_NONE;
}

unsigned reason_from_name(const char *name)
{
    for (int i = DOPPEL_REASON_KEPT + 1; name && i < DOPPEL_REASONS; i++)
        if (strcmp(doppel_reason_name((enum doppel_reason)i), name) == 0)
            return 1u << i;
    return 0;
}
