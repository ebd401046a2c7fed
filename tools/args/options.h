/* The one table of options and the one of verbs; parsing, help, man page and completions read them.
 *
 * A verb is a function `int cmd_NAME(const struct settings *, struct report *)` that returns 0, 1
 * or 2; main() turns that into the exit code (3 and 130 come from the report and the signals). */
#ifndef DOPPEL_TOOLS_ARGS_OPTIONS_H
#define DOPPEL_TOOLS_ARGS_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <doppel/act.h>
#include <doppel/core.h>
#include <doppel/decide.h>
#include <doppel/library.h>
#include <doppel/text.h>

#include "core/text/string_list.h"
#include "intake/pcm.h"
#include "tools/args/config.h"
#include "tools/args/timestamp.h"

struct report;
struct settings;

/* Exit codes, as grep's: 3 outranks 0 and 1. */
enum {
    EXIT_DONE = 0,
    EXIT_NO_MATCH = 1,
    EXIT_WRONG_USE = 2, /* also: the run could not go on */
    EXIT_SOME_UNREADABLE = 3
};

enum format { FORMAT_TABLE, FORMAT_JSON, FORMAT_CSV, FORMAT_CUE, FORMAT_M3U };
/* Formats of export and import. */
enum exchange {
    EXCHANGE_JSON,
    EXCHANGE_CSV,
    EXCHANGE_PDQ,
    EXCHANGE_IMAGEHASH,
    EXCHANGE_FPCALC,
    EXCHANGE_DIGESTS,
    EXCHANGE_AUTO
};
enum input_format { INPUT_JSONL, INPUT_CSV, INPUT_TSV, INPUT_AUTO }; /* as doppel_corpus_format */
enum progress_style { PROGRESS_LINE, PROGRESS_JSON };
enum color { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER };
enum api { API_DOPPEL, API_HMA };
enum views { VIEWS_FULL, VIEWS_TRIM, VIEWS_ALL }; /* as enum doppel_image_views */
enum strictness { STRICTNESS_EXACT, STRICTNESS_STRICT, STRICTNESS_NORMAL, STRICTNESS_LOOSE };
enum check { CHECK_DEFAULT = -1, CHECK_NONE, CHECK_PIXELS };
enum partial { PARTIAL_ACCEPT, PARTIAL_REFUSE };

/* As enum doppel_text_unit, and one that texts are not compared by. */
enum unit { UNIT_WORDS, UNIT_CHARACTERS, UNIT_PARAGRAPH };
enum emit { EMIT_DECISIONS, EMIT_UNIQUE, EMIT_DUPLICATES, EMIT_ANNOTATED, EMIT_UNREADABLE };
enum stage {
    STAGE_SIGN,
    STAGE_JOIN,
    STAGE_COMPARE,
    STAGE_DECIDE,
    STAGE_EMIT,
    STAGE_ALL,
    STAGE_STATUS
};
enum lanes { LANES_128, LANES_256 };

/* What is done about duplicates, beside what enum doppel_action has. */
enum { ACTION_NONE = -1, ACTION_SCRIPT = DOPPEL_ACTIONS };

enum code_width { CODE_32, CODE_64, CODE_128, CODE_256 }; /* 32 << width bits */
enum code_input { CODES_HEX, CODES_RAW };

/* All that a command line says. Strings are borrowed from argv. */
struct settings {
    const struct verb *verb;
    struct strings operands; /* PATHs, FILEs, … */

    const char *library; /* NULL: not given; see library_directory() in paths.h */
    bool library_given;  /* on the command line: more than a service that is configured */
    bool clustered;      /* it lies in a cluster, and the verb takes such */
    const char *library_key, *library_ca; /* of such; NULL: not given */
    char *library_secret; /* what the file of the key holds, or $DOPPEL_LIBRARY_KEY; given */
    enum partial partial; /* where shards do not answer */
    bool replicas;        /* they are searched */
    enum format format;
    bool format_given;     /* on the command line */
    bool format_chosen;    /* there, or in the configuration: it is no default */
    bool null_separated;   /* -0: bare paths where format is not given; --files-from has NULs */
    enum doppel_kind kind; /* UNKNOWN = all */
    const struct doppel_scheme *scheme; /* never NULL: the one given, else the kind's default */
    struct doppel_scheme by_kind[DOPPEL_KIND_VIDEO + 1]; /* see settings_scheme */
    int32_t max_distance;                                /* -1 = not given */
    double min_similarity;                               /* -1 = not given */
    double text_similarity; /* of texts, as the library has it; -1 = min_similarity counts */

    uint32_t jobs; /* 0 = one a processor */
    uint64_t max_pixels, max_memory;
    uint32_t switched_off; /* by the policy alone, as in struct doppel_limits */
    int sandbox;           /* enum doppel_sandbox */
    uint64_t max_record;   /* bytes; 0 = no limit */
    uint64_t max_bytes;    /* 0 = not given: by kind, see settings_max_bytes */
    uint32_t timeout_ms;   /* 0 = none */
    bool timeout_given;    /* then it is of a video as a whole, too */
    bool quiet, verbose, no_progress;
    enum progress_style progress;
    enum color color;

    struct strings exclude;
    bool hidden, one_file_system, follow; /* follow: links; or a log */
    bool archives;
    uint64_t min_size;
    struct strings extensions;
    const char *newer_than, *older_than;  /* as given; NULL: not */
    int64_t newer_than_ns, older_than_ns; /* 0: no limit */
    const char *files_from;               /* NULL, a path, or "-" */

    struct strings reference;
    bool cross_folder, not_within, bursts;
    enum doppel_companions companions;
    struct strings keep_from, protect;
    enum strictness strictness;
    const char *keep_text;          /* NULL: not given */
    struct doppel_keep_policy keep; /* what was given, else the default */
    enum views views;
    bool orientations;
    enum check check;

    struct doppel_text_options text; /* how texts are read: by what was given of the next ones */
    bool ocr;
    const char *ocr_languages;
    const struct doppel_text_preset *preset; /* NULL: not given */
    int preset_number, text_format, unit;    /* -1 = not given */
    uint32_t max_documents;                  /* that a paragraph may be in */
    uint32_t shingle, min_words;             /* 0 = not given */

    /* recordings */
    const char *pcm_text; /* as given; NULL: not */
    struct doppel_pcm pcm;
    uint32_t max_ms;            /* 0 = no limit */
    double max_false_positives; /* -1 = not given */
    double max_false_alarms;    /* an hour; -1 = not given */
    uint32_t near_misses;
    uint32_t min_event_ms;
    bool same_speed, repeats, playlist, overlaps;
    const char *start_text; /* as given; NULL: not */
    struct start_time start_time;

    /* videos */
    bool fast;               /* keyframes alone */
    bool no_audio, no_video; /* read without their audio; for their audio alone, as recordings */
    bool thorough, refine, by_parts;
    bool thumbnails; /* beside the chart */

    /* the service */
    const char *listen, *keys; /* NULL: not given */
    const char *tls_cert, *tls_key;
    bool insecure;
    uint64_t max_body; /* bytes */
    struct strings webhook_allow;
    const char *webhook_secret_file; /* NULL: not given */
    char *webhook_secret;            /* what it holds; given */
    enum api api;
    const char *upstream, *upstream_key, *upstream_ca; /* NULL: not given */
    char *upstream_secret; /* what the file of the key holds, or $DOPPEL_UPSTREAM_KEY; given */
    enum doppel_upstream_policy upstream_policy;

    /* as a client of one */
    const char *server, *server_key, *server_ca; /* NULL: not given */
    char *server_secret;      /* what the file of the key holds, or $DOPPEL_SERVER_KEY; given */
    bool upload;              /* files are sent */
    const char *local_option; /* given, and not for a service; NULL: there is none */

    /* streams */
    const char *stream, *stream_key, *stream_ca, *group, *consumer,
        *stream_to;      /* NULL: not given */
    char *stream_secret; /* what the file of the key holds, or $DOPPEL_STREAM_KEY; given */
    uint32_t claim_after_ms;
    bool drain;

    uint32_t settle_ms; /* of folders that are watched */

    /* corpora */
    struct strings jsonl;
    enum emit emit;
    enum input_format input_format;
    const char *output_dir, *clusters; /* NULL: not given */
    const char *hand_off;              /* of dedup --semantic; NULL: not given */
    int stage;                         /* of dedup, enum stage; -1 = not given */
    const char *work, *part_text;      /* of its stages; NULL: not given */
    uint32_t part, parts;              /* what part_text says; 0 = not given */
    bool force;                        /* of import --sync: whatever goes */
    bool replace_outputs;              /* of dedup --output-dir */
    const char *against;               /* a library; NULL: none */
    double min_containment;            /* -1 = not given */
    int lanes;                         /* enum lanes; -1 = not given */
    uint32_t bands, rows;              /* 0 = not given */
    uint64_t memory;                   /* 0 = no limit */
    const char *temporary;             /* NULL: $TMPDIR or /tmp */
    bool keep_shingles;
    bool ignore_metadata; /* what they say of themselves is not read */
    enum doppel_same_id on_same_id;
    enum doppel_dedup_cluster cluster;
    struct strings allow_paths;
    const char *id_field, *text_field, *path_field, *source_field, *date_field;

    const char *cache; /* NULL: not given; see cache_file() in paths.h */
    bool no_cache;
    bool retry;       /* what could not be read is tried again */
    bool failures;    /* list: what could not be read */
    bool gone;        /* remove: items whose files are gone */
    bool durable;     /* what was added survives power loss */
    bool no_rebuild;  /* a missing index of the library is not made of its items */
    bool codes;       /* hash: the sequence too */
    bool fpcalc;      /* hash: as fpcalc -raw prints it */
    bool vpdq;        /* hash: as a list of vPDQ's */
    const char *code; /* find --code: hex digits, checked against the scheme's width; or NULL */

    enum code_width code_width;
    enum code_input code_input;
    int32_t radius;     /* -1 = not given */
    uint32_t nearest;   /* knn: how many */
    const char *output; /* the index that build makes, the page of report; or NULL */
    bool compact, count, stats, repair;
    bool vectors;              /* CODES are such */
    double min_cosine, recall; /* of index join, search and knn */
    double nearest_cosine;     /* of knn; -1 = not given */
    bool exact;
    const char *ids, *tensor; /* NULL: not given */
    bool files, all_bytes;    /* verify: the files of items too; and their digests */
    bool refresh;             /* add: what the library holds, recomputed */

    double max_fp_share;      /* tune: share of the distinct pairs that may match */
    const char *chart;        /* the SVG to write; or NULL */
    bool blur, no_thumbnails; /* of the page */
    bool serve;               /* the page acts */

    int action;              /* an enum doppel_action, or ACTION_… */
    bool deletes;            /* it was called "delete" */
    const char *move_to;     /* the folder of DOPPEL_ACTION_MOVE_TO; or NULL */
    const char *folder_word; /* what came after 'move-to'; NULL: nothing that may be a folder */
    bool dry_run, yes, list_runs;
    bool sync, json;         /* import */
    bool count_matches;      /* check */
    bool default_limit;      /* lists set */
    const char *flood;       /* lists set: a number, or "off"; NULL: not given */
    const char *reason_text; /* as given; NULL: not */
    unsigned reasons;        /* 1 << DOPPEL_REASON_…, or-ed */
    const char *journal;     /* NULL: not given; see journal_file() in paths.h */

    bool same, distinct, forget; /* mark: the word */
    const char *note, *marks_from;
    const char *save;       /* where a scan is kept; NULL: nowhere */
    const char *marks;      /* what a report exported, for those that group; NULL: not given */
    const char *marks_text; /* the same as text, of a page that is served; NULL: there is none */
    const char *since;      /* log: as given; NULL: from the beginning */
    uint32_t last;          /* log: only so many; 0 = all */
    const char *sink, *sink_name; /* log: a database; NULL: not given */
    uint64_t after;               /* log: only entries with a greater number */

    struct strings lists, labels; /* said of what comes in, or that items are wanted of */
    const char *external_id, *source, *meta;
    const char *where;    /* SQL; NULL: not given */
    bool include_allowed; /* find: also what benign items explain */
    bool take_back;       /* tag: off these lists, and labels */
    int state;            /* of a list, enum doppel_list_state; -1 = not given */

    bool semantic;                           /* dedup */
    const char *embeddings, *embeddings_key; /* a service that embeds; NULL: not given */
    char *embeddings_secret; /* what the file of the key holds, or $DOPPEL_EMBEDDINGS_KEY; given */
    struct strings allow_hosts;
    double price, max_cost; /* of a million tokens, and of all; 0: not given */
    const char *model;      /* NULL: not given */
    double semantic_cosine; /* -1: not given */
    bool scores;
    const char *model_name, *model_prefix; /* model add, whiten; NULL: not given */

    enum exchange export_format, import_format;
    bool scheme_given;

    uint64_t given[4]; /* a bit an option of the table: it stands on the command line */

    bool help, whole_help, version;
    struct config config; /* whose words stand here, too */
};

typedef int verb_function(const struct settings *settings, struct report *report);

/* One bit a verb, to say which verbs have an option. */
#define VERB_SCAN (UINT64_C(1) << 0)
#define VERB_COMPARE (UINT64_C(1) << 1)
#define VERB_HASH (UINT64_C(1) << 2)
#define VERB_SCHEMES (UINT64_C(1) << 3)
#define VERB_ADD (UINT64_C(1) << 4)
#define VERB_FIND (UINT64_C(1) << 5)
#define VERB_GROUPS (UINT64_C(1) << 6)
#define VERB_LIST (UINT64_C(1) << 7)
#define VERB_SHOW (UINT64_C(1) << 8)
#define VERB_REMOVE (UINT64_C(1) << 9)
#define VERB_INDEX_BUILD (UINT64_C(1) << 10)
#define VERB_INDEX_ADD (UINT64_C(1) << 11)
#define VERB_INDEX_REMOVE (UINT64_C(1) << 12)
#define VERB_INDEX_SEARCH (UINT64_C(1) << 13)
#define VERB_INDEX_KNN (UINT64_C(1) << 14)
#define VERB_INDEX_INFO (UINT64_C(1) << 15)
#define VERB_INDEX_VERIFY (UINT64_C(1) << 16)
#define VERB_INDEX_COMPACT (UINT64_C(1) << 17)
#define VERB_TUNE (UINT64_C(1) << 18)
#define VERB_DEDUP (UINT64_C(1) << 19)
#define VERB_INGEST (UINT64_C(1) << 20)
#define VERB_MONITOR (UINT64_C(1) << 21)
#define VERB_CHECK (UINT64_C(1) << 22)
#define VERB_MARK (UINT64_C(1) << 23)
#define VERB_LOG (UINT64_C(1) << 24)
#define VERB_SOURCE (UINT64_C(1) << 25)
#define VERB_REPORT (UINT64_C(1) << 26)
#define VERB_UNDO (UINT64_C(1) << 27)
#define VERB_EXPORT (UINT64_C(1) << 28)
#define VERB_IMPORT (UINT64_C(1) << 29)
#define VERB_MERGE (UINT64_C(1) << 30)
#define VERB_BACKUP (UINT64_C(1) << 31)
#define VERB_VERIFY (UINT64_C(1) << 32)
#define VERB_COMPACT (UINT64_C(1) << 33)
#define VERB_STATS (UINT64_C(1) << 34)
#define VERB_TAG (UINT64_C(1) << 35)
#define VERB_LISTS (UINT64_C(1) << 36)
#define VERB_LISTS_SET (UINT64_C(1) << 37)
#define VERB_CONFIG (UINT64_C(1) << 38)
#define VERB_DOCTOR (UINT64_C(1) << 39)
#define VERB_SERVE (UINT64_C(1) << 40)
#define VERB_MODEL (UINT64_C(1) << 41)
#define VERB_MODEL_ADD (UINT64_C(1) << 42)
#define VERB_INDEX_JOIN (UINT64_C(1) << 43)
#define VERB_MODEL_WHITEN (UINT64_C(1) << 44)
#define VERB_WATCH (UINT64_C(1) << 45)
/* Those that can ask a service. */
#define VERBS_REMOTE                                                                               \
    (VERB_FIND | VERB_CHECK | VERB_INGEST | VERB_LIST | VERB_SHOW | VERB_GROUPS | VERB_TAG |       \
     VERB_MARK)
/* Those that take a library in a cluster. */
#define VERBS_CLUSTERED                                                                            \
    (VERB_ADD | VERB_FIND | VERB_CHECK | VERB_INGEST | VERB_LIST | VERB_SHOW | VERB_REMOVE |       \
     VERB_STATS | VERB_SERVE)
#define VERB_ANY ((UINT64_C(1) << 46) - 1)

struct verb {
    const char *name;     /* of two words where it is one of a family: "index build" */
    uint64_t bit;         /* VERB_… */
    const char *operands; /* "PATH..." as in the usage line */
    size_t min_operands, max_operands;
    const char *summary; /* one line, no full stop */
    const char *details; /* a paragraph for its help and the man page */
    const char *example, *other_example;
    const char *common; /* the options that its help lists, with blanks between */
    verb_function *run;
};

enum option_type {
    OPTION_FLAG,       /* bool, true when given */
    OPTION_FLAG_OFF,   /* bool, false when given */
    OPTION_TEXT,       /* const char * */
    OPTION_TEXTS,      /* struct strings, repeatable */
    OPTION_CHOICE,     /* an enum in the order of `argument`, "table|json|csv" */
    OPTION_SHORTHAND,  /* stands for `fallback`, "format=json" */
    OPTION_KIND,       /* enum doppel_kind */
    OPTION_SCHEME,     /* const struct doppel_scheme * */
    OPTION_COUNT,      /* uint32_t, 1 to 1024 */
    OPTION_NUMBER,     /* uint32_t, from 1 */
    OPTION_DISTANCE,   /* int32_t, from 0 */
    OPTION_SIMILARITY, /* double, 0 to 1 */
    OPTION_COSINE,     /* double, 0 to 1 */
    OPTION_RATE,       /* double, over 0, at most 1 */
    OPTION_AMOUNT,     /* double, over 0 */
    OPTION_SIZE,       /* uint64_t; K, M, G = 2^10, 2^20, 2^30 */
    OPTION_PIXELS,     /* uint64_t; K, M, G = 10^3, 10^6, 10^9 */
    OPTION_TIME        /* uint32_t milliseconds; "90", "500ms", "2m" */
};

/* Under which heading help lists an option. */
enum option_section {
    SECTION_MATCHING,
    SECTION_TEXTS,
    SECTION_AUDIO,
    SECTION_VIDEOS,
    SECTION_RECORDS,
    SECTION_CODES,
    SECTION_FILES,
    SECTION_ITEMS,
    SECTION_ACTING,
    SECTION_LIMITS,
    SECTION_LIBRARY,
    SECTION_SERVICE,
    SECTION_OUTPUT,
    SECTION_COUNT
};

const char *section_title(enum option_section section);

struct option_info {
    const char *name;     /* without dashes */
    char letter;          /* 0 = none */
    const char *argument; /* "DIR"; "a|b|c" for a choice; NULL for a flag */
    enum option_type type;
    size_t offset;        /* into struct settings */
    const char *fallback; /* default as one would type it; NULL = none */
    const char *help;     /* a sentence without a full stop */
    uint64_t verbs;       /* VERB_…, or-ed */
    enum option_section section;
};

/* A former name of an option, or what other programs call it: it works, and nothing lists it. */
struct former_option {
    const char *former, *name;
};

/* A value as others call it, likewise. */
struct other_value {
    const char *option, *word, *value;
};

/* The tables, in the order in which they are listed. */
extern const struct verb verb_table[];
extern const size_t verb_count;
extern const struct former_option former_options[];
extern const size_t former_option_count;
extern const struct other_value other_values[];
extern const size_t other_value_count;

/* The verb of that name, or of what others call it ("search", "delete"); or NULL. */
const struct verb *verb_by_name(const char *name);

/* The verb that the first one or two of `count` words name, or NULL. */
const struct verb *verb_by_words(const char *const *words, size_t count, size_t *out_used);

/* Whether it is one of the verbs that begin with the word `family`. */
bool verb_is_of(const struct verb *verb, const char *family);

/* The options by their numbers, and how many there are. */
const struct option_info *option_at(size_t number);
size_t option_count(void);
/* @param option of these */
size_t option_number(const struct option_info *option);

/* The option of that long name, or NULL. */
const struct option_info *option_by_name(const char *name);

/* The first of these options that stands on the command line, or NULL. `names` ends with NULL. */
const char *option_given(const struct settings *settings, const char *const *names);

/* The words that an option takes, or none: "table", "json", "csv". At most MAX_CHOICES of them, in
 * `storage`'s bytes where they are not literals. @return how many */
enum { MAX_CHOICES = 16, CHOICE_BYTES = 64 };
size_t option_choices(const struct option_info *option, const char *out[MAX_CHOICES],
                      char storage[CHOICE_BYTES]);

/**
 * Parse what follows the verb.
 *
 * @param argc,argv  argv[0] is the verb's name; argv is permuted
 * @param out        given (settings_free); untouched on failure
 * @return DOPPEL_OK, or DOPPEL_E_ARGUMENT with a sentence that names the nearest right word
 */
enum doppel_status settings_parse(const struct verb *verb, int argc, char **argv,
                                  struct settings *out, struct doppel_error *error);
void settings_free(struct settings *settings);

/** Set a limit by the name of its option. DOPPEL_E_ARGUMENT */
enum doppel_status settings_set_limit(const char *name, const char *value,
                                      struct settings *settings, struct doppel_error *error);

/* The scheme by which files of a kind are to be fingerprinted, its version being that of the
 * options given; NULL when such files are not wanted, or cannot be. Borrowed from the settings. */
const struct doppel_scheme *settings_scheme(const struct settings *settings, enum doppel_kind kind);

/* The largest file of a kind that is read. */
uint64_t settings_max_bytes(const struct settings *settings, enum doppel_kind kind);

#endif
