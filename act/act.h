/** doppel/act.h: doing something about duplicates, and undoing it.
 *
 * Groups become a plan: which members go, for which file. Marks outrank the reasons of the policy:
 * what is marked for removal goes, what is marked to be kept or left stays. Running it looks at
 * each pair once more, writes a step into a journal, down to the disk, takes it, and writes what
 * became of it. So whatever ends a run (a signal, SIGKILL, a power cut), the journal names all that
 * may have been touched, and doppel_undo takes it back.
 *
 * At every moment either the old file or what takes its place is at the path. Nothing is ever
 * overwritten. A file that changed since it was read is left alone; so is one that is not, byte by
 * byte, what it should be. One with other bytes is read again, as is the one to keep, each by a
 * worker process that sees no other file, and left alone unless they are still duplicates; but not
 * where a person has marked it. Why is reported with it. */
#ifndef DOPPEL_ACT_H
#define DOPPEL_ACT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <doppel/compare.h>
#include <doppel/core.h>
#include <doppel/group.h>
#include <doppel/intake.h>
#include <doppel/library.h>
#include <doppel/run.h>

#ifdef __cplusplus
extern "C" {
#endif

/** What is done about a duplicate. All but a reflink can be undone; that changes nothing that can
 * be seen. */
enum doppel_action {
    DOPPEL_ACTION_HARDLINK, /**< it becomes another name of the file to keep */
    DOPPEL_ACTION_REFLINK,  /**< the two share their blocks, where the file system can */
    DOPPEL_ACTION_SYMLINK,
    DOPPEL_ACTION_TRASH,  /**< of the freedesktop.org specification */
    DOPPEL_ACTION_MOVE_TO /**< into a folder, in which files keep their paths */
};
enum { DOPPEL_ACTIONS = DOPPEL_ACTION_MOVE_TO + 1 };

/** "hardlink", "reflink", "symlink", "trash", "move-to"; static storage. */
DOPPEL_API const char *doppel_action_name(enum doppel_action action);

/** What is done to which members of a group, and where. */
struct doppel_act_policy {
    enum doppel_action action;
    unsigned reasons;    /**< 1u << DOPPEL_REASON_…, or-ed: members to act on. Links are made only
                            for what has the same bytes */
    const char *move_to; /**< the folder of DOPPEL_ACTION_MOVE_TO; it is made */
    const char *trash;   /**< the user's own trash can, as ~/.local/share/Trash: for files on its
                            file system; it is made. NULL: only those on the file systems of the
                            files, as /mnt/.Trash-1000 */
    const char *journal; /**< the file into which steps are written; made, but not its folder */
    bool dry_run;        /**< nothing is done: no journal is needed */
    /** How files are read again, and when they are duplicates, before one goes that has other bytes
     * than the file it goes for; borrowed for the call; NULL: the defaults. */
    const struct doppel_read_options *read;
    const struct doppel_compare_options *compare;
};

/** A dry run of hard links for identical files. Thread-safe. */
DOPPEL_API struct doppel_act_policy doppel_act_policy_default(void);

/** What is to be done; not for two threads at a time. */
struct doppel_plan;

/**
 * An empty plan.
 * @param policy copied, with its strings; NULL: the default
 * @param out    given (doppel_plan_free)
 * @return DOPPEL_OK; DOPPEL_E_ARGUMENT when the action's folder, or the journal, is missing;
 *         DOPPEL_E_MEMORY
 */
DOPPEL_API enum doppel_status doppel_plan_new(const struct doppel_act_policy *policy,
                                              struct doppel_plan **out, struct doppel_error *error);
DOPPEL_API void doppel_plan_free(struct doppel_plan *plan);

/**
 * Add a group of files. It is a doppel_group_visitor, with the plan as its context.
 * @param plan  a struct doppel_plan
 * @param group copied
 * @return DOPPEL_OK; DOPPEL_E_MEMORY: the plan is to be freed
 */
DOPPEL_API enum doppel_status doppel_plan_add(void *plan, const struct doppel_group *group,
                                              struct doppel_error *error);

/** A member of a group, and what is to become of it. */
struct doppel_plan_file {
    uint64_t group; /**< the number of its group */
    const char *path;
    struct doppel_file_stamp stamp; /**< as it was when it was read */
    enum doppel_reason reason;
    enum doppel_file_mark mark;
    double similarity;    /**< to the one to keep, as it was found; 0: it is not known */
    bool reference;       /**< only compared against: it stays */
    size_t keep;          /**< number of the one to keep of its group; its own: it is that */
    size_t duplicate_of;  /**< number of the file for which it goes; its own: it stays */
    size_t first_name;    /**< number of the file of which it is another name, after the members of
                             its group; its own: it is none */
    bool is_sidecar;      /**< it is no member, but lies beside an image and goes with it: XMP and
                             the like, the video of a live photo */
    size_t sidecar_of;    /**< number of that image */
    uint64_t freed_bytes; /**< when it goes with all its names that are known; of another name 0 */
    bool identical;       /**< to that: they are compared byte by byte first */
    bool refused;         /**< it was to be acted on, but `left` says why it cannot be */
    const char *left;     /**< why it is left alone; NULL: it is not. Static storage */
};

/** How many files it has, with those to keep. */
DOPPEL_API size_t doppel_plan_count(const struct doppel_plan *plan);
/** The groups in turn, of each the one to keep first, and other names of files and sidecars last.
 * @return borrowed from the plan until it is added to or freed; NULL: it has not so many */
DOPPEL_API const struct doppel_plan_file *doppel_plan_get(const struct doppel_plan *plan,
                                                          size_t number);

/** What became of a file. */
enum doppel_act_result {
    DOPPEL_ACT_DONE,    /**< it was done, or undone */
    DOPPEL_ACT_WOULD,   /**< it would be, were this no dry run */
    DOPPEL_ACT_LEFT,    /**< there was nothing to do: `reason` says why */
    DOPPEL_ACT_REFUSED, /**< it could not be done: `reason` says why. The run's on_failed is
                           reported */
};

/** A file that was acted on, or brought back; strings are borrowed for the visit. */
struct doppel_act_step {
    enum doppel_act_result result;
    enum doppel_action action;
    uint64_t run;         /**< its number in the journal; 0: it has none */
    uint64_t group;       /**< undo: 0 */
    const char *path;     /**< as in the group; undo: absolute */
    const char *keep;     /**< the file that is there for it */
    const char *target;   /**< what it was moved to, or is a link to; undo: of what was moved, where
                             it was; NULL: nothing, or not known before it is done */
    uint64_t size_bytes;  /**< when it was read */
    uint64_t freed_bytes; /**< of what was done, or would be: its size, or 0 of a name that is not
                             the last of its file */
    const char *reason;   /**< a sentence; NULL: of what was done, or would be */
};

/** Who is notified of the files, in order, each once it is done. */
struct doppel_act_visitor {
    void (*visit)(void *context, const struct doppel_act_step *step);
    void *context;
};

/** What a call came to; filled also when it fails, with what was done until then. */
struct doppel_act_summary {
    bool begun;     /**< the journal could be opened, where one is needed */
    uint64_t run;   /**< its number, for doppel_undo; 0: no step was taken */
    uint64_t steps; /**< written into the journal; undo: that were looked at */
    uint64_t files; /**< done; in a dry run, that would be */
    uint64_t left;  /**< files that were left alone, or refused */
    uint64_t bytes; /**< of the files done: of one with several names once the last of them went,
                       and 0 when there are others */
};

/**
 * Act on the files of a plan, one after the other; what cannot be acted on is left as it was.
 *
 * A run that is cancelled ends after the step in hand. Other processes cannot act with the same
 * journal meanwhile; files are locked (flock) while they are acted on.
 *
 * @param visitor     borrowed; NULL: nobody is notified
 * @param out_summary filled always
 * @return DOPPEL_OK, also when some could not be acted on; DOPPEL_E_CANCELLED; DOPPEL_E_IO when the
 *         journal cannot be written, or another process acts; DOPPEL_E_FORMAT when it is something
 *         else; DOPPEL_E_MEMORY
 */
DOPPEL_API enum doppel_status doppel_plan_run(struct doppel_run *run,
                                              const struct doppel_plan *plan,
                                              const struct doppel_act_visitor *visitor,
                                              struct doppel_act_summary *out_summary,
                                              struct doppel_error *error);

/** Which run of a journal is undone. */
struct doppel_undo_options {
    const char *journal;
    uint64_t number; /**< of the run; 0: the last that did anything */
    bool dry_run;    /**< only look what would be done */
};

/**
 * Take back a run: what was moved comes back, what became a link becomes a file of its own, with
 * its bytes, mode, times and, as far as can be, owner; names of one file become names of one file.
 * What is done is written into the journal: it is not done twice, and can be done again after it
 * was cut short.
 *
 * @param out_summary filled always; run 0: nothing was done yet
 * @return as doppel_plan_run; DOPPEL_E_NOT_FOUND: there is no such run; DOPPEL_E_ARGUMENT: no
 *         journal is named
 */
DOPPEL_API enum doppel_status doppel_undo(struct doppel_run *run,
                                          const struct doppel_undo_options *options,
                                          const struct doppel_act_visitor *visitor,
                                          struct doppel_act_summary *out_summary,
                                          struct doppel_error *error);

/** A run, as its journal has it. */
struct doppel_act_run {
    uint64_t number; /**< from 1 */
    int64_t time_s;  /**< since 1970 */
    enum doppel_action action;
    uint64_t files, bytes; /**< done, or undone since; bytes as in struct doppel_act_summary */
    uint64_t undone;       /**< of them */
    uint64_t unfinished;   /**< steps of which is not known what became: it was cut short */
};

typedef void doppel_act_run_visitor(void *context, const struct doppel_act_run *run);

/**
 * Visit the runs of a journal, the first one first. One that is not there has none.
 * @return DOPPEL_OK; DOPPEL_E_IO; DOPPEL_E_FORMAT; DOPPEL_E_MEMORY; DOPPEL_E_ARGUMENT: none is
 * named
 */
DOPPEL_API enum doppel_status doppel_act_runs(struct doppel_run *run, const char *journal,
                                              doppel_act_run_visitor *visit, void *context,
                                              struct doppel_error *error);

#ifdef __cplusplus
}
#endif
#endif
