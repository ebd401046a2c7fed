/* The table of verbs. */
#include "tools/args/options.h"

#include <stdio.h>
#include <string.h>

#include "tools/args/commands.h"

const struct verb verb_table[] = {
    {"scan", VERB_SCAN, "PATH...", 1, SIZE_MAX, "find duplicates among the files under PATHs",
     "Files with the same bytes are found by their digest; pictures that are the same picture "
     "after re-encoding, resizing, cropping, framing, turning or mirroring are found by their "
     "fingerprints, texts of the same or nearly the same words by their shingles, and recordings "
     "that "
     "are other encodings, or parts, of a recording by their peaks. Videos are grouped by what "
     "they "
     "show: other encodings, crops and mirrored copies, and clips of a longer one. Needs no "
     "library. "
     "What was read is kept in a cache, so that the next scan "
     "reads only what has changed. Nothing is ever changed, unless "
     "--action and --yes say so; -0 prints just the files that are not kept (nor from a "
     "--reference).",
     "doppel scan ~/Pictures --reference /mnt/archive --json > duplicates.jsonl", cmd_scan},
    {"compare", VERB_COMPARE, "A B", 2, 2, "are these two the same, how near, where",
     "Prints the distance also when the two do not match. Texts that are not alike as a whole are "
     "searched for passages that they share, unless a limit of the whole is given. Of two "
     "recordings "
     "it says which passages they share, and at what speed; of two videos the same of the picture "
     "and of the audio, each apart. A video is compared with a recording by what is heard in it, "
     "with a "
     "picture by whether it is shown, and when. Ends with 0 when they match, with 1 when they do "
     "not.",
     "doppel compare original.png repost.jpg --check pixels", cmd_compare},
    {"hash", VERB_HASH, "FILE...", 1, SIZE_MAX, "print fingerprints",
     "Of pictures, texts, recordings and videos, by the first scheme of each kind unless "
     "--scheme is given. A FILE "
     "that "
     "is a folder stands for all files in it; - is standard input.",
     "doppel hash --scheme pdq --json *.jpg", cmd_hash},
    {"schemes", VERB_SCHEMES, "", 0, 0,
     "the fingerprint schemes: version, code width, default limits",
     "Codes of different schemes or versions are never compared with each other.",
     "doppel schemes --json", cmd_schemes},
    {"add", VERB_ADD, "PATH...", 1, SIZE_MAX, "fingerprint files and remember them in the library",
     "A file that is unchanged since it was added is not read again; a file that moved keeps its "
     "id. One that could not be read is not tried again until it, the limits or doppel change "
     "(--retry); 'doppel list' can tell which. The library is made when there is none. With "
     "--refresh PATHs, or IDs, are items that it has; without any, those of another version of "
     "their scheme: they keep ids, links and lists.",
     "doppel add -L ~/doppel ~/Pictures", cmd_add},
    {"find", VERB_FIND, "FILE...", 1, SIZE_MAX,
     "what in the library is FILE, holds FILE, is held by FILE, or overlaps it",
     "Prints what matches, best first, of recordings by place. Ends with 0 when anything matched, "
     "with "
     "1 when nothing did. "
     "Passages of texts are found among what was added with --scheme winnow32. Of recordings, all "
     "places are told at which an item is heard: a recording of hours gives its playlist. A video "
     "finds videos by picture and by audio, and recordings; a recording finds the videos that have "
     "it, a "
     "picture those that show it, with the time. With "
     "--repeats no library is asked. - is standard input.",
     "doppel find repost.jpg", cmd_find},
    {"groups", VERB_GROUPS, "", 0, 0, "the duplicate groups in the library",
     "Each group has one member that is kept: the largest picture, then the largest file, the "
     "oldest, the least deeply nested; a recording or a video before a part of it. Groups of files "
     "are "
     "found anew, by the limits that are given. After them come those of records of corpora, as "
     "'ingest' and 'mark' linked them, whatever the limits; the one that is kept is the group's "
     "canonical one. -0 prints just the files that are not kept, and no record; "
     "--action acts on them, if they are still what was added.",
     "doppel groups --json", cmd_groups},
    {"report", VERB_REPORT, "[PATH...]", 0, SIZE_MAX,
     "a page that shows the duplicate groups, to look at and to mark",
     "Of the files under PATHs, as 'scan' finds them; without PATHs of the library, as 'groups' "
     "does. The page is one HTML file that needs nothing else: pictures side by side, frames and "
     "the shared stretches of videos, waves of recordings, the words that differ between texts, "
     "and "
     "between records, "
     "whose lines are read again from their corpora (--text-field, if it is called otherwise). It "
     "is "
     "sorted, filtered and marked by keyboard or mouse; marks are exported for 'mark --from'. A "
     "file that is gone has its place, and says so.",
     "doppel report ~/Pictures -o duplicates.html", cmd_report},
    {"list", VERB_LIST, "", 0, 0, "what the library holds",
     "In the order in which it was added. With --failures: which files could not be added, when "
     "and "
     "why.",
     "doppel list --kind image --format csv", cmd_list},
    {"show", VERB_SHOW, "ID...", 1, SIZE_MAX, "all that the library knows of an item",
     "An ID is the number that add, find and list print (ingest's is \"item\"), the id of a "
     "record, "
     "an external id or a path, and in this order where two are called so, which is said. item:42 "
     "is "
     "the number 42, id:42 what others call so.",
     "doppel show 42 --json", cmd_show},
    {"remove", VERB_REMOVE, "ID|PATH...", 0, SIZE_MAX, "make the library forget items",
     "The files themselves are not touched. A folder stands for all items in it, a corpus for the "
     "records that came from it, the id of a record for all that had it. Ids are never used again. "
     "A PATH that looks like a number is written ./42; item:42 and id:42 are as of 'show', 42 only "
     "an item. With "
     "--gone: the items, of those PATHs if "
     "any "
     "are given, whose files were deleted. Those whose folder is not there, or empty, or on "
     "another "
     "drive than they were, are kept.",
     "doppel remove ~/Pictures/old", cmd_remove},
    {"mark", VERB_MARK, "A B --same|--distinct | --from FILE | --list", 0, 2,
     "a person's word about two items, which outranks every hash",
     "A and B are ids, paths of items, ids of records, or files. The word is about their contents: "
     "it holds for other files of the same bytes, and when files are moved. Where both are in the "
     "library, one follows the other from then on, or no longer does. --from reads what was marked "
     "on the page of 'report': \"keep\" chooses the member of a group that is kept.",
     "doppel mark a.jpg b.jpg --distinct --note burst", cmd_mark},
    {"log", VERB_LOG, "[ID]", 0, 1, "what was decided and done in the library, when and why",
     "Of one item, given by its id, path or record id, the story in sentences: how it came in, "
     "what was decided of it and why, what took whose place, what people said. The log is only "
     "added to; it knows items that are gone, too.",
     "doppel log 42", cmd_log},
    {"source set", VERB_SOURCE, "PATTERN N", 2, 2, "say how much a source is worth",
     "Of copies of the same thing the one from the source of the higher authority is kept, if the "
     "policy says so. PATTERN is the name of a source, or a pattern with *, ? and […]; an exact "
     "name counts before patterns, a longer pattern before a shorter one. Without a word a source "
     "is worth 0. N may be negative.",
     "doppel source set '*.gov.in' 100", cmd_source_set},
    {"source remove", VERB_SOURCE, "PATTERN...", 1, SIZE_MAX, "forget what sources are worth",
     "They are worth 0 then, unless another pattern fits.", "doppel source remove '*.gov.in'",
     cmd_source_remove},
    {"source list", VERB_SOURCE, "", 0, 0, "what sources are worth",
     "In the order in which they are asked: the first that fits counts.", "doppel source list",
     cmd_source_list},
    {"source policy", VERB_SOURCE, "[KEEP]", 0, 1, "which copy of a thing the library keeps",
     "KEEP is a list of authority (of the source), resolution, duration, size, date (the older), "
     "depth (fewer folders) and name (the shorter), with commas between: the first that tells two "
     "copies apart decides. The library remembers it. Without KEEP it is printed.",
     "doppel source policy authority,resolution,date", cmd_source_policy},
    {"tag", VERB_TAG, "ID|PATH...", 0, SIZE_MAX,
     "put items on lists, and say of them what you know",
     "Labels, an id of your own, a source, any JSON. What is said is added to what was said "
     "before; a new --external-id, --source or --meta takes the place of the former one. Instead "
     "of "
     "naming items, --where chooses them.",
     "doppel tag --where \"path LIKE '/stock/%'\" --list stock", cmd_tag},
    {"lists", VERB_LISTS, "", 0, 0, "the lists that items are on, and how many",
     "'add' and 'tag' put items on them.", "doppel lists", cmd_lists},
    {"lists set", VERB_LISTS_SET, "NAME...", 1, SIZE_MAX, "make a list, or say what it means",
     "Items of an active list are matched as others are. Items on disabled lists alone are not "
     "found. What matches an item of a benign list (stock photos, logos, jingles) is nobody's "
     "double by that: its other matches are left out.",
     "doppel lists set stock --state benign", cmd_lists_set},
    {"lists remove", VERB_LISTS, "NAME...", 1, SIZE_MAX, "forget a list",
     "Its items stay in the library.", "doppel lists remove stock", cmd_lists_remove},
    {"tune", VERB_TUNE, "LABELS.csv", 1, 1, "limits from labelled pairs",
     "LABELS.csv has a pair a line: two paths, relative to its folder, and whether the two are the "
     "same (1 or 0, yes or no, true or false); a header is left out. For a "
     "ladder of limits it prints how many of the duplicates are caught, and how many of the others "
     "match. Recommended is the limit that catches most while no more than --max-fp-share of the "
     "others match; of equal ones the middle one; none where the usual rule does as well.",
     "doppel tune labels.csv --chart curve.svg", cmd_tune},
    {"dedup", VERB_DEDUP, "FILE.jsonl...", 1, SIZE_MAX,
     "a whole corpus of texts at once: a decision for each record",
     "FILEs are JSON Lines, plain, .gz or .zst; a folder stands for those in it, - for standard "
     "input. A record has an id and a text, or the path of a file that has the text. Each line is "
     "answered, in order: new, duplicate, revision, part, too_short, unreadable or conflict, with "
     "the record that it is a duplicate of. The answers are the same for any --jobs and --memory. "
     "With --unit paragraph it lists the paragraphs that come in more than --max-documents "
     "records, "
     "or with --emit unique prints the records without them.",
     "doppel dedup crawl.jsonl --emit unique > crawl-unique.jsonl", cmd_dedup},
    {"ingest", VERB_INGEST, "PATH...", 0, SIZE_MAX,
     "decide what each file or record is to the library, and remember it there",
     "PATHs are walked as by 'add'. - is a stream: each line of standard input is a path, or a "
     "JSON "
     "object with a path or a text, and is answered at once, in order, when it is kept: so a "
     "program can write lines and read decisions, one or many at a time. --jsonl takes records as "
     "'dedup' does. A record has \"text\" or \"path\", and may have \"id\" and \"external_id\" "
     "(strings or numbers), \"source\", \"date\", \"meta\" (an object), \"labels\" and \"list\" (a "
     "string, or an array of strings): what --source, --meta and --external-id say of all it "
     "outranks, to --label and --list it adds. An answer is new, duplicate, revision, part, "
     "too_short, unreadable or "
     "conflict, "
     "with what it is a duplicate of, and why: known, identical (same bytes), same-content, near, "
     "part. What is a duplicate is kept, too, and linked; \"replaces\" says that it is now the one "
     "to keep. A library keeps to the way in which its texts were read at first, and to their "
     "limits.",
     "doppel ingest -L seen - < paths.txt", cmd_ingest},
    {"check", VERB_CHECK, "FILE...", 0, SIZE_MAX,
     "what 'ingest' would decide, without remembering anything",
     "Reads and answers as 'ingest' does, also streams; the library is not changed, and no file is "
     "known to later ones. Ends with 1 when nothing matched.",
     "doppel check -L seen new.jpg", cmd_check},
    {"monitor", VERB_MONITOR, "STREAM|-", 1, 1, "name what is heard in an endless stream",
     "STREAM is a file or a FIFO, - is standard input, of any container that can be read from "
     "front "
     "to back, or of raw samples with --pcm; nothing else is ever opened: 'ffmpeg -i URL -f s16le "
     "-ar 44100 -ac 2 - | doppel monitor --pcm s16le:44100:2 -'. An item's start is told some "
     "seconds after it, with its time in the stream and in the item; its end when it has not been "
     "heard for five seconds. What could not be heard is a gap. Items that are added to the "
     "library meanwhile are heard, removed ones are not. Ends with 0 at the end of the stream.",
     "doppel monitor --json radio.fifo", cmd_monitor},
    {"undo", VERB_UNDO, "[RUN]", 0, 1, "take back what 'scan --action' or 'groups --action' did",
     "Of the last run, or of the one named. What was moved or trashed comes back to where it was; "
     "what became a link becomes a file of its own again, with its former time and mode. Nothing "
     "is overwritten: what has changed meanwhile stays as it is, and is said; then it ends with 3. "
     "With --dry-run it only says what would come back.",
     "doppel undo --list", cmd_undo},
    {"export", VERB_EXPORT, "", 0, 0, "all that the library knows, as lines that others read",
     "As JSON Lines nothing is lost: items with their codes, what is said of them, whom they "
     "follow, "
     "sources, lists, marks and the log, so that 'import' makes the same library again. --kind, "
     "--scheme, --list, --label and --where choose items; then what the library was told itself is "
     "left out.",
     "doppel export --list press --format csv -o press.csv", cmd_export},
    {"import", VERB_IMPORT, "FILE...", 1, SIZE_MAX,
     "items from an export, or a list of fingerprints",
     "What FILE is, is told by how it begins: an export; CSV with columns scheme and code, or md5, "
     "sha1, sha256; a list of PDQ or imagehash codes, of fpcalc -raw, of md5sum, sha1sum or "
     "sha256sum. - is standard input. Items need no file here; what is there already comes in "
     "once: by its bytes and path, or by list and name. A line that cannot be read is told with "
     "its "
     "number, and the run goes on. The library is made when there is none.",
     "doppel import hashes.csv --list hashlist", cmd_import},
    {"merge", VERB_MERGE, "OTHER", 1, 1, "all of another library into this one",
     "As 'export' and 'import' in one go: the same bytes at the same path are one item, ids are "
     "new, "
     "and what this library says itself (marks, sources, states of lists) stays where the other "
     "one "
     "says something else. Nothing is decided anew. OTHER may be in use.",
     "doppel merge /mnt/laptop/doppel -L ~/doppel", cmd_merge},
    {"backup", VERB_BACKUP, "DIR", 1, 1, "a copy of the library, while it is in use",
     "As of one moment, whatever is written meanwhile. DIR must not be there, or be empty; it "
     "appears when it is whole.",
     "doppel backup /mnt/backup/doppel-2026-05-31", cmd_backup},
    {"verify", VERB_VERIFY, "", 0, 0, "check a library, and mend it",
     "Every page and row of the catalogue, what rows say of each other, and every byte of the "
     "indexes of recordings and videos. Problems are a line each; then it ends with 3. --repair "
     "computes "
     "damaged items anew from their files, makes the indexes anew, removes what speaks of nothing, "
     "and sets what is damaged aside, in damaged.jsonl beside the catalogue. Of a catalogue with "
     "damaged pages all that can be read goes into a new one, and the former is kept.",
     "doppel verify -L ~/doppel --files", cmd_verify},
    {"compact", VERB_COMPACT, "", 0, 0, "give back the space of what was removed from a library",
     "The catalogue is written anew, which for that time takes twice its size more, and the "
     "segments of an index that has several, or of which something was removed, become one. Others "
     "may read meanwhile, not write.",
     "doppel compact -L ~/doppel", cmd_compact},
    {"stats", VERB_STATS, "", 0, 0, "what a library holds, in numbers",
     "Items by kind, scheme and version, records by decision, lists, the log, and bytes. Its "
     "groups and "
     "duplicates are those that 'ingest', 'mark' and 'merge' have linked, files and records; what "
     "'add' "
     "brought in is linked to nothing: of all files 'groups' finds the groups anew each time.",
     "doppel stats --json", cmd_stats},
    {"index build", VERB_INDEX_BUILD, "CODES -o INDEX", 1, 1, "make an index of codes",
     "CODES is a file, or - for standard input. Code number i, from 0, has the id i. INDEX is a "
     "new "
     "folder, which appears when it is whole.",
     "doppel index build --bits 64 --radius 8 codes.hex -o codes.index", cmd_index_build},
    {"index add", VERB_INDEX_ADD, "INDEX CODES", 2, 2, "add codes to an index",
     "Their ids go on where those of the index end. All are added, or none.",
     "doppel index add codes.index more.hex", cmd_index_add},
    {"index remove", VERB_INDEX_REMOVE, "INDEX ID...", 2, SIZE_MAX,
     "take codes out of an index by their ids", "Ids are never used again.",
     "doppel index remove codes.index 17 42", cmd_index_remove},
    {"index search", VERB_INDEX_SEARCH, "INDEX QUERIES", 2, 2,
     "all codes of an index within a Hamming distance",
     "Every hit is found. They come by query, distance and id; QUERIES is a file, or - for "
     "standard "
     "input, and its code number i, from 0, is query i. Without --format hits are a table on a "
     "terminal, and JSON Lines elsewhere.",
     "doppel index search codes.index --radius 8 queries.hex", cmd_index_search},
    {"index knn", VERB_INDEX_KNN, "INDEX QUERIES", 2, 2, "the nearest codes of an index",
     "Exactly the nearest; of equally near ones those with the smallest ids. Printed as by 'index "
     "search'.",
     "doppel index knn codes.index -k 5 queries.hex", cmd_index_knn},
    {"index info", VERB_INDEX_INFO, "INDEX", 1, 1, "what an index holds",
     "Codes, their width, bytes on the disk, segments, and how long it was built.",
     "doppel index info codes.index --json", cmd_index_info},
    {"index verify", VERB_INDEX_VERIFY, "INDEX", 1, 1, "check every byte of an index",
     "A segment that is damaged is named, and the ids of its codes. Ends with 3 when there is one.",
     "doppel index verify codes.index", cmd_index_verify},
    {"index compact", VERB_INDEX_COMPACT, "INDEX", 1, 1, "merge all segments of an index into one",
     "Searches are fastest in one segment; removed codes leave the disk.",
     "doppel index compact codes.index", cmd_index_compact},
};

const size_t verb_count = sizeof verb_table / sizeof *verb_table;

const struct verb *verb_by_words(const char *const *words, size_t count, size_t *out_used)
{
    char name[64];
    for (size_t used = count < 2 ? count : 2; used; used--) {
        snprintf(name, sizeof name, "%s%s%s", words[0], used == 2 ? " " : "",
                 used == 2 ? words[1] : "");
        const struct verb *verb = verb_by_name(name);
        *out_used = used;
        if (verb)
            return verb;
    }
    return NULL;
}

bool verb_is_of(const struct verb *verb, const char *family)
{
    size_t length = strlen(family);
    return strncmp(verb->name, family, length) == 0 && verb->name[length] == ' ';
}

const struct verb *verb_by_name(const char *name)
{
    for (size_t i = 0; i < verb_count; i++)
        if (strcmp(verb_table[i].name, name) == 0)
            return &verb_table[i];
    return NULL;
}
