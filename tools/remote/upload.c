/* Files are sent as they are, one a request, for the service to read. */
#include "tools/remote/questions.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/text/printable.h"
#include "core/try.h"
#include "intake/walk.h"
#include "tools/args/engine_options.h"
#include "tools/memory.h"

/* The question, with what the file is called. */
static void make_upload_path(const struct remote_question *question, const char *path,
                             struct doppel_json *out)
{
    const char *slash = strrchr(path, '/');
    char *name = must_have(utf8_repaired(slash ? slash + 1 : path));
    char *id = question->tells ? remote_id_of(question->settings, path) : NULL;
    doppel_json_append(out, question->path, strlen(question->path));
    doppel_json_append(out, strchr(question->path, '?') ? "&name=" : "?name=", 6);
    remote_add_word(out, name);
    if (id) {
        doppel_json_append(out, "&id=", 4);
        remote_add_word(out, id);
    }
    if (out->failed)
        no_memory();
    free(name);
    free(id);
}

/* Whether an answer is about this file alone. */
static bool is_of_file(enum doppel_status status)
{
    return status == DOPPEL_E_FORMAT || status == DOPPEL_E_LIMIT || status == DOPPEL_E_IO;
}

/* @return as remote_upload does; *out_go_on: more files are wanted */
static enum doppel_status upload_one(const struct remote_question *question,
                                     const struct walk_entry *entry, int fd, bool *out_go_on,
                                     struct doppel_error *error)
{
    struct doppel_json path = {0};
    struct doppel_client_answer answer = {0};
    char key[REMOTE_KEY];
    remote_make_key(key);
    make_upload_path(question, entry->path, &path);
    const struct doppel_client_request request = {.method = "POST",
                                                  .path = path.bytes,
                                                  .type = "application/octet-stream",
                                                  .size = (size_t)entry->stat.st_size,
                                                  .descriptor = fd,
                                                  .idempotency_key = question->writes ? key : NULL};
    enum doppel_status status = remote_send(&question->remote, &request, &answer, error);
    if (!status) {
        status = remote_take_result(question, entry->path, &answer, out_go_on, error);
    } else if (is_of_file(status)) {
        *out_go_on = question->answered(question->context, entry->path, NULL, error->message);
        status = DOPPEL_OK;
    }
    doppel_client_answer_free(&answer);
    doppel_json_free(&path);
    return status;
}

static enum doppel_status upload_entry(const struct remote_question *question, struct walk *walk,
                                       const struct walk_entry *entry, bool *out_go_on,
                                       struct doppel_error *error)
{
    int fd = -1;
    struct doppel_error why = entry->error;
    if (entry->what == WALK_FILE && entry->is_stdin)
        doppel_fail(&why, DOPPEL_E_UNSUPPORTED, "standard input is not sent: name a file");
    else if (entry->what == WALK_FILE && !entry->stat.st_size)
        doppel_fail(&why, DOPPEL_E_FORMAT, "the file is empty");
    else if (entry->what == WALK_FILE)
        why.status = walk_open(walk, entry, &fd, &why);
    else if (entry->what != WALK_ERROR)
        return DOPPEL_OK;
    if (fd < 0) {
        *out_go_on = question->answered(question->context, entry->path, NULL, why.message);
        return DOPPEL_OK;
    }
    enum doppel_status status = upload_one(question, entry, fd, out_go_on, error);
    close(fd);
    return status;
}

enum doppel_status remote_upload(const struct remote_question *question, struct doppel_error *error)
{
    struct doppel_run *run = question->report->run;
    struct doppel_walk_options options = walk_options_from(question->settings);
    struct walk *walk = NULL;
    struct walk_entry entry;
    bool go_on = true;
    enum doppel_status status;
    options.every_name = options.stdin_operand = true;
    TRY(walk_new(&options, run, &walk, error));
    while (!status && go_on && walk_next(walk, &entry)) {
        if (!entry.path)
            no_memory();
        status = doppel_run_cancelled(run) ? doppel_fail(error, DOPPEL_E_CANCELLED, "ended early")
                                           : upload_entry(question, walk, &entry, &go_on, error);
        walk_entry_free(&entry);
    }
done:
    walk_free(walk);
    return status;
}
