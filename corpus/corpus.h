/**
 * doppel/corpus.h: whole corpora of text records at once: reading JSON Lines, CSV and TSV, and
 * deciding for each record whether it is new. Uses core, text, index, match and library; simdjson,
 * zlib and zstd.
 */
#ifndef DOPPEL_CORPUS_H
#define DOPPEL_CORPUS_H

#include <stdbool.h>

#include <doppel/core.h>
#include <doppel/json_writer.h>
#include <doppel/library.h>
#include <doppel/match.h>
#include <doppel/text.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Names of the fields of a record. "meta.text" and "turns[0].text" (or "turns.0.text") are what
 * stands in others, unless a field is called so itself. */
struct doppel_corpus_fields {
    const char *id, *text, *path, *source, *date; /**< NULL, and default: "id", "text", "path",
                                                     "source", "date" */
    const char *const *folders; /**< records may name files below these; none, the default: below
                                   the corpus' own folder, the working folder where it is a pipe */
    size_t folder_count;
};

/** CSV and TSV have a first row with the names of their columns, which are the fields. */
enum doppel_corpus_format {
    DOPPEL_CORPUS_JSONL,
    DOPPEL_CORPUS_CSV,
    DOPPEL_CORPUS_TSV,
    DOPPEL_CORPUS_BY_NAME /**< .csv, .tsv, also with .gz or .zst; others are JSON Lines */
};

/** Of one record, by default. To parse it takes up to seven times as much. */
#define DOPPEL_MAX_RECORD_BYTES (UINT64_C(64) << 20)

struct doppel_corpus_files {
    const char *const *paths; /**< files, folders, "-" */
    size_t count;
    uint64_t max_line_bytes;          /**< longer lines, and larger files that lines name,
                                         are unreadable; default DOPPEL_MAX_RECORD_BYTES */
    enum doppel_corpus_format format; /**< of records; the default of doppel_dedup is by the name of
                                         each file */
    int descriptor; /**< what "-" is read from, where it stands; it stays open. 0: standard input */
    uint64_t first_line; /**< of "-", from 1 on: those before it were read by another reader, so
                            that it is not looked at as the beginning of a file; 0: as 1 */
};

/** How a corpus file is compressed, by its first bytes. */
enum doppel_packing { DOPPEL_PACKING_NONE, DOPPEL_PACKING_GZIP, DOPPEL_PACKING_ZSTD };

/** A file of a corpus. Strings are borrowed. */
struct doppel_corpus_input {
    uint32_t number;  /**< in order of input, from 0 */
    const char *path; /**< as it was given, or found in a folder */
    bool opened;      /**< and known: */
    enum doppel_packing packing;
    enum doppel_corpus_format format; /**< never by name */
    const char *head; /**< what stands before its records: a byte order mark, the row of names with
                         its newline */
    size_t head_size;
};

/** A record as it was read. Strings are borrowed, and end in NUL; text may hold NULs. */
struct doppel_corpus_record {
    uint32_t file;
    uint64_t line;    /**< from 1 */
    uint64_t offset;  /**< of the line in the file as decompressed */
    size_t size;      /**< of the line, without its newline */
    const char *id;   /**< a string, or a number as it is written; NULL: it has none */
    const char *text; /**< NULL: it has none */
    size_t text_size;
    const char *path, *source, *date;   /**< NULL: it has none */
    bool bare_path;                     /**< the line was no object, but a path */
    const struct doppel_metadata *said; /**< what else it says of itself, where that is asked for;
                                        without source and date. NULL: nothing */
    bool lacks_text;                    /**< unreadable for want of a text, and of a path */
    struct doppel_error error;          /**< status != OK: unreadable, and why */
};

DOPPEL_API struct doppel_corpus_fields doppel_corpus_fields_default(void);

/** Where a record was read. */
struct doppel_corpus_place {
    const char *path;             /**< of its corpus */
    uint64_t offset, size;        /**< of its line there, without its newline */
    struct doppel_digest content; /**< of its normalised text */
};

/**
 * Read the text of a record again, if it is still there.
 * @param options it was read with. @param most bytes that are wanted of its beginning
 * @param out its plain text; given (free)
 * @return DOPPEL_E_NOT_FOUND: the corpus is gone, or has something else there; _LIMIT: beyond 16
 * MB; _MEMORY; with a sentence without a subject. Thread-safe.
 */
DOPPEL_API enum doppel_status doppel_corpus_reread_text(const struct doppel_corpus_place *place,
                                                        const struct doppel_corpus_fields *fields,
                                                        const struct doppel_text_options *options,
                                                        size_t most, char **out, size_t *out_size,
                                                        struct doppel_error *error);

/* ---- dedup ---- */

/** How many texts a second stage embedded, and what it made of it. */
struct doppel_dedup_semantic_summary {
    uint64_t embedded;  /**< texts, each once */
    uint64_t chunks;    /**< of these */
    uint64_t too_short; /**< texts of which no chunk has a vector: the model knows no word, say */
    uint64_t decided;   /**< records that were not embedded, as they were duplicates, or no texts */
    uint64_t handed_off; /**< vectors: chunks that have one */
    uint64_t near;       /**< pairs of texts as near as that, or nearer */
    uint64_t linked;     /**< texts that are like another */
    uint64_t pairs;      /**< of chunks, by chance, whose cosines were looked at */
    float min_cosine; /**< that was asked for, or follows from the rate for texts of one chunk; 2:
                         there are too few texts to tell one so rare */
    bool scored;      /**< min_cosine is a score: see `scores` below */
    struct doppel_error failure; /**< why the stage was given up, so that no text is linked; its
                                    status is DOPPEL_OK where it was not */
};

/** Where the vectors of a second stage go, for a vector database: all that belongs to the corpus
 * without its duplicates, also what means the same as another; docs/formats.md has the two files.
 * Strings are borrowed. */
struct doppel_dedup_hand_off {
    const char *folder; /**< made where it is not there; vectors.npy and vectors.jsonl in it */
    const char *model, *revision; /**< what the vectors are by, for each line; NULL: nothing */
    bool replace; /**< files of these names; else they are refused before all else */
};

/** A second stage of dedup, on meaning: a text that repeats no other's words is embedded, chunk by
 * chunk, and compared with the others by the cosines of these. Nothing follows from it but what a
 * decision reports: see struct doppel_semantic_link.
 *
 * Of a long text more chunks can be near another's by chance. With m and n chunks that have a
 * vector, a rate is that of the nearest of m × n pairs, of which fewer count where chunks of a text
 * are alike: it holds for texts of any length.
 *
 * Vectors lie in a file without a name. In memory are 12 bytes a chunk, 16 a text, 16 for each pair
 * of chunks that is near enough, and what a join takes (doppel/vector.h). */
struct doppel_dedup_semantic {
    uint32_t dimension;                      /**< of vectors, 1 to 4096 */
    struct doppel_text_chunk_options chunks; /**< `most` 0: the defaults, as of a text of up to
                                                `most` letters there is one chunk */
    /** Embed up to 256 chunks, as doppel_model_embed of doppel/embed.h does; from one thread. */
    enum doppel_status (*embed)(void *context, const char *const *texts, const size_t *sizes,
                                size_t count, float *rows, enum doppel_status *each,
                                struct doppel_error *error);
    /** Called before, for every chunk that `embed` will be given, in the same order: to count what
     * it will cost. Takes another pass over the texts; NULL: none. */
    enum doppel_status (*foresee)(void *context, const char *const *texts, const size_t *sizes,
                                  size_t count, struct doppel_error *error);
    /** Called once between these two; NULL: not wanted. */
    enum doppel_status (*begin)(void *context, struct doppel_error *error);
    void *context;      /**< of the three; each ends the stage by a failure, and the run only by
                           DOPPEL_E_CANCELLED, or where there is no `summary` to say it */
    bool whitened;      /**< the vectors that `embed` makes are whitened already */
    double max_fp_rate; /**< the share of pairs of texts by chance that may be as near, by vectors
                           that are whitened */
    float min_cosine;   /**< or, if not 0, this one, of vectors as they are */
    bool scores; /**< max_fp_rate is a rate of scores: how much nearer two texts are than is usual
                    around them (doppel_vector_cohort); finds more, and takes longer */
    const struct doppel_dedup_hand_off *hand_off;  /**< of vectors as `embed` makes them; the files
                                                      appear when the stage is done. NULL: none */
    struct doppel_dedup_semantic_summary *summary; /**< filled; NULL: not wanted */
};

/** Which records are a group. */
enum doppel_dedup_cluster {
    DOPPEL_CLUSTER_REPRESENTATIVES, /**< all are near the first of it: no chains */
    DOPPEL_CLUSTER_COMPONENTS       /**< each is near some other, the way others have it */
};

struct doppel_dedup_options {
    struct doppel_corpus_files files;
    struct doppel_corpus_fields fields;
    struct doppel_text_options text;
    struct doppel_text_limits limits; /**< of the similarity and containment, doppel/match.h */
    uint32_t bands, rows;  /**< 0: chosen from limit and lanes (doppel_index_bands_choose) */
    uint64_t memory_bytes; /**< beyond, signatures and band keys go to `temporary`; 0: no
                              limit */
    const char *temporary; /**< folder; NULL: $TMPDIR or /tmp */
    uint32_t threads;      /**< 0: one a processor */
    unsigned lines;        /**< DOPPEL_LINES_…, or-ed: which decisions come with their lines */
    bool keep_shingles;    /**< of records that cannot be read again, in `temporary` */
    bool parts; /**< also report what is a part of an earlier record of the corpus, however much
                   longer that is, of which bands find none; takes half a byte a shingle */
    enum doppel_same_id on_same_id;
    enum doppel_dedup_cluster cluster; /**< of `against` the representatives alone are looked at */
    struct doppel_library
        *against; /**< its texts are representatives before the first record; or NULL */
    const struct doppel_dedup_semantic *semantic; /**< NULL: none */
    struct doppel_text_looks *looks; /**< what some of the texts look like is added here, always the
                                        same ones; NULL: not wanted */
    /** Called now and then from the calling thread, of so many "bytes" read, "records looked up" in
     * `against`, "records compared", "parts looked for", "texts counted", "texts embedded",
     * "vectors compared" and "records visited", in this order; total 0: not known. False ends the
     * reading: what was read is decided; or the comparing. */
    bool (*progress)(void *context, const char *unit, uint64_t done, uint64_t total);
    void *context;
    /** Called with the visitor's context before the first decision of each file, in order, also of
     * one without records; false ends the run. NULL: not wanted */
    bool (*input)(void *context, const struct doppel_corpus_input *input);
};

DOPPEL_API struct doppel_dedup_options doppel_dedup_options_default(void);

/** Lines of records that belong to a corpus without its duplicates, of the others, and of those
 * that could not be read. */
enum {
    DOPPEL_LINES_UNIQUE = 1,
    DOPPEL_LINES_DUPLICATES = 2,
    DOPPEL_LINES_UNREADABLE = 4,
    DOPPEL_LINES_ALL = 7
};

/** Another record, by which a group is known. Strings are borrowed. */
struct doppel_dedup_representative {
    const char *id, *path; /**< NULL: it has none */
    uint64_t line;         /**< 0: it is a file by itself */
    uint64_t item;         /**< in the library; 0: it is of the corpus */
};

/** How much alike texts are that mean the same, by how rare it is among pairs by chance. */
enum doppel_semantic_tier {
    DOPPEL_SEMANTIC_NEAR_DUPLICATE = 1, /**< a rate of at most 3e-6 */
    DOPPEL_SEMANTIC_VERY_SIMILAR = 2,   /**< 1e-5 */
    DOPPEL_SEMANTIC_RELATED = 3
};

/** "near-duplicate", "very-similar" or "related"; static storage. Thread-safe. */
DOPPEL_API const char *doppel_semantic_tier_name(enum doppel_semantic_tier tier);

/** The tier of a rate. Thread-safe. */
DOPPEL_API enum doppel_semantic_tier doppel_semantic_tier_of(double false_positive_rate);

/** What shares of two texts, that are near the other, make of them: SAME, where at least a half of
 * each is; CONTAINED, of the query; CONTAINS, of the item; else OVERLAPS. Thread-safe. */
DOPPEL_API enum doppel_relation doppel_semantic_extent_of(double query_coverage,
                                                          double item_coverage);

/** A passage that two texts have in other words: the record is `a`, what it is linked to `b`. In
 * characters of their plain text, of whole chunks. */
struct doppel_semantic_segment {
    uint64_t a_start, a_end, b_start, b_end;
    float cosine; /**< the mean of its pairs of chunks */
};

/** An earlier text that means the same in other words, or has a passage that does. A text is linked
 * to one of which no other has the most, the nearest of them: no chains. Strings are borrowed. */
struct doppel_semantic_link {
    const char *of, *of_path; /**< its id, NULL: it has none; and file */
    uint64_t of_line;
    uint64_t of_item; /**< in a library; 0: it is of the corpus */
    float cosine;     /**< of their nearest chunks */
    bool has_score;   /**< it was found by scores */
    float score;      /**< then: by how much that cosine exceeds what is usual around the two
                         (doppel_vector_cohort); the rate below is that of scores */
    enum doppel_semantic_tier tier; /**< 0: it is not known how rare that is by chance */
    double false_positive_rate; /**< the share of pairs of texts of as many chunks that have some as
                                   near by chance, or nearer */
    double expected;            /**< how many texts of this corpus are as near to one by chance */
    double query_coverage, item_coverage; /**< shares of the record, and of the other, that are in
                                             chunks near one of the other */
    enum doppel_relation extent; /**< by whether these are at least a half: SAME, both; CONTAINED,
                                    the record's; CONTAINS, the other's; OVERLAPS, none */
    const struct doppel_semantic_segment *segments; /**< by `a_start`; borrowed */
    size_t segment_count;                           /**< 0: both texts are one chunk */
};

/** Append its fields but who it is of to the object that was begun last. Thread-safe for different
 * `json`. */
DOPPEL_API void doppel_semantic_link_to_json(struct doppel_json *json,
                                             const struct doppel_semantic_link *link);

/** What was decided of a record. Strings are borrowed. */
struct doppel_dedup_decision {
    uint64_t number;  /**< of the record, from 0 */
    const char *path; /**< of its file */
    uint64_t line;
    const char *id, *source; /**< NULL: it has none, or is not dedup's */
    enum doppel_decision decision;
    const char *reason; /**< "same-content", "near", "part", "same-id", … or why it is unreadable;
                           NULL: new */
    const char
        *of; /**< id of the representative or of the record that it revises; NULL: it has none */
    const char *of_path;  /**< its file; NULL: there is no such record */
    uint64_t of_line;     /**< 0: it is a file by itself */
    const char *replaces; /**< id of the text that it revises, or that was to be kept of its group
                             until it came; NULL: none */
    bool unique;  /**< it belongs to the corpus without its duplicates: of texts that take the place
                     of others, the last */
    bool grouped; /**< of dedup: it is linked to others, through `of`, and the first of these is: */
    struct doppel_dedup_representative representative;
    bool has_match;
    struct doppel_match match;
    const char *line_text; /**< where options.lines asks for it, without its newline; NULL: it is
                              lost */
    size_t line_size;
    uint64_t item, of_item; /**< ids in the library; 0: it has none */
    bool replayed;    /**< it is in the library, id and text, and this is what was decided then */
    uint64_t same_id; /**< what else the library knows under its id, or its external id, and is
                         not what it is decided to be of; 0: nothing */
    const struct doppel_semantic_link *semantic; /**< NULL: none */
};

typedef bool doppel_dedup_visitor(void *context, const struct doppel_dedup_decision *decision);

/**
 * Decide for every record of a corpus, in one pass over it, and visit the decisions in input order:
 * one for each line that is not empty, broken ones included. The rules are doppel_decide's, and so
 * is the order: a record is a duplicate of the first earlier representative within the limit; with
 * DOPPEL_CLUSTER_COMPONENTS of the first earlier record, duplicate or not, and of records that are
 * linked through later ones only the first stays. The same for any number of threads and any memory
 * limit.
 * @return DOPPEL_OK; DOPPEL_E_ARGUMENT (also a file that vectors would be handed off to);
 * DOPPEL_E_CANCELLED (by the visitor; by `progress` while reading, after all that was read was
 * visited; or by `progress` while comparing, and none was visited); _IO; _MEMORY
 */
DOPPEL_API enum doppel_status doppel_dedup(const struct doppel_dedup_options *options,
                                           doppel_dedup_visitor *visitor, void *context,
                                           struct doppel_error *error);

/* ---- outputs: a file for each file of a corpus ---- */

struct doppel_corpus_outputs_options {
    const char *folder; /**< made where it is not there. Borrowed */
    struct doppel_corpus_files files;
    bool replace;     /**< what is there by the same name */
    uint32_t threads; /**< that may compress; 0: one a processor */
};

struct doppel_corpus_outputs; /* of one thread */

/**
 * Begin to write a file of the same name and compression for each file of a corpus. Those of a
 * folder keep their place in it, behind its name where more is given; files of one name keep as
 * much of their paths as tells them apart.
 * What is written has hidden names (.NAME.part) until all is finished.
 * @param out given (doppel_corpus_outputs_free)
 * @return DOPPEL_OK; DOPPEL_E_ARGUMENT (standard input, a file given twice, an output that would be
 * an input, or lie among inputs, or that is there and not to be replaced); DOPPEL_E_BUSY (another
 * process writes there); DOPPEL_E_IO; DOPPEL_E_MEMORY
 */
DOPPEL_API enum doppel_status doppel_corpus_outputs_new(
    const struct doppel_corpus_outputs_options *options, struct doppel_corpus_outputs **out,
    struct doppel_error *error);

/** End the output before and begin that of an input, with its head; none of one that could not be
 * opened. DOPPEL_E_CHANGED (it was not there before); DOPPEL_E_IO; DOPPEL_E_MEMORY. */
DOPPEL_API enum doppel_status doppel_corpus_outputs_begin(struct doppel_corpus_outputs *outputs,
                                                          const struct doppel_corpus_input *input,
                                                          struct doppel_error *error);
DOPPEL_API enum doppel_status doppel_corpus_outputs_write(struct doppel_corpus_outputs *outputs,
                                                          const void *bytes, size_t size,
                                                          struct doppel_error *error);

/** End the last output, and give all their names. DOPPEL_E_IO. */
DOPPEL_API enum doppel_status doppel_corpus_outputs_finish(struct doppel_corpus_outputs *outputs,
                                                           struct doppel_error *error);

/** What is not finished is removed. */
DOPPEL_API void doppel_corpus_outputs_free(struct doppel_corpus_outputs *outputs);

/* ---- ingest: a loop over the decider of doppel/decide.h, in whose library it is ---- */

struct doppel_ingest_options {
    struct doppel_corpus_files files;
    struct doppel_corpus_fields fields;
    struct doppel_text_options text; /**< a library keeps to one choice */
    struct doppel_text_limits limits;
    uint32_t bands, rows; /**< 0: chosen from limit and lanes */
    uint32_t threads;     /**< 0: one a processor */
    bool keep_shingles;   /**< in the library: to compare with texts that cannot be read again */
    enum doppel_same_id on_same_id;
    const char *source;                  /**< of records that name none; NULL: none. Borrowed */
    const struct doppel_metadata *about; /**< said of each text that is added, or comes again with
                                         its id, but for source and date; NULL: nothing. Borrowed */
    /** Records say nothing of themselves but source and date. Else "external_id", "meta", "labels"
     * and "list" (or "lists") are said of their text, or file, beside `about`, and before it; a
     * record in which one of them is of a wrong type is unreadable. */
    bool plain_records;
    bool check; /**< decide only: nothing is remembered, and no record is known to later ones */
    struct doppel_text_looks *looks; /**< as of doppel_dedup; NULL: not wanted */
    /** Called now and then from the calling thread, also while there is no input; false ends the
     * reading: what was decided is kept, and visited. */
    bool (*progress)(void *context, uint64_t done, uint64_t total, uint64_t records);
    void *context;
};

DOPPEL_API struct doppel_ingest_options doppel_ingest_options_default(void);

/**
 * Decide for each record whether it is new to the library, and remember it there. The decisions are
 * those of doppel_dedup for the same records in the same order; what the library holds comes first.
 * Manual labels, lists that are not active, sources and a policy of the library are known to
 * doppel_ingest alone.
 *
 * Each is visited once it is kept: what was visited survives SIGKILL. Records that wait together
 * are kept together; where there is but one, it is answered at once.
 *
 * Others may ingest into the same library at the same time: groups of records take turns.
 * @return DOPPEL_OK; DOPPEL_E_VERSION (the library's texts were read with other options);
 * DOPPEL_E_BUSY (another process has been writing for five seconds); _CANCELLED; _IO; _MEMORY: what
 * was visited is kept
 */
DOPPEL_API enum doppel_status doppel_ingest(struct doppel_library *library,
                                            const struct doppel_ingest_options *options,
                                            doppel_dedup_visitor *visitor, void *context,
                                            struct doppel_error *error);

/* ---- paragraphs ---- */

/** A paragraph that comes in many records. Strings are borrowed. */
struct doppel_paragraph {
    uint64_t documents; /**< records that have it */
    const char *path;   /**< of the file of the first of them */
    uint64_t line;
    const char *id;  /**< NULL: it has none */
    uint64_t number; /**< of the paragraph in its text, from 1 */
    const char *text;
    size_t text_size;
};

/** A record without such paragraphs. Strings are borrowed. */
struct doppel_stripped_record {
    const char *path;
    uint64_t line;
    const char *id;         /**< NULL: it has none */
    const char *unreadable; /**< why; NULL: it could be read, and: */
    const char *json; /**< its line; without a newline, and as it was where nothing is dropped */
    size_t json_size;
    uint64_t paragraphs, dropped;
};

struct doppel_paragraph_options {
    struct doppel_corpus_files files;
    struct doppel_corpus_fields fields;
    struct doppel_text_options text; /**< how texts are read and normalised */
    uint64_t max_documents;          /**< paragraphs of more records are visited and dropped;
                                        default 10 */
    uint64_t memory_bytes; /**< beyond, what is counted goes to `temporary`; 0: beyond 64 MB and 160
                              bytes a record */
    const char *temporary; /**< folder; NULL: $TMPDIR or /tmp */
    uint32_t threads;      /**< 0: one a processor */
    /** Of these NULL: not wanted. False ends it. Called from the calling thread. */
    bool (*paragraph)(void *context, const struct doppel_paragraph *paragraph);
    bool (*record)(void *context, const struct doppel_stripped_record *record);
    bool (*progress)(void *context, uint64_t done, uint64_t total);
    void *context;
};

DOPPEL_API struct doppel_paragraph_options doppel_paragraph_options_default(void);

struct doppel_paragraph_counts {
    uint64_t records, unreadable; /**< the latter not among the former */
    uint64_t paragraphs;          /**< in all, each once a record */
    uint64_t distinct, recurring; /**< of any number of records; of two and more */
    uint64_t frequent;            /**< of more than max_documents */
    uint64_t dropped;             /**< paragraphs, where records are wanted */
};

/**
 * Count in how many records each paragraph comes, whatever its case, spaces and punctuation, and
 * visit the frequent ones, by first place, and the records without them, in input order.
 *
 * Paragraphs stand between empty lines; in a text without empty lines each line is one. The corpus
 * is read twice; standard input is kept in `temporary` for that. The same for any number of threads
 * and any memory limit.
 * @return DOPPEL_OK; DOPPEL_E_CANCELLED; DOPPEL_E_LIMIT (the frequent ones exceed the memory); _IO;
 * _MEMORY
 */
DOPPEL_API enum doppel_status doppel_paragraphs(const struct doppel_paragraph_options *options,
                                                struct doppel_paragraph_counts *out,
                                                struct doppel_error *error);

#ifdef __cplusplus
}
#endif
#endif
