/**
 * doppel/intake.h: from paths, descriptors and bytes to records. Each file that a walk yields is
 * stamped, looked up in the cache of the run, digested and, where its content is new, decoded and
 * fingerprinted by a worker process. Files come out in the order of the walk, whatever the number
 * of workers. Uses core, media's probe, text, library and worker.
 */
#ifndef DOPPEL_INTAKE_H
#define DOPPEL_INTAKE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <doppel/core.h>
#include <doppel/library.h>
#include <doppel/run.h>
#include <doppel/text.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- which files ---- */

/** Paths, or globs. All borrowed. */
struct doppel_strings {
    const char *const *items;
    size_t count;
};

/** Which files there are. All may be zero but `paths`: folders are walked depth first, names by
 * byte order, without hidden files, symbolic links, trash and thumbnails; a hard link to a file
 * that came before is passed over. Borrowed as long as the walk goes on. */
struct doppel_walk_options {
    struct doppel_strings paths;   /**< files and folders; what they name comes in this order */
    const char *files_from;        /**< a list of more paths, one a line, "-": standard input; NULL:
                                      none. They come after `paths`, and count as one of them */
    bool null_separated;           /**< the paths of that list end with NUL, not with a newline */
    struct doppel_strings exclude; /**< globs; one with a '/' is matched to the path below its
                                      path of `paths` */
    bool hidden;                   /**< hidden files and folders, too */
    bool one_file_system;          /**< no folder of another file system than its path's */
    bool follow;                   /**< symbolic links lead to files */
    bool archives;                 /**< archives are folders: what is in them comes in their place,
                                      as "a.zip!/b/c.jpg", messages of an mbox as "mbox#12" */
    uint64_t min_size;             /**< bytes; smaller files are passed over */
    struct doppel_strings extensions; /**< files with others are passed over; each "jpg", or several
                                         with commas between, in any case; none: all are taken */
    int64_t newer_than_ns, older_than_ns; /**< by their mtime, since 1970; others are passed over;
                                             0: no limit */
    bool every_name;    /**< hard links and paths given twice are files each time */
    bool stdin_operand; /**< "-" among `paths` is `descriptor`, not a file of that name */
    int descriptor;     /**< what "-" is read from; 0: standard input */
    uint64_t max_bytes; /**< of what "-" is; 0: no limit */
    /** More paths, of files alone, after all others; NULL when there are none for now. They count
     * as `files_from` does. Borrowed until the next call. NULL: no such. */
    const char *(*feed)(void *context);
    void *feed_context;
    bool found; /**< what `feed` gives was met in folders, not named: what is of no kind that is
                   wanted, or is gone again, is passed over */
};

/* ---- folders that are watched ---- */

struct doppel_watch_options {
    struct doppel_walk_options walk; /**< `paths` are folders; nothing else is read of it but which
                                        files are wanted. Strings are borrowed for the life */
    uint32_t settle_ms;    /**< for so long nothing happens to a file before it is read; 0: 1000 */
    const char *pass_over; /**< a folder of which nothing is given, such as that of the library;
                              NULL: none */
};

struct doppel_watch;

/**
 * Watch folders, and those in them, by inotify: files are given that are there, and later those
 * that are written, linked or moved there. A file is given once nothing has happened to it for a
 * moment, and nobody has it open to write. Where events are lost, all folders are looked at again:
 * then, too, files come that came before. Changes by other machines are not seen.
 *
 * A watch is what a decider is given (doppel/decide.h).
 *
 * @param run     borrowed for its life; is notified of folders that cannot be watched
 * @param out     given (doppel_watch_free)
 * @return DOPPEL_OK; DOPPEL_E_NOT_FOUND, DOPPEL_E_ARGUMENT: a path is not there, or no folder;
 *         DOPPEL_E_MEMORY
 */
DOPPEL_API enum doppel_status doppel_watch_new(struct doppel_run *run,
                                               const struct doppel_watch_options *options,
                                               struct doppel_watch **out,
                                               struct doppel_error *error);
DOPPEL_API void doppel_watch_free(struct doppel_watch *watch);

/* ---- how they are read ---- */

/** Raw audio. */
struct doppel_pcm {
    uint8_t format; /**< enum doppel_pcm_format (doppel/media.h); 0: it is none */
    uint32_t rate;  /**< Hz */
    uint32_t channels;
};

/** How files are read: doppel_read_options_default() for every kind by its default scheme. */
struct doppel_read_options {
    struct doppel_scheme schemes[DOPPEL_KIND_VIDEO + 1]; /**< by kind, with the version of the
                                                            options below; id NONE: not wanted */
    enum doppel_kind kind; /**< the one kind that was asked for by name: files of others are
                              failures where they were named; UNKNOWN: none was */
    struct doppel_text_options text;
    bool text_format_given; /**< text.format holds for all; else each file's name and bytes tell */
    struct doppel_pcm pcm;  /**< all is raw audio; format 0: nothing is */
    bool fast;              /**< of videos the keyframes alone */
    bool no_audio;          /**< videos without their audio */
    bool alone; /**< nothing is taken from the cache, and each file is read by a worker that sees no
                   other: so nothing but its own bytes can have a say in what comes of it */
};

/** Every kind by its default scheme. Thread-safe. */
DOPPEL_API struct doppel_read_options doppel_read_options_default(void);

/* ---- files, one after the other ---- */

/** A file that was read, or that could not be. */
struct doppel_file {
    char *path;      /**< given (doppel_file_free) */
    uint32_t source; /**< number of the path of `paths` that it came from; paths.count: of the list
                      */
    struct doppel_file_stamp stamp;
    struct doppel_record record; /**< with its attachment; record.error.status says whether it could
                                    be read, and record.error.message why not */
};

DOPPEL_API void doppel_file_free(struct doppel_file *file);

struct doppel_intake;

/**
 * Begin to read files. The cache is the run's; workers start when one is needed.
 *
 * @param run     borrowed for the life of the intake, which counts its files as progress of it
 * @param walk    copied; what it points at is borrowed for the life of the intake
 * @param read    copied; NULL: the defaults
 * @param out     given (doppel_intake_free)
 * @return DOPPEL_OK; DOPPEL_E_IO: the list, or a temporary file, cannot be opened; DOPPEL_E_LIMIT:
 *         too few files may be open; DOPPEL_E_MEMORY. An intake is used by one thread at a time.
 */
DOPPEL_API enum doppel_status doppel_intake_open(struct doppel_run *run,
                                                 const struct doppel_walk_options *walk,
                                                 const struct doppel_read_options *read,
                                                 struct doppel_intake **out,
                                                 struct doppel_error *error);

/**
 * The next file, also when it could not be read: then record.error says why, and nobody else is
 * told. What is empty, or of no kind that is wanted, and was not named, is passed over.
 *
 * @param out given (doppel_file_free); untouched on failure
 * @return DOPPEL_OK; DOPPEL_E_NOT_FOUND at the end; DOPPEL_E_CANCELLED; others when the run cannot
 *         go on
 */
DOPPEL_API enum doppel_status doppel_intake_next(struct doppel_intake *intake,
                                                 struct doppel_file *out,
                                                 struct doppel_error *error);

/** What is on its way is dropped; what was read is in the cache. */
DOPPEL_API void doppel_intake_free(struct doppel_intake *intake);

/* ---- one file ---- */

/** A file by its path; else bytes; else a descriptor. Borrowed. */
struct doppel_input {
    const char *path;  /**< NULL: */
    const void *bytes; /**< as a file would hold them; NULL, with a size of 0: */
    size_t size;       /**< of `bytes` */
    int descriptor;    /**< read from where it stands to its end; it stays open */
};

/**
 * Read one file.
 *
 * @param run   borrowed. It may be used by several threads
 * @param read  NULL: the defaults
 * @param out   given (doppel_record_free); untouched on failure
 * @return DOPPEL_OK; why it could not be read (DOPPEL_E_FORMAT, _CORRUPT, _LIMIT, _TIMEOUT,
 *         _NOT_FOUND, _IO, _UNSUPPORTED, …), with a sentence in which it is "it";
 * DOPPEL_E_ARGUMENT: a folder, or nothing; DOPPEL_E_CANCELLED; DOPPEL_E_MEMORY. Thread-safe.
 */
DOPPEL_API enum doppel_status doppel_fingerprint(struct doppel_run *run,
                                                 const struct doppel_input *input,
                                                 const struct doppel_read_options *read,
                                                 struct doppel_record *out,
                                                 struct doppel_error *error);

/** The bit of `switched_off` in struct doppel_limits for a format of images or documents ("HEIC")
 * or a kind
 * ("video"), in small letters or not; 0: there is no such one. Thread-safe. */
DOPPEL_API uint32_t doppel_switch_bit(const char *name);

#ifdef __cplusplus
}
#endif
#endif
