/* Paths of records. */
#include "corpus/read/record_path.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/files/absolute_path.h"

/* Of a file that a record of this corpus names. */
static bool is_allowed(const char *real, const struct doppel_corpus_fields *fields,
                       const char *corpus_path, const char *corpus_folder)
{
    struct stat status;
    const bool is_file =
        strcmp(corpus_path, "-") != 0 && stat(corpus_path, &status) == 0 && S_ISREG(status.st_mode);
    bool allowed =
        !fields->folder_count && lies_below(real, is_file && *corpus_folder ? corpus_folder : ".");
    for (size_t i = 0; i < fields->folder_count && !allowed; i++)
        allowed = lies_below(real, fields->folders[i]);
    return allowed;
}

enum doppel_status record_path(const struct doppel_corpus_record *record,
                               const struct doppel_corpus_fields *fields, const char *corpus_path,
                               char out[PATH_MAX], struct doppel_error *error)
{
    char real[PATH_MAX], folder[PATH_MAX];
    const char *slash = strrchr(corpus_path, '/');
    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash + 1 - corpus_path) : 0,
             corpus_path);
    const int size =
        snprintf(out, PATH_MAX, "%s%s", record->path[0] == '/' ? "" : folder, record->path);
    if (size >= PATH_MAX)
        return doppel_fail(error, DOPPEL_E_LIMIT, "names a file by a path of %d bytes", size);
    if (record->bare_path)
        return DOPPEL_OK;
    if (!realpath(out, real)) /* whatever it is, it must not be opened: nobody knows where it is */
        return errno == ENOENT || errno == ENOTDIR
                   ? DOPPEL_OK
                   : doppel_fail(error, DOPPEL_E_IO, "%s cannot be opened: %s", record->path,
                                 strerror(errno));
    if (is_allowed(real, fields, corpus_path, folder))
        return DOPPEL_OK;
    return doppel_fail(error, DOPPEL_E_ARGUMENT,
                       "names %s, which is in no folder whose files records may name "
                       "(--allow-paths)",
                       out);
}
