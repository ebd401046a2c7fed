/** doppel/group.h: groups of duplicates, with what each member is to the one to keep.
 *
 * A group is found among files (doppel scan) or in a library (doppel groups). Its first member is
 * the one to keep; the reason and the match of every other one are why it is in the group. */
#ifndef DOPPEL_GROUP_H
#define DOPPEL_GROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <doppel/compare.h>
#include <doppel/core.h>
#include <doppel/corpus.h>
#include <doppel/intake.h>
#include <doppel/json_writer.h>
#include <doppel/library.h>
#include <doppel/match.h>
#include <doppel/run.h>
#include <doppel/text.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Why a member is in its group: what it is to the one to keep. */
enum doppel_reason {
    DOPPEL_REASON_KEPT,         /**< it is the one to keep */
    DOPPEL_REASON_IDENTICAL,    /**< the same bytes */
    DOPPEL_REASON_SAME_CONTENT, /**< the same words, pixels, peaks or frames in other bytes */
    DOPPEL_REASON_NEAR,         /**< a near-duplicate */
    DOPPEL_REASON_CONTAINED,    /**< a part of it */
    DOPPEL_REASON_MARKED        /**< by a manual label */
};
enum { DOPPEL_REASONS = DOPPEL_REASON_MARKED + 1 };

/** As JSON has it: "kept", "identical", "same-content", "near", "part", "marked"; static storage.
 */
DOPPEL_API const char *doppel_reason_name(enum doppel_reason reason);

/** What a person decided about a file, in a report for one. The later ones lose less. */
enum doppel_file_mark {
    DOPPEL_FILE_UNMARKED,
    DOPPEL_FILE_REMOVE,
    DOPPEL_FILE_LEAVE, /**< its group is to be left alone */
    DOPPEL_FILE_KEEP
};

/** As JSON has it: "remove", "leave", "keep"; NULL: unmarked. Static storage. */
DOPPEL_API const char *doppel_file_mark_name(enum doppel_file_mark mark);

/** Marks of files and of pairs of files, as the page of a report exports them (docs/formats.md).
 * Files are known by their bytes; of files of the same bytes the path decides. Not for two calls at
 * a time. */
struct doppel_marks;

/**
 * Read a file of marks, whole.
 *
 * @param path "-": standard input
 * @param out  given (doppel_marks_free); untouched on failure
 * @return DOPPEL_OK; DOPPEL_E_NOT_FOUND, DOPPEL_E_IO; DOPPEL_E_FORMAT when a line is no mark: it is
 *         all or none, since files are removed by it; DOPPEL_E_MEMORY
 */
DOPPEL_API enum doppel_status doppel_marks_read(const char *path, struct doppel_marks **out,
                                                struct doppel_error *error);
/** The same of the bytes of such a file. @param name what messages call it */
DOPPEL_API enum doppel_status doppel_marks_read_bytes(const char *bytes, size_t size,
                                                      const char *name, struct doppel_marks **out,
                                                      struct doppel_error *error);
DOPPEL_API void doppel_marks_free(struct doppel_marks *marks);

/** A record of a corpus. */
struct doppel_group_record {
    const char *record_id;       /**< what its source calls it; NULL: not known */
    uint64_t line;               /**< in its corpus, from 1 */
    uint64_t offset, size_bytes; /**< of that line in the file */
    uint64_t words;
    const char *source, *date; /**< NULL: not known */
};

/** A member of a group. */
struct doppel_group_member {
    enum doppel_reason reason;
    enum doppel_file_mark mark; /**< by the marks of the options; LEAVE: of all of its group */
    bool is_file;               /**< a file is at `path` */
    bool gone;                  /**< of a library: the file was there, and is no more */
    bool reference;             /**< only compared against: always kept */
    bool burst;                 /**< another shot than the one to keep, as far as EXIF says
                                   (doppel_image_is_burst), or a copy of one: it goes by a mark
                                   alone */
    uint32_t shot;    /**< members with the same number are files of one shot, as a raw file of a
                         camera and its JPEG; they go together or not at all; 0: it has none */
    uint8_t reading;  /**< of a text: how it was read, as in struct doppel_record */
    uint64_t id;      /**< in the library; 0: it comes from none */
    const char *path; /**< of a file; of a record that of its corpus, or NULL; else a name */
    struct doppel_digest digest; /**< of the bytes, of a record of its content; zero: not known */
    int64_t size_bytes, mtime_ns;
    uint64_t device, inode;                   /**< 0: not known */
    uint64_t duration_ms;                     /**< of audio and video */
    uint32_t width, height;                   /**< 0: not known */
    const struct doppel_image_origin *origin; /**< what the file of an image says; NULL: nothing is
                                                 known */
    const struct doppel_audio_tags *tags;     /**< and of a recording likewise */
    uint64_t links; /**< hard links to the file, as its file system counts them; 0: not known */
    const char *const *names; /**< its other names among what was grouped; they go with it */
    size_t name_count;
    uint64_t freed_bytes; /**< when all these names go: its size, or 0 when there are others, and
                             of a file that is gone */
    size_t same_bytes;    /**< number of the first member with its bytes; its own: none before has
                             them */
    const struct doppel_match *match; /**< it as the query, the one to keep as the item; NULL: of
                                         the one to keep, of the same content, and where there is
                                         none */
    const struct doppel_group_record *record; /**< NULL: it is no record */
    const char *const *lists, *const *labels; /**< where they are wanted */
    size_t list_count, label_count;
};

/** A group; all in it is borrowed for the visit. */
struct doppel_group {
    uint64_t number; /**< from 1, in the order in which groups are found */
    enum doppel_kind kind;
    const char *keep;        /**< the path, name or record id of the one to keep */
    const char *keep_reason; /**< why it is kept rather than the second best: "mark", "folder",
                                "reference", "file" (the others have none), "chosen" (in the
                                library), "whole", "sharpest" (of a burst), or doppel_keep_reason;
                                NULL: not known */
    const struct doppel_group_member *members; /**< the one to keep first */
    size_t count;
    uint64_t savable_bytes; /**< what all but the one to keep, references, other shots of a burst,
                               other files of its shot, texts that hold it, and what is marked to
                               be kept or left take; nothing of a file that has names elsewhere */
    const struct doppel_text_options *text; /**< of records: how they were read; NULL: all members
                                               are files or items */
};

/** Visit a group. What is not DOPPEL_OK ends the search, which returns it. */
typedef enum doppel_status doppel_group_visitor(void *context, const struct doppel_group *group,
                                                struct doppel_error *error);

/** Whether it is a text that holds the one to keep, and more: it goes by a mark alone. Such a one
 * is kept, unless another was asked for. Thread-safe. */
DOPPEL_API bool doppel_group_member_holds_more(const struct doppel_group_member *member);

/** A text file that repeats no other one by its words: the one to keep of its group, or one that is
 * in none. Borrowed for the visit. */
struct doppel_group_text {
    const char *path;
    uint64_t group;    /**< its number; 0: of no group that is visited */
    bool reference;    /**< only compared against */
    size_t duplicates; /**< so many others repeat it */
};

/** Visit one. What is not DOPPEL_OK ends the search, which returns it. */
typedef enum doppel_status doppel_group_text_visitor(void *context,
                                                     const struct doppel_group_text *text,
                                                     struct doppel_error *error);

/** Two files of a scan that nearly match, and are in different groups or in none. Nothing is done
 * about them. Borrowed for the visit. */
struct doppel_group_near {
    const char *path, *of_path;
    const struct doppel_match *match; /**< of the first as the query, below the threshold */
};

/** Visit one. What is not DOPPEL_OK ends the scan, which returns it. */
typedef enum doppel_status doppel_group_near_visitor(void *context,
                                                     const struct doppel_group_near *near,
                                                     struct doppel_error *error);

/** Append one as an object (docs/formats.md). Thread-safe for different `json`. */
DOPPEL_API void doppel_group_near_to_json(struct doppel_json *json,
                                          const struct doppel_group_near *near);

/** Which texts of corpora are grouped, as their library links them. */
enum doppel_group_records {
    DOPPEL_GROUP_NO_RECORDS,
    DOPPEL_GROUP_RECORDS_OF_SCHEME, /**< where they have the scheme of the options */
    DOPPEL_GROUP_ALL_RECORDS        /**< whichever they have */
};

/** What files of one shot are to each other: a raw file of a camera, and images beside it of the
 * same name but for its extension. */
enum doppel_companions {
    DOPPEL_COMPANIONS_JOIN = 0, /**< no duplicates: they make no group, and `shot` is told */
    DOPPEL_COMPANIONS_SEPARATE  /**< as any other images */
};

/** What is grouped, and how. */
struct doppel_group_options {
    struct doppel_compare_options compare; /**< what is compared, and when it is a duplicate */
    struct doppel_keep_policy keep;        /**< which member is the one to keep */
    struct doppel_strings keep_from; /**< folders: the one to keep is from one of them, where there
                                        is one; borrowed; none by default */
    struct doppel_strings protect;   /**< globs of paths, relative or whole, whose '*' also matches
                                        '/', of their ends from a '/' on, or of a folder above: such
                                        files are kept, whatever else is in their group; borrowed;
                                        none by default */
    bool not_within; /**< no two of one folder: of a group the one to keep, and of each other folder
                        the first; default false */
    enum doppel_companions companions; /**< default JOIN */
    bool bursts; /**< other shots of a burst are in a group with it; of several shots the sharpest
                    is kept where no policy is given; default false: copies alone */
    bool keep_given; /**< default false: of a library, the policy that it keeps, if any */
    bool digests;    /**< members have their digest in any case; default false */
    struct doppel_marks *marks; /**< what is decided: the one to keep is chosen among what is marked
                                   to be kept, labels of pairs count, and marks whose files are not
                                   there are reported as a failed input; borrowed; NULL: none */
    bool on_disk; /**< what is found is acted on: members have their digest, device and inode,
                     and what has no file is left out; default false */

    /* of doppel_scan */
    const struct doppel_walk_options *walk; /**< how folders are walked; its paths do not count;
                                               borrowed; NULL (default): whole, but for what is
                                               hidden */
    const struct doppel_read_options *read; /**< how files are read; borrowed; NULL (default): by
                                               the schemes and texts of `compare` */
    bool parts; /**< images and videos that share a part, too, by their keypoints, for which they
                   are read a second time; where a video is in a group, the group is of kind video,
                   whatever else is in it; default false */
    bool cross_folder;                     /**< only groups that span two paths; default false */
    doppel_group_text_visitor *visit_text; /**< each text that repeats no other, in the order of
                                              their first files, between the groups of texts; NULL
                                              (default): none */
    void *text_context;                    /**< of it */
    doppel_group_near_visitor *visit_near; /**< of images, recordings and videos the best pairs that
                                              nearly match, `near_misses` of `compare` of each kind,
                                              after all groups: of images those whose codes leave a
                                              doubt that their pixels do not confirm; NULL
                                              (default): none */
    void *near_context;                    /**< of it */
    const char *library; /**< the folder of a library whose manual labels count, if there is one;
                            borrowed; NULL (default): none */

    /* of doppel_library_groups */
    const struct doppel_item_set *wanted; /**< these alone; borrowed; NULL (default): all */
    enum doppel_group_records records;    /**< default DOPPEL_GROUP_ALL_RECORDS */
    bool bytes_alone; /**< items of which nothing but their bytes is known, too; default true */
    bool metadata;    /**< members have their lists and labels; default false */
};

/** Every kind by its default scheme and thresholds, the default policy. Thread-safe. */
DOPPEL_API struct doppel_group_options doppel_group_options_default(void);

/** Among how many groups were looked for. */
struct doppel_group_counts {
    uint64_t items[DOPPEL_KIND_VIDEO + 1]; /**< by kind; UNKNOWN: known by their bytes alone */
    bool records;                          /**< records of a corpus as well */
    uint64_t passed_over; /**< files that the options of the walk leave out: by globs, size,
                             extension, age */
};

/** Which files are scanned. */
struct doppel_scan_paths {
    const char *const *paths; /**< files and folders */
    size_t count;
    size_t references; /**< so many of the first ones are only compared against: their files are
                          kept */
};

/**
 * Find the groups of duplicates among files: read all, compare those of a kind, visit the groups.
 *
 * Images come first, then texts, recordings, videos; groups of a kind in the order of their first
 * files. Files that cannot be read are reported to the run, which goes on.
 *
 * @param paths   borrowed
 * @param options borrowed; NULL: the defaults
 * @param counts  may be NULL; zero until all files are read
 * @return DOPPEL_OK; DOPPEL_E_CANCELLED, also after some groups; DOPPEL_E_MEMORY; what `visit`
 *         returned; others when files, cache or library cannot be had at all
 *
 * Thread-safe for different runs.
 */
DOPPEL_API enum doppel_status doppel_scan(struct doppel_run *run,
                                          const struct doppel_scan_paths *paths,
                                          const struct doppel_group_options *options,
                                          doppel_group_visitor *visit, void *context,
                                          struct doppel_group_counts *counts,
                                          struct doppel_error *error);

/**
 * Find the groups of duplicates among the items of a library; nothing is read but the library.
 * What is damaged is reported to the run. Records of corpora come last.
 *
 * @param library borrowed; read only
 * The rest is as of doppel_scan. Thread-safe for different runs and libraries.
 */
DOPPEL_API enum doppel_status doppel_library_groups(struct doppel_run *run,
                                                    struct doppel_library *library,
                                                    const struct doppel_group_options *options,
                                                    doppel_group_visitor *visit, void *context,
                                                    struct doppel_group_counts *counts,
                                                    struct doppel_error *error);

/** What a group has in JSON beside what 'scan --json' prints. */
enum doppel_group_json {
    DOPPEL_GROUP_PLAIN = 0,
    DOPPEL_GROUP_DIGESTS = 1, /**< of each member */
    DOPPEL_GROUP_STAMPS = 2   /**< of each file: mtime_ns, inode, how a text was read */
};

/**
 * Append a group as an object: group, kind, keep, savable, members (docs/formats.md).
 *
 * @param key   as of doppel_json_object_begin
 * @param parts DOPPEL_GROUP_…, or-ed
 * Thread-safe for different `json`.
 */
DOPPEL_API void doppel_group_to_json(struct doppel_json *json, const char *key,
                                     const struct doppel_group *group, unsigned parts);

/**
 * Read back a group of files from what doppel_group_to_json made of it, with digests and stamps.
 * What JSON does not have (of a video's match the view, of an image's origin how it is compressed)
 * is not there. Numbers are checked for their ranges.
 *
 * @param out given (doppel_group_free); untouched on failure
 * @return DOPPEL_OK; DOPPEL_E_ARGUMENT with a sentence; DOPPEL_E_MEMORY. Thread-safe.
 */
DOPPEL_API enum doppel_status doppel_group_from_json(const char *text, size_t size,
                                                     struct doppel_group **out,
                                                     struct doppel_error *error);
DOPPEL_API void doppel_group_free(struct doppel_group *group);

/** One of two text files that mean the same. */
struct doppel_group_linked {
    const char *path;
    uint64_t group; /**< the number of the group that it is in by its words; 0: of none */
    int64_t size_bytes, mtime_ns;
    uint64_t inode; /**< 0: these three are not known */
};

/** A text file that means the same as another one in other words (doppel/search_semantic.h). Links
 * stand below the groups; nothing is done about them. All is borrowed for the visit. */
struct doppel_group_link {
    struct doppel_group_linked text, of;
    struct doppel_semantic_link link; /**< its `of_path` is that of `of` */
};

/** Visit one. What is not DOPPEL_OK ends the visits, and is returned. */
typedef enum doppel_status doppel_group_link_visitor(void *context,
                                                     const struct doppel_group_link *link,
                                                     struct doppel_error *error);

/** Append one as an object (docs/formats.md). @param parts DOPPEL_GROUP_STAMPS counts.
 * Thread-safe for different `json`. */
DOPPEL_API void doppel_group_link_to_json(struct doppel_json *json,
                                          const struct doppel_group_link *link, unsigned parts);

/** Scans that are kept in a file (docs/formats.md), to be looked at and acted on later. */
struct doppel_scan_saver;

/**
 * Begin a file of a scan. It appears at its path when it is whole.
 * @param out given (doppel_scan_save_end)
 * @return DOPPEL_OK; DOPPEL_E_ARGUMENT: a file is there that is no saved scan; DOPPEL_E_IO,
 *         DOPPEL_E_MEMORY
 */
DOPPEL_API enum doppel_status doppel_scan_save_begin(const char *path,
                                                     struct doppel_scan_saver **out,
                                                     struct doppel_error *error);
/** Write a group of doppel_scan, whose options have `on_disk` and `digests`. It is a
 * doppel_group_visitor, with the saver as its context. */
DOPPEL_API enum doppel_status doppel_scan_save_group(void *saver, const struct doppel_group *group,
                                                     struct doppel_error *error);
/** Write a link, after the groups. Files whose stamp is not known are looked at; what is gone by
 * now is left out. It is a doppel_group_link_visitor, with the saver as its context. */
DOPPEL_API enum doppel_status doppel_scan_save_link(void *saver,
                                                    const struct doppel_group_link *link,
                                                    struct doppel_error *error);
/** End it, and free the saver. @param status of the scan: what is not DOPPEL_OK leaves no file, and
 * is returned. @param counts of the scan; borrowed */
DOPPEL_API enum doppel_status doppel_scan_save_end(struct doppel_scan_saver *saver,
                                                   enum doppel_status status,
                                                   const struct doppel_group_counts *counts,
                                                   struct doppel_error *error);

/** Whether a file is a saved scan, of whatever version, by its beginning. */
DOPPEL_API bool doppel_is_saved_scan(const char *path);

/**
 * Visit the groups of a saved scan, without reading its files. A file with another size, mtime or
 * inode than it had is left out of its group, and reported to the run as a failed input; one that
 * is gone, or is a link to another one of its group by now, is counted in a notice. A group of
 * which one is left is not visited. Marks and `protect` of the options choose which is kept; what
 * the others are to another one to keep than the saved one is not measured again: they have the
 * weaker of both reasons, and no match. No other option counts but `compare`, by its kinds.
 *
 * @param path    read whole before the first group is visited
 * @param options borrowed; NULL: the defaults
 * @return as doppel_scan; DOPPEL_E_FORMAT with path, line and what is wrong; DOPPEL_E_IO
 */
DOPPEL_API enum doppel_status doppel_scan_saved(struct doppel_run *run, const char *path,
                                                const struct doppel_group_options *options,
                                                doppel_group_visitor *visit, void *context,
                                                struct doppel_group_counts *counts,
                                                struct doppel_error *error);

/**
 * Visit the links of a saved scan, in their order. Those of which a file is gone, or has another
 * size, mtime or inode than it had, are left out, and counted in a notice.
 *
 * @param path read whole before the first link is visited
 * @return as doppel_scan_saved
 */
DOPPEL_API enum doppel_status doppel_scan_saved_links(struct doppel_run *run, const char *path,
                                                      doppel_group_link_visitor *visit,
                                                      void *context, struct doppel_error *error);

#ifdef __cplusplus
}
#endif
#endif
