/* What the files of the extension share: exceptions, calls without the GIL, arrays.
 *
 * The functions of the module are private to the package doppel, whose classes hold what they make
 * in capsules: one is freed when nobody refers to it any more, and that is never before the calls
 * that were given it have ended. */
#ifndef DOPPEL_PYTHON_BINDING_H
#define DOPPEL_PYTHON_BINDING_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>

#include <doppel/compare.h>
#include <doppel/core.h>
#include <doppel/intake.h>
#include <doppel/json_writer.h>
#include <doppel/library.h>
#include <doppel/run.h>

/* ---- failures.c ---- */

/** Raise what a status is as an exception of the package. @param path bytes; NULL: it is about no
 * file. @return NULL */
PyObject *binding_raise(const struct doppel_error *error, const char *path);

/** The same with a sentence, as doppel_fail takes it. @return NULL */
PyObject *binding_fail(enum doppel_status status, const char *format, ...) DOPPEL_PRINTF(2, 3);

/** Raise it where an argument has another type than it should. @return NULL */
PyObject *binding_wrong_type(const char *message);

/** As PyArg_ParseTuple and PyArg_ParseTupleAndKeywords; what they raise is one of the package's.
 * @return false: an exception is set */
bool binding_parse(PyObject *args, const char *format, ...);
bool binding_parse_keywords(PyObject *args, PyObject *keywords, const char *format, char **names,
                            ...);

/** A whole number, also numpy's, up to `most`, which is below 2^63. @return false: an exception is
 * set */
bool binding_whole(PyObject *number, const char *name, uint64_t most, uint64_t *out);

/* ---- run.c ---- */

/** A run, and what its callbacks need. Counters and `failure` are guarded by the GIL. */
struct binding_run {
    struct doppel_run *run;
    PyObject *notify;          /* called with what happens; NULL: nobody is told */
    unsigned long main_thread; /* which alone sees Ctrl-C */
    pid_t process;             /* that made it: its workers are no other's */
    unsigned active;           /* calls that use it now */
    atomic_bool stopped;       /* these end soon */
    _Atomic int64_t looked_ms; /* when signals were looked for last */
    _Atomic int64_t shown_ms;  /* when progress was shown last */
    PyObject *failure[3];      /* what a callback, or a signal, raised */
    unsigned long failed_in;   /* the thread that is to see it; 0: any */
};

/** A call that uses a run, while it has not the GIL. */
struct binding_call {
    struct binding_run *owner;
    struct doppel_run *run;
    PyThreadState *thread;
    struct doppel_error error;
};

/** Begin a call: the GIL is given up. @param run a capsule. @return false: an exception is set */
bool binding_begin(PyObject *run, struct binding_call *call);

/** End it: the GIL is had again. @param path as of binding_raise, of call->error. @return false: an
 * exception is set */
bool binding_end(struct binding_call *call, enum doppel_status status, const char *path);

/** Call something, from a thread without the GIL, with the tuple that `make` makes with it. @return
 * false: it raised something, or the calls of the run are to end anyway */
bool binding_tell(struct binding_run *run, PyObject *callable, PyObject *(*make)(const void *what),
                  const void *what);

PyObject *binding_run_new(PyObject *module, PyObject *args, PyObject *keywords);
PyObject *binding_run_cancel(PyObject *module, PyObject *run);

/* ---- arrays.c ---- */

enum { BINDING_DIMENSIONS = 3 };

/** An array that lies in one piece. `data` is borrowed from the object. */
struct binding_array {
    const void *data;
    char kind;     /* 'u', 'i', 'f' or 'b' */
    unsigned item; /* bytes of an element */
    unsigned dimensions;
    size_t shape[BINDING_DIMENSIONS];
};

/** What an array of numpy, or bytes, has. @return false: an exception is set */
bool binding_array_of(PyObject *object, const char *name, struct binding_array *out);

/** Codes, `words` 64-bit words each. @param out_count how many. @return NULL: an exception is set
 */
const uint64_t *binding_codes_of(PyObject *object, size_t words, size_t *out_count);

/** 64-bit numbers. @return NULL: an exception is set */
const uint64_t *binding_ids_of(PyObject *object, size_t *out_count);

/** The bytes of an object of bytes, or NULL of None. @return false: an exception is set */
bool binding_optional_path(PyObject *object, const char **out);

/** A tuple of bytes as strings: the array is given (free), they are borrowed. @return false: an
 * exception is set */
bool binding_strings_of(PyObject *tuple, struct doppel_strings *out);

/** What was written, as bytes; its memory is freed. @return NULL: an exception is set */
PyObject *binding_json_bytes(struct doppel_json *json);

/* ---- fingerprint.c ---- */

/** A capsule of a record, which is taken, also on failure. */
PyObject *binding_record_capsule(struct doppel_record *record);
/** @return NULL: an exception is set */
const struct doppel_record *binding_record_of(PyObject *capsule);
/** The scheme of a name. @return NULL: an exception is set */
const struct doppel_scheme *binding_scheme_of(const char *name);

PyObject *binding_record_json(PyObject *module, PyObject *args);
PyObject *binding_record_codes(PyObject *module, PyObject *record);
PyObject *binding_record_distance(PyObject *module, PyObject *args);
PyObject *binding_record_dump(PyObject *module, PyObject *record);
PyObject *binding_record_load(PyObject *module, PyObject *args);
PyObject *binding_record_from_hex(PyObject *module, PyObject *args);
PyObject *binding_compare(PyObject *module, PyObject *args);

/* ---- fingerprint_read.c ---- */

PyObject *binding_read(PyObject *module, PyObject *args, PyObject *keywords);
PyObject *binding_read_text(PyObject *module, PyObject *args, PyObject *keywords);
PyObject *binding_read_plane(PyObject *module, PyObject *args);

/* ---- options.c ---- */

/** How two records are compared, from a dictionary: "kinds", "schemes" (tuples of names),
 * "max_distance", "min_similarity", "max_fp_rate", "near_misses", each of which may be missing.
 * @return false: an exception is set */
bool binding_compare_options(PyObject *options, struct doppel_compare_options *out);

/** Which files there are. Arrays of strings are freed by binding_walk_free, also on failure. */
bool binding_walk_options(PyObject *options, struct doppel_walk_options *out);
void binding_walk_free(struct doppel_walk_options *walk);

/** A flag, a number, or the bytes of a string of such a dictionary; what is not there is left as it
 * is. @return false: an exception is set */
bool binding_flag(PyObject *options, const char *name, bool *out);
bool binding_integer(PyObject *options, const char *name, uint64_t *out);
bool binding_number(PyObject *options, const char *name, double *out);
bool binding_string(PyObject *options, const char *name, const char **out);
bool binding_strings(PyObject *options, const char *name, struct doppel_strings *out);

/* ---- groups.c ---- */

PyObject *binding_scan(PyObject *module, PyObject *args);
PyObject *binding_library_groups(PyObject *module, PyObject *args);

/* ---- library.c ---- */

/** The library of a capsule, which belongs to one thread at a time. @return NULL: an exception is
 * set */
struct doppel_library *binding_library_of(PyObject *capsule);

PyObject *binding_library_open(PyObject *module, PyObject *args);
PyObject *binding_library_add(PyObject *module, PyObject *args);
PyObject *binding_library_items(PyObject *module, PyObject *args);
PyObject *binding_library_item(PyObject *module, PyObject *args);
PyObject *binding_library_resolve(PyObject *module, PyObject *args);
PyObject *binding_library_remove(PyObject *module, PyObject *args);
PyObject *binding_library_mark(PyObject *module, PyObject *args);

/* ---- library_ask.c ---- */

PyObject *binding_search_new(PyObject *module, PyObject *args);
PyObject *binding_search_record(PyObject *module, PyObject *args);
PyObject *binding_decider_new(PyObject *module, PyObject *args);
PyObject *binding_decider_decide(PyObject *module, PyObject *args);

/* ---- dedup.c ---- */

PyObject *binding_dedup(PyObject *module, PyObject *args);

/* ---- arrow.c ---- */

PyObject *binding_arrow_stream(PyObject *module, PyObject *args);
PyObject *binding_arrow_array(PyObject *module, PyObject *args);

/* ---- minhash.c ---- */

PyObject *binding_minhash(PyObject *module, PyObject *args);

/* ---- postings.c ---- */

PyObject *binding_postings_add(PyObject *module, PyObject *args);
PyObject *binding_postings_lookup(PyObject *module, PyObject *args);

/* ---- index_files.c ---- */

PyObject *binding_index_open(PyObject *module, PyObject *args);
PyObject *binding_index_save(PyObject *module, PyObject *args);

/* ---- index.c ---- */

PyObject *binding_index_new(PyObject *module, PyObject *args);
PyObject *binding_bands_choose(PyObject *module, PyObject *args);
PyObject *binding_index_add(PyObject *module, PyObject *args);
PyObject *binding_index_remove(PyObject *module, PyObject *args);
PyObject *binding_index_search(PyObject *module, PyObject *args);
PyObject *binding_index_info(PyObject *module, PyObject *index);

#endif
