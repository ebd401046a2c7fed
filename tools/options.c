/* The table of options. */
#include "tools/options.h"

#include <string.h>

#define AT(field) offsetof(struct settings, field)

enum {
    VERBS_INDEX_CODES = VERB_INDEX_BUILD | VERB_INDEX_ADD | VERB_INDEX_SEARCH | VERB_INDEX_KNN,
    VERBS_INDEX_QUERY = VERB_INDEX_SEARCH | VERB_INDEX_KNN,
    VERBS_INDEX_WRITE = VERB_INDEX_BUILD | VERB_INDEX_ADD | VERB_INDEX_REMOVE | VERB_INDEX_COMPACT,
    VERBS_DECIDE = VERB_INGEST | VERB_CHECK,
    VERBS_EXCHANGE = VERB_EXPORT | VERB_IMPORT | VERB_MERGE | VERB_BACKUP,
    VERBS_PRINT = VERB_ANY & ~(uint64_t)VERBS_EXCHANGE,
    VERBS_READ = VERB_SCAN | VERB_COMPARE | VERB_HASH | VERB_ADD | VERB_FIND | VERB_TUNE |
                 VERB_REPORT | VERBS_DECIDE,
    VERBS_WALK = VERB_SCAN | VERB_HASH | VERB_ADD | VERB_FIND | VERB_REPORT | VERBS_DECIDE,
    VERBS_JUDGE =
        VERB_SCAN | VERB_COMPARE | VERB_FIND | VERB_GROUPS | VERB_TUNE | VERB_REPORT | VERBS_DECIDE,
    VERBS_MATCH = VERB_SCAN | VERB_COMPARE | VERB_FIND | VERB_GROUPS | VERB_REPORT | VERBS_DECIDE,
    VERBS_LIBRARY = VERB_ADD | VERB_FIND | VERB_GROUPS | VERB_LIST | VERB_SHOW | VERB_REMOVE |
                    VERBS_DECIDE | VERB_MONITOR | VERB_REPORT | VERB_MARK | VERB_LOG | VERB_SOURCE |
                    VERB_TAG | VERB_LISTS | VERB_LISTS_SET | VERB_VERIFY | VERB_COMPACT |
                    VERB_STATS | VERBS_EXCHANGE,
    VERBS_TELL = VERB_ADD | VERB_TAG | VERBS_DECIDE,
    VERBS_ASK = VERB_LIST | VERB_FIND | VERB_GROUPS | VERB_REPORT | VERB_REMOVE | VERB_EXPORT,
    VERBS_TEXT = VERBS_READ | VERB_GROUPS | VERB_DEDUP,
    VERBS_CORPUS = VERB_DEDUP | VERBS_DECIDE,
    VERBS_SOUND = VERB_COMPARE | VERB_HASH | VERB_ADD | VERB_FIND | VERB_MONITOR | VERBS_DECIDE,
    VERBS_FILM =
        VERB_SCAN | VERB_COMPARE | VERB_HASH | VERB_ADD | VERB_FIND | VERB_REPORT | VERBS_DECIDE,
    VERBS_ACT = VERB_SCAN | VERB_GROUPS,
    VERBS_PATHS = VERB_SCAN | VERB_FIND | VERB_GROUPS | VERB_LIST,
};

const struct option_info option_table[] = {
    {"kind", 0, "KIND", OPTION_KIND, AT(kind), NULL, "Only files of this kind",
     VERBS_WALK | VERB_GROUPS | VERB_LIST | VERB_EXPORT, SECTION_MATCHING},
    {"scheme", 0, "NAME", OPTION_SCHEME, AT(scheme), NULL,
     "The way of fingerprinting, see 'doppel schemes' (default: the first of the kind)",
     VERBS_READ | VERB_GROUPS | VERB_LIST | VERBS_CORPUS | VERB_EXPORT, SECTION_MATCHING},
    {"max-distance", 0, "N", OPTION_DISTANCE, AT(max_distance), NULL,
     "Widest distance of a match, in bits of the scheme's code (default: by the rate of false "
     "matches)",
     VERBS_MATCH, SECTION_MATCHING},
    {"min-similarity", 0, "X", OPTION_SIMILARITY, AT(min_similarity), NULL,
     "Least similarity of a match, 0 to 1 (default: by the rate of false matches; of texts 0.7)",
     VERBS_MATCH | VERBS_CORPUS, SECTION_MATCHING},
    {"min-containment", 0, "X", OPTION_SIMILARITY, AT(min_containment), NULL,
     "Least share of a text that another one holds, where they are not similar enough (default: "
     "0.9)",
     VERBS_CORPUS, SECTION_MATCHING},
    {"bands", 0, "N", OPTION_COUNT, AT(bands), NULL,
     "Bands of a signature, one of which two texts must share to be compared (default: by limit "
     "and lanes)",
     VERBS_CORPUS, SECTION_MATCHING},
    {"rows", 0, "N", OPTION_COUNT, AT(rows), NULL, "Lanes of a band", VERBS_CORPUS,
     SECTION_MATCHING},
    {"views", 0, "full|trim|all", OPTION_CHOICE, AT(views), "all",
     "Compare pictures as a whole, also without their borders and captions, or crops of them too",
     VERBS_JUDGE, SECTION_MATCHING},
    {"orientations", 0, NULL, OPTION_FLAG, AT(orientations), NULL,
     "Find mirrored and turned pictures too (the default)", VERBS_JUDGE, SECTION_MATCHING},
    {"no-orientations", 0, NULL, OPTION_FLAG_OFF, AT(orientations), NULL,
     "Find pictures only as they stand", VERBS_JUDGE, SECTION_MATCHING},
    {"check", 0, "none|pixels", OPTION_CHOICE, AT(check), "none",
     "Align small copies of the pictures of borderline pairs and compare them block by block",
     VERBS_MATCH, SECTION_MATCHING},
    {"reference", 0, "DIR", OPTION_TEXTS, AT(reference), NULL,
     "Files that are only compared against, not with each other; may be repeated. Of folders "
     "in each other, the inner one tells what a file is",
     VERB_SCAN | VERB_REPORT, SECTION_MATCHING},
    {"against", 0, "DIR", OPTION_TEXT, AT(against), NULL,
     "A library whose texts come first: records are compared with them too, and it is not changed",
     VERB_DEDUP, SECTION_MATCHING},
    {"across", 0, NULL, OPTION_FLAG, AT(across), NULL,
     "Only groups with members from more than one PATH", VERB_SCAN | VERB_REPORT, SECTION_MATCHING},
    {"keep", 0, "LIST", OPTION_TEXT, AT(keep_text), NULL,
     "Which member of a group is kept: what tells them apart first, of authority, resolution, "
     "duration, size, date, depth, name (default: in this order; of a library, its policy)",
     VERB_SCAN | VERB_GROUPS | VERB_REPORT, SECTION_MATCHING},
    {"code", 0, "HEX", OPTION_TEXT, AT(code), NULL,
     "Find what has this code, or one near it, instead of a FILE", VERB_FIND, SECTION_MATCHING},
    {"max-false", 0, "X", OPTION_SIMILARITY, AT(max_false), "0.01",
     "Share of the pairs that are not the same that a recommended limit may match", VERB_TUNE,
     SECTION_MATCHING},
    {"radius", 0, "R", OPTION_DISTANCE, AT(radius), NULL,
     "Bits that may differ (search wants it; knn: default any number); for build the radius that "
     "searches are to be fastest at (default: 8), others stay exact",
     VERB_INDEX_BUILD | VERBS_INDEX_QUERY, SECTION_MATCHING},
    {"nearest", 'k', "K", OPTION_NUMBER, AT(nearest), "10", "How many of the nearest codes",
     VERB_INDEX_KNN, SECTION_MATCHING},

    {"text-format", 0, "plain|html|markdown|auto", OPTION_CHOICE, AT(text_format), NULL,
     "What texts are (default: auto, HTML by how it begins, Markdown by the name's ending)",
     VERBS_READ | VERBS_CORPUS, SECTION_TEXTS},
    {"html", 0, NULL, OPTION_SHORTHAND, 0, "text-format=html", "The same as --text-format html",
     VERBS_CORPUS, SECTION_TEXTS},
    {"preset", 0, "web|news|ocr|code", OPTION_CHOICE, AT(preset_number), NULL,
     "A choice of what follows and of the limit for a kind of collection", VERBS_TEXT,
     SECTION_TEXTS},
    {"unit", 0, "words|characters|paragraph", OPTION_CHOICE, AT(unit), NULL,
     "What texts are cut into (default: words); for dedup also: count paragraphs, not texts",
     VERBS_TEXT, SECTION_TEXTS},
    {"max-documents", 0, "N", OPTION_NUMBER, AT(max_documents), "10",
     "With --unit paragraph: list those that come in more than N records, or with --emit unique "
     "drop them",
     VERB_DEDUP, SECTION_TEXTS},
    {"shingle", 0, "N", OPTION_COUNT, AT(shingle), NULL,
     "How many in a row are compared, 1 to 16 (default: 5)", VERBS_TEXT, SECTION_TEXTS},
    {"min-words", 0, "N", OPTION_NUMBER, AT(min_words), NULL,
     "Texts of fewer words are only compared as a whole, exactly (default: 10)", VERBS_TEXT,
     SECTION_TEXTS},
    {"lanes", 0, "128|256", OPTION_CHOICE, AT(lanes), NULL,
     "Lanes of a signature (default: 128, or the scheme's)", VERBS_CORPUS, SECTION_TEXTS},

    {"max-false-positives", 0, "X", OPTION_RATE, AT(max_false_positives), NULL,
     "Of sounds and films: the share of unrelated ones that may be given a match (default: 0.001)",
     VERBS_MATCH, SECTION_SOUNDS},
    {"same-speed", 0, NULL, OPTION_FLAG, AT(same_speed), NULL,
     "Do not look for sounds at another speed, tempo or pitch, or for films at another speed, "
     "where "
     "none is found at the same one",
     VERBS_MATCH | VERB_MONITOR, SECTION_SOUNDS},
    {"max-false-alarms", 0, "X", OPTION_RATE, AT(max_false_alarms), NULL,
     "How many starts an hour of sound that the library does not have may be told (default: 0.01)",
     VERB_MONITOR, SECTION_SOUNDS},
    {"near-misses", 0, "N", OPTION_NUMBER, AT(near_misses), NULL,
     "Also the N best sounds and films that were no match, and what they lacked", VERB_FIND,
     SECTION_SOUNDS},
    {"repeats", 0, NULL, OPTION_FLAG, AT(repeats), NULL,
     "The passages that recur within each FILE, a sound; no library is needed", VERB_FIND,
     SECTION_SOUNDS},
    {"pcm", 0, "FORMAT:RATE:CHANNELS", OPTION_TEXT, AT(pcm_text), NULL,
     "FILE is raw sound, as s16le:44100:2; FORMAT is u8, s16le, s24le, s32le or f32le", VERBS_SOUND,
     SECTION_SOUNDS},

    {"fast", 0, NULL, OPTION_FLAG, AT(fast), NULL,
     "Decode keyframes only, where they are at most 2 s apart: 3 to 7 times as fast, and less of a "
     "short clip is found",
     VERBS_FILM, SECTION_FILMS},
    {"no-audio", 0, NULL, OPTION_FLAG, AT(no_audio), NULL, "Only the pictures of films", VERBS_FILM,
     SECTION_FILMS},
    {"no-video", 0, NULL, OPTION_FLAG, AT(no_video), NULL,
     "Only the sound of films, which are then sounds", VERBS_FILM, SECTION_FILMS},
    {"thorough", 0, NULL, OPTION_FLAG, AT(thorough), NULL,
     "Look for more crops, angles and speeds: slower, and finds more",
     VERB_SCAN | VERB_COMPARE | VERB_FIND | VERB_REPORT, SECTION_FILMS},
    {"refine", 0, NULL, OPTION_FLAG, AT(refine), NULL,
     "Look at every frame around the ends of what two films share, to tell them to a frame",
     VERB_COMPARE | VERB_FIND, SECTION_FILMS},
    {"thumbnails", 0, NULL, OPTION_FLAG, AT(thumbnails), NULL, "With --chart: the frames beside it",
     VERB_COMPARE, SECTION_FILMS},

    {"jsonl", 0, "FILE", OPTION_TEXTS, AT(jsonl), NULL,
     "Records in JSON Lines, plain, .gz or .zst, or a folder of such; - is standard input; may be "
     "repeated",
     VERBS_DECIDE, SECTION_RECORDS},
    {"on-same-id", 0, "update|skip|error", OPTION_CHOICE, AT(on_same_id), "update",
     "What becomes of a record whose id came before: it is a revision, a duplicate, or a conflict",
     VERBS_CORPUS, SECTION_RECORDS},
    {"id-field", 0, "NAME", OPTION_TEXT, AT(id_field), "id", "The field that has the id",
     VERBS_CORPUS, SECTION_RECORDS},
    {"text-field", 0, "NAME", OPTION_TEXT, AT(text_field), "text", "The field that has the text",
     VERBS_CORPUS, SECTION_RECORDS},
    {"path-field", 0, "NAME", OPTION_TEXT, AT(path_field), "path",
     "The field that has, where there is no text, the path of a file that has it", VERBS_CORPUS,
     SECTION_RECORDS},
    {"source-field", 0, "NAME", OPTION_TEXT, AT(source_field), "source",
     "The field that says where the text is from: a later date from the same source is a revision",
     VERBS_CORPUS, SECTION_RECORDS},
    {"date-field", 0, "NAME", OPTION_TEXT, AT(date_field), "date",
     "The field that has the date, ISO 8601 or seconds since 1970", VERBS_CORPUS, SECTION_RECORDS},
    {"plain-records", 0, NULL, OPTION_FLAG, AT(plain_records), NULL,
     "Leave \"external_id\", \"meta\", \"labels\" and \"list\" of records unread", VERBS_DECIDE,
     SECTION_RECORDS},

    {"bits", 0, "32|64|128|256", OPTION_CHOICE, AT(code_width), "64", "Width of a code",
     VERB_INDEX_BUILD, SECTION_CODES},
    {"input", 0, "hex|raw", OPTION_CHOICE, AT(code_input), "hex",
     "What CODES or QUERIES holds: a code a line in hex, or the bare codes, little-endian, back to "
     "back",
     VERBS_INDEX_CODES, SECTION_CODES},
    {"output", 'o', "PATH", OPTION_TEXT, AT(output), NULL,
     "What to make: the folder of the index; the page or export, or - for standard output",
     VERB_INDEX_BUILD | VERB_REPORT | VERB_EXPORT, SECTION_OUTPUT},
    {"compact", 0, NULL, OPTION_FLAG, AT(compact), NULL, "Fewer bytes a code, and slower searches",
     VERB_INDEX_BUILD, SECTION_CODES},
    {"repair", 0, NULL, OPTION_FLAG, AT(repair), NULL,
     "Mend: of an index, go on without the segments that are damaged, and say which codes are "
     "lost; of a library, make anew what can be, and set the rest aside",
     VERB_INDEX_VERIFY | VERB_VERIFY, SECTION_LIBRARY},

    {"exclude", 0, "GLOB", OPTION_TEXTS, AT(exclude), NULL,
     "Leave out files and folders of this name, or of this path below PATH if it has a '/'; may be "
     "repeated",
     VERBS_WALK, SECTION_FILES},
    {"hidden", 0, NULL, OPTION_FLAG, AT(hidden), NULL, "Also files and folders that begin with '.'",
     VERBS_WALK, SECTION_FILES},
    {"min-size", 0, "SIZE", OPTION_SIZE, AT(min_size), "0", "Leave out smaller files", VERBS_WALK,
     SECTION_FILES},
    {"one-file-system", 'x', NULL, OPTION_FLAG, AT(one_file_system), NULL,
     "Stay on the file system of each PATH", VERBS_WALK, SECTION_FILES},
    {"follow", 0, NULL, OPTION_FLAG, AT(follow), NULL, "Follow symbolic links", VERBS_WALK,
     SECTION_FILES},
    {"files-from", 0, "FILE", OPTION_TEXT, AT(files_from), NULL,
     "Also the paths listed in FILE (- is standard input), one a line, or ended by NUL with -0",
     VERBS_WALK, SECTION_FILES},

    {"action", 0, "hardlink|reflink|symlink|trash|move-to|script", OPTION_CHOICE, AT(action), NULL,
     "What to do about the doubles of each group: let them be links to the one that is kept, or "
     "share its blocks (reflink), put them into the trash, move them ('move-to DIR'), or print a "
     "shell script of hard links. Only says what would be done, unless --yes is given",
     VERBS_ACT, SECTION_ACTING},
    {"to", 0, "DIR", OPTION_TEXT, AT(move_to), NULL,
     "The folder of --action move-to, in which files keep their paths", VERBS_ACT, SECTION_ACTING},
    {"reason", 0, "LIST", OPTION_TEXT, AT(reason_text), NULL,
     "Which members are acted on, of identical, same-content, near, part and marked, with commas "
     "between (default: identical; others can only be trashed or moved)",
     VERBS_ACT, SECTION_ACTING},
    {"yes", 0, NULL, OPTION_FLAG, AT(yes), NULL, "Do it", VERBS_ACT, SECTION_ACTING},
    {"dry-run", 0, NULL, OPTION_FLAG, AT(dry_run), NULL,
     "Only say what would be done; of scan and groups the default", VERBS_ACT | VERB_UNDO,
     SECTION_ACTING},
    {"list", 0, NULL, OPTION_FLAG, AT(list_runs), NULL,
     "What there is: of undo the runs, and what they did; of mark the words", VERB_UNDO | VERB_MARK,
     SECTION_ACTING},
    {"same", 0, NULL, OPTION_FLAG, AT(same), NULL, "A and B are the same, whatever a hash says",
     VERB_MARK, SECTION_ACTING},
    {"distinct", 0, NULL, OPTION_FLAG, AT(distinct), NULL, "A and B are not the same", VERB_MARK,
     SECTION_ACTING},
    {"forget", 0, NULL, OPTION_FLAG, AT(forget), NULL, "Take back what was said of A and B",
     VERB_MARK, SECTION_ACTING},
    {"note", 0, "TEXT", OPTION_TEXT, AT(note), NULL, "Why; kept with the word", VERB_MARK,
     SECTION_ACTING},
    {"from", 0, "FILE", OPTION_TEXT, AT(marks_from), NULL,
     "Words in JSON Lines, as the page of 'report' exports them; - is standard input", VERB_MARK,
     SECTION_ACTING},
    {"where", 0, "EXPR", OPTION_TEXT, AT(where), NULL,
     "Only items for which this holds, an expression of SQL over the columns of the view items: "
     "\"kind = 'image' AND width > 1000\"",
     VERBS_ASK | VERB_TAG, SECTION_ITEMS},
    {"list", 0, "NAME", OPTION_TEXTS, AT(lists), NULL,
     "The list that items are put on, which is made when it is not there; of find, groups, list, "
     "remove and export only items on it; may be repeated",
     VERBS_ASK | VERBS_TELL | VERB_IMPORT, SECTION_ITEMS},
    {"label", 0, "LABEL", OPTION_TEXTS, AT(labels), NULL,
     "A label for items, or only those that have it; may be repeated",
     VERBS_ASK | VERBS_TELL | VERB_IMPORT, SECTION_ITEMS},
    {"all", 0, NULL, OPTION_FLAG, AT(all), NULL,
     "Also the matches that are left out since an item of a benign list explains them", VERB_FIND,
     SECTION_ITEMS},
    {"external-id", 0, "ID", OPTION_TEXT, AT(external_id), NULL, "What somebody else calls it",
     VERBS_TELL, SECTION_ITEMS},
    {"source", 0, "NAME", OPTION_TEXT, AT(source), NULL,
     "Where it comes from: see 'doppel source set'", VERBS_TELL | VERB_IMPORT, SECTION_ITEMS},
    {"meta", 0, "JSON", OPTION_TEXT, AT(meta), NULL, "An object in JSON, kept with it",
     VERBS_TELL | VERB_IMPORT, SECTION_ITEMS},
    {"remove", 0, NULL, OPTION_FLAG, AT(take_back), NULL,
     "Take items off the lists, and the labels off them", VERB_TAG, SECTION_ITEMS},
    {"state", 0, "active|disabled|benign", OPTION_CHOICE, AT(state), "active",
     "What is on the list: is matched; is not, unless it is on another list too; or is of no "
     "interest, so that other matches of the same content are left out, too",
     VERB_LISTS_SET, SECTION_ITEMS},
    {"since", 0, "WHEN", OPTION_TEXT, AT(since), NULL,
     "Only what came after a date (2026-05-31, 2026-05-31T12:30) or a time ago (90m, 12h, 7d)",
     VERB_LOG, SECTION_OUTPUT},
    {"last", 0, "N", OPTION_NUMBER, AT(last), NULL, "Only the last N entries", VERB_LOG,
     SECTION_OUTPUT},
    {"journal", 0, "FILE", OPTION_TEXT, AT(journal), NULL,
     "What was done is written there, for 'doppel undo' (default: "
     "$XDG_STATE_HOME/doppel/actions.jsonl)",
     VERBS_ACT | VERB_UNDO, SECTION_ACTING},

    {"max-pixels", 0, "N", OPTION_PIXELS, AT(max_pixels), "500M",
     "Refuse pictures with more pixels", VERBS_READ, SECTION_LIMITS},
    {"max-seconds", 0, "TIME", OPTION_TIME, AT(max_ms), "0",
     "Refuse longer sounds and films; 0 = no limit", VERBS_READ, SECTION_LIMITS},
    {"max-bytes", 0, "SIZE", OPTION_SIZE, AT(max_bytes), NULL,
     "Refuse larger files (default: 1G of pictures and texts, no limit of sounds and films)",
     VERBS_READ, SECTION_LIMITS},
    {"max-memory", 0, "SIZE", OPTION_SIZE, AT(max_memory), "512M",
     "Memory of one worker process; a file that needs more is refused", VERBS_READ | VERB_MONITOR,
     SECTION_LIMITS},
    {"timeout", 0, "TIME", OPTION_TIME, AT(timeout_ms), "60s",
     "Give up on a file after this long; 0 = never. Unless given, a film or sound may take longer "
     "as long as it gets on by ten seconds of itself in that time",
     VERBS_READ, SECTION_LIMITS},
    {"jobs", 'j', "N", OPTION_COUNT, AT(jobs), NULL,
     "Worker processes, and threads of the comparison (default: one a processor; in an index: one)",
     VERBS_READ | VERB_GROUPS | VERBS_INDEX_QUERY | VERBS_CORPUS, SECTION_LIMITS},

    {"memory", 0, "SIZE", OPTION_SIZE, AT(memory), "0",
     "Memory for signatures and the like; more of them go to temporary files (0: no limit)",
     VERB_DEDUP, SECTION_LIMITS},
    {"temporary", 0, "DIR", OPTION_TEXT, AT(temporary), NULL,
     "The folder for temporary files (default: $TMPDIR, else /tmp)", VERB_DEDUP, SECTION_LIMITS},
    {"keep-shingles", 0, NULL, OPTION_FLAG, AT(keep_shingles), NULL,
     "Keep the shingles of texts that cannot be read again (of compressed files, and pipes), to "
     "compare them exactly: some 4 bytes a word, in the library or a temporary file",
     VERBS_CORPUS, SECTION_LIMITS},

    {"library", 'L', "DIR", OPTION_TEXT, AT(library), NULL,
     "The library (default: $DOPPEL_LIBRARY, else $XDG_DATA_HOME/doppel); of scan, the one whose "
     "marks count",
     VERBS_LIBRARY | VERB_SCAN, SECTION_LIBRARY},
    {"files", 0, NULL, OPTION_FLAG, AT(files), NULL,
     "Also whether the files of the items are there, unchanged", VERB_VERIFY, SECTION_LIBRARY},
    {"digest", 0, NULL, OPTION_FLAG, AT(all_bytes), NULL,
     "With --files: read them all, and compare their bytes", VERB_VERIFY, SECTION_LIBRARY},
    {"refresh", 0, NULL, OPTION_FLAG, AT(refresh), NULL,
     "Compute items anew from their files: those of other versions of their schemes, or those "
     "named by PATH or ID",
     VERB_ADD, SECTION_LIBRARY},
    {"durable", 0, NULL, OPTION_FLAG, AT(durable), NULL,
     "What was added or removed survives power loss too",
     VERB_ADD | VERB_REMOVE | VERB_INGEST | VERBS_INDEX_WRITE | VERB_MARK | VERB_SOURCE | VERB_TAG |
         VERB_LISTS | VERB_LISTS_SET | VERB_IMPORT | VERB_MERGE,
     SECTION_LIBRARY},
    {"cache", 0, "FILE", OPTION_TEXT, AT(cache), NULL,
     "Keeps what was read (default: $XDG_CACHE_HOME/doppel/cache.db)", VERBS_READ, SECTION_LIBRARY},
    {"no-cache", 0, NULL, OPTION_FLAG, AT(no_cache), NULL, "Use no cache", VERBS_READ,
     SECTION_LIBRARY},
    {"retry", 0, NULL, OPTION_FLAG, AT(retry), NULL,
     "Try again what could not be read before, though it has not changed", VERBS_READ,
     SECTION_LIBRARY},
    {"failures", 0, NULL, OPTION_FLAG, AT(failures), NULL,
     "Files that could not be added, and why, in place of items", VERB_LIST, SECTION_LIBRARY},
    {"gone", 0, NULL, OPTION_FLAG, AT(gone), NULL,
     "Items whose files were deleted; those of an absent drive or folder are kept", VERB_REMOVE,
     SECTION_LIBRARY},

    {"format", 0, "table|json|csv", OPTION_CHOICE, AT(format), "table",
     "How results are printed; json is one object a line", VERBS_PRINT, SECTION_OUTPUT},
    {"format", 0, "json|csv|pdq|imagehash|fpcalc|digests", OPTION_CHOICE, AT(export_format), "json",
     "JSON Lines have all that is known; csv is flat; the others are lists as PDQ, imagehash, "
     "fpcalc "
     "-raw and sha256sum print them",
     VERB_EXPORT, SECTION_OUTPUT},
    {"format", 0, "json|csv|pdq|imagehash|fpcalc|digests|auto", OPTION_CHOICE, AT(import_format),
     "auto", "What FILE is; auto: as it begins", VERB_IMPORT, SECTION_OUTPUT},
    {"json", 0, NULL, OPTION_SHORTHAND, 0, "format=json", "The same as --format json", VERBS_PRINT,
     SECTION_OUTPUT},
    {"emit", 0, "decisions|unique|duplicates|annotated", OPTION_CHOICE, AT(emit), "decisions",
     "A decision for each line; or the lines themselves: those to be kept, the others, or all with "
     "the decision added as \"doppel\"",
     VERBS_CORPUS, SECTION_OUTPUT},
    {"null", '0', NULL, OPTION_FLAG, AT(null_separated), NULL,
     "Print only paths, each ended by NUL (of groups: what is not kept); read NULs in "
     "--files-from",
     VERBS_PATHS | VERBS_WALK, SECTION_OUTPUT},
    {"codes", 0, NULL, OPTION_FLAG, AT(codes), NULL, "Print all codes, with their positions",
     VERB_HASH, SECTION_OUTPUT},
    {"fpcalc", 0, NULL, OPTION_FLAG, AT(fpcalc), NULL,
     "Print as fpcalc -raw does (scheme chromaprint, which it chooses)", VERB_HASH, SECTION_OUTPUT},
    {"vpdq", 0, NULL, OPTION_FLAG, AT(vpdq), NULL,
     "Print the list of a film as vPDQ has it (scheme vpdq, which it chooses)", VERB_HASH,
     SECTION_OUTPUT},
    {"chart", 0, "FILE", OPTION_TEXT, AT(chart), NULL,
     "Draw the curves, or of two sounds or films what they share, into FILE, as SVG",
     VERB_TUNE | VERB_COMPARE, SECTION_OUTPUT},
    {"blur", 0, NULL, OPTION_FLAG, AT(blur), NULL,
     "Pictures on the page are blurred until one is pointed at, or chosen", VERB_REPORT,
     SECTION_OUTPUT},
    {"no-thumbnails", 0, NULL, OPTION_FLAG, AT(no_thumbnails), NULL,
     "No pictures, waves and words on the page: the files are not looked at again", VERB_REPORT,
     SECTION_OUTPUT},
    {"count", 0, NULL, OPTION_FLAG, AT(count), NULL, "Print only how many hits each query has",
     VERBS_INDEX_QUERY, SECTION_OUTPUT},
    {"stats", 0, NULL, OPTION_FLAG, AT(stats), NULL,
     "End with a line of JSON on standard error: the CPU time of the searches, and what they "
     "looked "
     "at",
     VERBS_INDEX_QUERY, SECTION_OUTPUT},
    {"color", 0, "auto|always|never", OPTION_CHOICE, AT(color), "auto",
     "Colour in tables; auto: on a terminal", VERB_ANY, SECTION_OUTPUT},
    {"quiet", 'q', NULL, OPTION_FLAG, AT(quiet), NULL, "Only results and errors", VERB_ANY,
     SECTION_OUTPUT},
    {"verbose", 'v', NULL, OPTION_FLAG, AT(verbose), NULL, "Say what is skipped, and why", VERB_ANY,
     SECTION_OUTPUT},
    {"no-progress", 0, NULL, OPTION_FLAG, AT(no_progress), NULL,
     "No progress line (there is none unless standard error is a terminal)",
     VERBS_READ | VERB_GROUPS | VERB_INDEX_BUILD | VERB_INDEX_ADD | VERBS_CORPUS | VERB_VERIFY |
         VERBS_EXCHANGE,
     SECTION_OUTPUT},
    {"help", 'h', NULL, OPTION_FLAG, AT(help), NULL, "Print this help", VERB_ANY, SECTION_OUTPUT},
    {"version", 0, NULL, OPTION_FLAG, AT(version), NULL, "Print the version", VERB_ANY,
     SECTION_OUTPUT},
};

const size_t option_count = sizeof option_table / sizeof *option_table;

const char *section_title(enum option_section section)
{
    static const char *const titles[SECTION_COUNT] = {
        [SECTION_MATCHING] = "What matches",
        [SECTION_TEXTS] = "How texts are read",
        [SECTION_SOUNDS] = "Sounds",
        [SECTION_FILMS] = "Films",
        [SECTION_RECORDS] = "Records",
        [SECTION_CODES] = "Codes and their index",
        [SECTION_FILES] = "Which files",
        [SECTION_LIMITS] = "Limits",
        [SECTION_ITEMS] = "Items of the library",
        [SECTION_ACTING] = "Acting",
        [SECTION_LIBRARY] = "What is kept",
        [SECTION_OUTPUT] = "Output",
    };
    return titles[section];
}

const struct option_info *option_by_name(const char *name)
{
    for (size_t i = 0; i < option_count; i++)
        if (strcmp(option_table[i].name, name) == 0)
            return &option_table[i];
    return NULL;
}

static size_t split_choices(const char *argument, const char *out[MAX_CHOICES],
                            char storage[CHOICE_BYTES])
{
    size_t count = 0;
    strncpy(storage, argument, CHOICE_BYTES - 1);
    storage[CHOICE_BYTES - 1] = 0;
    char *rest = storage;
    for (char *word; (word = strsep(&rest, "|")) && count < MAX_CHOICES;)
        out[count++] = word;
    return count;
}

static size_t scheme_names(const char *out[MAX_CHOICES])
{
    size_t count;
    const struct doppel_scheme *schemes = doppel_schemes(&count);
    for (size_t i = 0; i < count && i < MAX_CHOICES; i++)
        out[i] = schemes[i].name;
    return count < MAX_CHOICES ? count : MAX_CHOICES;
}

/* Kinds that have a scheme, in the order of the schemes. */
static size_t kind_names(const char *out[MAX_CHOICES])
{
    size_t scheme_count, count = 0;
    const struct doppel_scheme *schemes = doppel_schemes(&scheme_count);
    for (size_t i = 0; i < scheme_count && count < MAX_CHOICES; i++)
        if (i == 0 || schemes[i].kind != schemes[i - 1].kind)
            out[count++] = doppel_kind_name(schemes[i].kind);
    return count;
}

size_t option_choices(const struct option_info *option, const char *out[MAX_CHOICES],
                      char storage[CHOICE_BYTES])
{
    switch (option->type) {
    case OPTION_CHOICE:
        return split_choices(option->argument, out, storage);
    case OPTION_SCHEME:
        return scheme_names(out);
    case OPTION_KIND:
        return kind_names(out);
    default:
        return 0;
    }
}
