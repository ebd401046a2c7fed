/* Fuzz target: files of vectors, of any format, and of ids. The first byte says whether the file is
 * called .fvecs, and whether there are ids, behind a 0x1e. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <doppel/embed_vectors.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char folder[64];
static struct doppel_run *run;

static const char *vectors_path(const char *name)
{
    static char paths[2][128];
    static unsigned next;
    char *path = paths[next++ % 2];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

static void leave_folder(void)
{
    static const char *const names[] = {"x", "x.fvecs", "ids"};
    for (int i = 0; i < 3; i++)
        unlink(vectors_path(names[i]));
    rmdir(folder);
    doppel_run_free(run);
}

/* In memory where there is such a file system. */
static void make_folder(void)
{
    struct doppel_run_options options = doppel_run_options_default();
    strcpy(folder, access("/dev/shm", W_OK) == 0 ? "/dev/shm/doppel-vectors-XXXXXX"
                                                 : "/tmp/doppel-vectors-XXXXXX");
    options.temporary = folder;
    if (!mkdtemp(folder) || doppel_run_new(&options, &run, NULL))
        abort();
    atexit(leave_folder);
}

static void put_bytes(const char *path, const uint8_t *data, size_t size)
{
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(data, 1, size, file) != size || fclose(file) != 0)
        abort();
}

/* What was taken is all there, and finite. */
static void look_at_vectors(const struct doppel_vector_file *file)
{
    const struct doppel_vectors *vectors = doppel_vector_file_vectors(file);
    size_t letters = 0;
    if (!vectors->count || !vectors->dimension || vectors->dimension > DOPPEL_VECTOR_DIMENSION_MAX)
        abort();
    for (size_t i = 0; i < vectors->count; i++) {
        const char *id = doppel_vector_file_id(file, i);
        letters += id ? strlen(id) : 0;
        for (size_t d = 0; d < vectors->dimension; d++)
            if (!isfinite(vectors->rows[i * vectors->dimension + d]))
                abort();
    }
    if (letters > 1 << 24)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!size)
        return 0;
    if (!run)
        make_folder();
    const bool called = data[0] & 1;
    const uint8_t *end = data[0] & 2 ? memchr(data + 1, 0x1e, size - 1) : NULL;
    struct doppel_vector_file_options options = {.path = vectors_path(called ? "x.fvecs" : "x")};
    if (end) {
        options.ids = vectors_path("ids");
        put_bytes(options.ids, end + 1, (size_t)(data + size - end - 1));
    }
    put_bytes(options.path, data + 1, end ? (size_t)(end - data - 1) : size - 1);
    struct doppel_vector_file *file;
    struct doppel_error error = {0};
    if (!doppel_vector_file_open(&options, run, &file, &error)) {
        look_at_vectors(file);
        doppel_vector_file_close(file);
    } else if (!error.message[0]) {
        abort();
    }
    return 0;
}
