/* The table of verbs. */
#include "tools/options.h"

#include <string.h>

#include "tools/commands.h"

const struct verb verb_table[] = {
    {"scan", VERB_SCAN, "PATH...", 1, SIZE_MAX, "find duplicates among the files under PATHs",
     "Files with the same bytes are found by their digest; pictures that are the same picture "
     "after re-encoding, resizing, cropping, framing, turning or mirroring are found by their "
     "fingerprints. Needs no library. What was read is kept in a cache, so that the next scan "
     "reads only what has changed. Nothing is ever deleted or changed; -0 prints just the files "
     "that "
     "are not kept (nor from a --reference), for a program that does.",
     "doppel scan ~/Pictures --reference /mnt/archive --json > duplicates.jsonl", cmd_scan},
    {"compare", VERB_COMPARE, "A B", 2, 2, "are these two the same, how near, where",
     "Prints the distance also when the two do not match. Ends with 0 when they match, with 1 when "
     "they do not.",
     "doppel compare original.png repost.jpg --check pixels", cmd_compare},
    {"hash", VERB_HASH, "FILE...", 1, SIZE_MAX, "print fingerprints",
     "A FILE that is a folder stands for all files in it; - is standard input.",
     "doppel hash --scheme pdq --json *.jpg", cmd_hash},
    {"schemes", VERB_SCHEMES, "", 0, 0,
     "the fingerprint schemes: version, code width, default limits",
     "Codes of different schemes or versions are never compared with each other.",
     "doppel schemes --json", cmd_schemes},
    {"add", VERB_ADD, "PATH...", 1, SIZE_MAX, "fingerprint files and remember them in the library",
     "A file that is unchanged since it was added is not read again; a file that moved keeps its "
     "id. The library is made when there is none.",
     "doppel add -L ~/doppel ~/Pictures", cmd_add},
    {"find", VERB_FIND, "FILE...", 1, SIZE_MAX,
     "what in the library is FILE, holds FILE, is held by FILE, or overlaps it",
     "Prints what matches, best first. Ends with 0 when anything matched, with 1 when nothing did. "
     "- is standard input.",
     "doppel find repost.jpg", cmd_find},
    {"groups", VERB_GROUPS, "", 0, 0, "the duplicate groups in the library",
     "Each group has one member that is kept: the largest picture, then the largest file, the "
     "oldest, the least deeply nested. -0 prints just the files that are not kept.",
     "doppel groups --json", cmd_groups},
    {"list", VERB_LIST, "", 0, 0, "what the library holds", "In the order in which it was added.",
     "doppel list --kind image --format csv", cmd_list},
    {"show", VERB_SHOW, "ID...", 1, SIZE_MAX, "all that the library knows of an item",
     "An ID is the number that add, find and list print.", "doppel show 42 --json", cmd_show},
    {"remove", VERB_REMOVE, "ID|PATH...", 1, SIZE_MAX, "make the library forget items",
     "The files themselves are not touched. A folder stands for all items in it. Ids are never "
     "used again. A PATH that looks like a number is written ./42.",
     "doppel remove ~/Pictures/old", cmd_remove},
};

const size_t verb_count = sizeof verb_table / sizeof *verb_table;

const struct verb *verb_by_name(const char *name)
{
    for (size_t i = 0; i < verb_count; i++)
        if (strcmp(verb_table[i].name, name) == 0)
            return &verb_table[i];
    return NULL;
}
