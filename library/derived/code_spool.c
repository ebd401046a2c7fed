/* Codes on their way into a segment: a temporary file, written once and read several times. */
#include "library/derived/code_spool.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/files/nameless_file.h"

struct code_spool {
    FILE *file;
    size_t words;
    uint64_t count;
    uint64_t at; /* codes read since it was rewound */
    bool unread; /* some could not be read: where the file stands is not known any more */
};

static FILE *open_temporary(const char *directory)
{
    int fd = nameless_file(directory);
    FILE *file = fd >= 0 ? fdopen(fd, "w+") : NULL;
    if (fd >= 0 && !file)
        close(fd);
    return file ? file : tmpfile();
}

static size_t words_a_code(const struct doppel_index_options *make)
{
    return make->table == DOPPEL_INDEX_BANDS ? make->lanes / 4 : (make->bits + 63) / 64;
}

struct code_spool *code_spool_new(const char *directory, const struct doppel_index_options *make)
{
    struct code_spool *spool = malloc(sizeof *spool);
    FILE *file = spool ? open_temporary(directory) : NULL;
    if (file) {
        *spool = (struct code_spool){.file = file, .words = words_a_code(make)};
        return spool;
    }
    free(spool);
    return NULL;
}

void code_spool_free(struct code_spool *spool)
{
    if (spool)
        (void)fclose(spool->file);
    free(spool);
}

bool code_spool_put(struct code_spool *spool, const struct item_codes *codes)
{
    for (size_t i = 0; i < codes->count; i++)
        if (fwrite(&codes->payloads[i], sizeof *codes->payloads, 1, spool->file) != 1 ||
            fwrite(codes->codes + i * spool->words, sizeof *codes->codes, spool->words,
                   spool->file) != spool->words)
            return false;
    spool->count += codes->count;
    return true;
}

static void rewind_spool(void *context)
{
    struct code_spool *spool = context;
    rewind(spool->file);
    spool->at = 0;
}

static bool read_spooled(struct code_spool *spool, uint64_t *code, uint64_t *payload)
{
    return fread(payload, sizeof *payload, 1, spool->file) == 1 &&
           fread(code, sizeof *code, spool->words, spool->file) == spool->words;
}

/* From a failure on there are none: whoever counts them sees that. */
static size_t read_spool(void *context, uint64_t *codes, uint64_t *payloads, size_t max)
{
    struct code_spool *spool = context;
    size_t done = 0;
    for (; done < max && spool->at < spool->count && !spool->unread; done++, spool->at++)
        if (!read_spooled(spool, codes + done * spool->words, &payloads[done])) {
            spool->unread = true;
            break;
        }
    return done;
}

bool code_spool_load(struct code_spool *spool, struct doppel_index_load *out)
{
    *out = (struct doppel_index_load){
        .count = spool->count, .read = read_spool, .rewind = rewind_spool, .context = spool};
    return fflush(spool->file) == 0;
}
