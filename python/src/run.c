/* Runs of the engine: calls without the GIL, Ctrl-C, and what callbacks are told. */
#include "binding.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { LOOK_MS = 20, SHOW_MS = 50 };

static const char run_capsule[] = "doppel.run";

/* Whether `ms` have passed since the last time, which is now then. */
static bool is_due(_Atomic int64_t *last, int64_t ms)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    int64_t now_ms = (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
    if (now_ms - atomic_load(last) < ms)
        return false;
    atomic_store(last, now_ms);
    return true;
}

/* The exception that is set ends the calls of the run, and is raised by the first that ends in the
 * thread. With the GIL. */
static void keep_failure(struct binding_run *run, unsigned long thread)
{
    PyObject *raised[3];
    PyErr_Fetch(&raised[0], &raised[1], &raised[2]);
    if (!run->failure[0]) {
        memcpy(run->failure, raised, sizeof raised);
        run->failed_in = thread;
    } else {
        for (int i = 0; i < 3; i++)
            Py_XDECREF(raised[i]);
    }
    atomic_store(&run->stopped, true);
}

static bool run_is_stopped(void *context)
{
    struct binding_run *run = context;
    if (atomic_load(&run->stopped))
        return true;
    unsigned long thread = PyThread_get_thread_ident();
    if (thread != run->main_thread || !is_due(&run->looked_ms, LOOK_MS))
        return false;
    PyGILState_STATE state = PyGILState_Ensure();
    if (PyErr_CheckSignals() < 0)
        keep_failure(run, thread);
    PyGILState_Release(state);
    return atomic_load(&run->stopped);
}

bool binding_tell(struct binding_run *run, PyObject *callable, PyObject *(*make)(const void *what),
                  const void *what)
{
    if (atomic_load(&run->stopped))
        return false;
    PyGILState_STATE state = PyGILState_Ensure();
    PyObject *arguments = make(what);
    PyObject *result = arguments ? PyObject_CallObject(callable, arguments) : NULL;
    if (!result)
        keep_failure(run, 0);
    Py_XDECREF(arguments);
    Py_XDECREF(result);
    PyGILState_Release(state);
    return result != NULL;
}

/* ---- what happens ---- */

struct told_failure {
    const char *path;
    const struct doppel_error *reason;
};

static PyObject *make_failure_arguments(const void *what)
{
    const struct told_failure *told = what;
    const char *message = told->reason->message;
    PyObject *text = PyUnicode_DecodeUTF8(message, (Py_ssize_t)strlen(message), "replace");
    return text ? Py_BuildValue("(sysN)", "failed", told->path ? told->path : "",
                                doppel_status_name(told->reason->status), text)
                : NULL;
}

static void tell_failed_input(void *context, const char *path, const struct doppel_error *reason)
{
    struct binding_run *run = context;
    (void)binding_tell(run, run->notify, make_failure_arguments,
                       &(struct told_failure){path, reason});
}

struct told_notice {
    const char *path, *text;
};

static PyObject *make_notice_arguments(const void *what)
{
    const struct told_notice *told = what;
    PyObject *text = PyUnicode_DecodeUTF8(told->text, (Py_ssize_t)strlen(told->text), "replace");
    return text ? Py_BuildValue("(syNO)", "notice", told->path ? told->path : "", text, Py_None)
                : NULL;
}

static void tell_notice(void *context, enum doppel_notice level, const char *path, const char *text)
{
    struct binding_run *run = context;
    if (level == DOPPEL_NOTICE)
        (void)binding_tell(run, run->notify, make_notice_arguments,
                           &(struct told_notice){path, text});
}

static PyObject *make_progress_arguments(const void *what)
{
    const struct doppel_run_progress *progress = what;
    return Py_BuildValue("(ssKK)", "progress", progress->unit ? progress->unit : "",
                         (unsigned long long)progress->done, (unsigned long long)progress->total);
}

static void tell_progress(void *context, const struct doppel_run_progress *progress)
{
    struct binding_run *run = context;
    if (progress->begins || progress->ends || is_due(&run->shown_ms, SHOW_MS))
        (void)binding_tell(run, run->notify, make_progress_arguments, progress);
}

/* ---- life ---- */

/* Of another process its workers are left alone. */
static void free_run(PyObject *capsule)
{
    struct binding_run *run = PyCapsule_GetPointer(capsule, run_capsule);
    if (run->process == getpid())
        doppel_run_free(run->run);
    for (int i = 0; i < 3; i++)
        Py_XDECREF(run->failure[i]);
    Py_XDECREF(run->notify);
    free(run);
}

/* Names of the callbacks are for those who are told; without, nothing need be counted. */
static void set_callbacks(struct binding_run *run, bool progress,
                          struct doppel_run_options *options)
{
    options->context = run;
    options->cancelled = run_is_stopped;
    options->on_failed = run->notify ? tell_failed_input : NULL;
    options->on_notice = run->notify ? tell_notice : NULL;
    options->on_progress = run->notify && progress ? tell_progress : NULL;
}

static PyObject *wrap_run(const struct doppel_run_options *options, struct binding_run *run)
{
    struct doppel_error error;
    PyObject *capsule = NULL;
    if (doppel_run_new(options, &run->run, &error))
        binding_raise(&error, NULL);
    else
        capsule = PyCapsule_New(run, run_capsule, free_run);
    if (!capsule) {
        doppel_run_free(run->run);
        Py_XDECREF(run->notify);
        free(run);
    }
    return capsule;
}

PyObject *binding_run_new(PyObject *module, PyObject *args, PyObject *keywords)
{
    (void)module;
    static char *names[] = {"worker",     "cache",     "temporary",  "jobs",        "timeout_ms",
                            "max_memory", "max_bytes", "max_pixels", "max_ms",      "retry",
                            "sandbox",    "notify",    "progress",   "main_thread", NULL};
    struct doppel_run_options options = doppel_run_options_default();
    PyObject *worker, *cache, *temporary, *notify;
    unsigned long long max_memory, max_bytes, max_pixels;
    int retry, sandbox, progress;
    unsigned long main_thread;
    if (!binding_parse_keywords(args, keywords, "$OOOIIKKKIpiOpk", names, &worker, &cache,
                                &temporary, &options.jobs, &options.limits.timeout_ms, &max_memory,
                                &max_bytes, &max_pixels, &options.limits.max_ms, &retry, &sandbox,
                                &notify, &progress, &main_thread))
        return NULL;
    if (!binding_optional_path(worker, &options.worker) ||
        !binding_optional_path(cache, &options.cache) ||
        !binding_optional_path(temporary, &options.temporary))
        return NULL;
    struct binding_run *run = calloc(1, sizeof *run);
    if (!run)
        return PyErr_NoMemory();
    options.limits.max_memory = max_memory;
    options.limits.max_bytes = max_bytes;
    options.limits.max_pixels = max_pixels;
    options.retry = retry;
    options.sandbox = (enum doppel_sandbox)sandbox;
    run->process = getpid();
    run->main_thread = main_thread;
    if (notify != Py_None) {
        Py_INCREF(notify);
        run->notify = notify;
    }
    set_callbacks(run, progress, &options);
    return wrap_run(&options, run);
}

PyObject *binding_run_cancel(PyObject *module, PyObject *capsule)
{
    (void)module;
    struct binding_run *run = PyCapsule_GetPointer(capsule, run_capsule);
    if (!run)
        return NULL;
    if (run->active)
        atomic_store(&run->stopped, true);
    Py_RETURN_NONE;
}

/* ---- calls ---- */

bool binding_begin(PyObject *capsule, struct binding_call *call)
{
    struct binding_run *run = PyCapsule_GetPointer(capsule, run_capsule);
    if (!run)
        return false;
    if (run->process != getpid())
        return binding_fail(DOPPEL_E_ARGUMENT, "was made before this process was forked: its "
                                               "workers are those of the other process");
    if (!run->active)
        atomic_store(&run->stopped, false);
    run->active++;
    *call = (struct binding_call){.owner = run, .run = run->run};
    call->thread = PyEval_SaveThread();
    return true;
}

bool binding_end(struct binding_call *call, enum doppel_status status, const char *path)
{
    struct binding_run *run = call->owner;
    PyEval_RestoreThread(call->thread);
    run->active--;
    bool mine = run->failure[0] &&
                (!run->failed_in || run->failed_in == PyThread_get_thread_ident() || !run->active);
    if (mine) {
        PyErr_Restore(run->failure[0], run->failure[1], run->failure[2]);
        memset(run->failure, 0, sizeof run->failure);
        return false;
    }
    if (!status)
        return true;
    call->error.status = status;
    binding_raise(&call->error, path);
    return false;
}
