/* A small dedup in stages, made for fuzzing its files. */
#include "stage_images.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

enum { PATH_BYTES = 256 };

static char folder[64];

static void must(bool good)
{
    if (!good)
        abort();
}

/* ---- files ---- */

static const char *in_work(const char *name)
{
    static char path[PATH_BYTES];
    snprintf(path, sizeof path, "%s/work/%s", folder, name);
    return path;
}

static void empty(const char *path)
{
    char name[PATH_BYTES + 300];
    DIR *entries = opendir(path);
    for (struct dirent *entry; entries && (entry = readdir(entries));) {
        snprintf(name, sizeof name, "%s/%s", path, entry->d_name);
        unlink(name);
    }
    if (entries)
        closedir(entries);
    rmdir(path);
}

static void leave(void)
{
    empty(in_work(""));
    empty(folder);
}

uint8_t *staged_read(const struct staged_run *run, const char *name, size_t *out_size)
{
    enum { MOST = 1 << 20 };
    (void)run;
    FILE *file = fopen(in_work(name), "rb");
    if (!file)
        return NULL;
    uint8_t *bytes = malloc(MOST);
    must(bytes != NULL);
    *out_size = fread(bytes, 1, MOST, file);
    must(*out_size < MOST && !fclose(file));
    return bytes;
}

void staged_write(const struct staged_run *run, const char *name, const uint8_t *bytes, size_t size)
{
    (void)run;
    FILE *file = fopen(in_work(name), "wb");
    must(file && fwrite(bytes, 1, size, file) == size && !fclose(file));
}

void staged_remove(const struct staged_run *run, const char *name)
{
    (void)run;
    unlink(in_work(name));
}

/* ---- the inputs ---- */

/* Near duplicates, passages, short texts, the same ids and texts, and what cannot be read. */
static void write_record(gzFile file, unsigned number)
{
    static const char *const words[] = {"river",  "stone",    "under", "bridge", "seven",
                                        "copper", "lanterns", "swing", "where",  "boats"};
    if (number % 11 == 7) {
        must(gzputs(file, number % 2 ? "no record\n" : "{\"id\":\"x\",\"text\":\"short\"}\n") > 0);
        return;
    }
    gzprintf(file, "{\"id\":\"r%u\",\"source\":\"s%u\",\"text\":\"", number % 30, number % 3);
    const unsigned kind = number % 13, changed = number % 5 == 0 ? number % 40 : 99;
    for (unsigned i = number % 9 == 4 ? 20 : 0; i < 40; i++)
        gzprintf(file, "%s%u ", words[(i * (kind + 3) + kind) % 10], i == changed ? number : i);
    must(gzputs(file, number % 4 ? "\",\"date\":\"2024-01-02\"}\n" : "\"}\n") > 0);
}

static void write_inputs(void)
{
    char path[PATH_BYTES];
    for (unsigned half = 0; half < 2; half++) {
        snprintf(path, sizeof path, "%s/%s", folder, half ? "b.jsonl.gz" : "a.jsonl");
        gzFile file = gzopen(path, half ? "wb" : "wbT");
        must(file != NULL);
        for (unsigned i = 0; i < STAGED / 2; i++)
            write_record(file, half * STAGED / 2 + i);
        must(gzclose(file) == Z_OK);
    }
}

/* ---- the stages ---- */

enum doppel_status staged_open(const struct staged_run *run, struct doppel_stages **out,
                               struct doppel_error *error)
{
    static char first[PATH_BYTES], second[PATH_BYTES];
    static const char *paths[] = {first, second};
    (void)run;
    snprintf(first, sizeof first, "%s/a.jsonl", folder);
    snprintf(second, sizeof second, "%s/b.jsonl.gz", folder);
    struct doppel_dedup_options options = doppel_dedup_options_default();
    options.files.paths = paths;
    options.files.count = 2;
    options.threads = 1;
    options.temporary = folder;
    options.lines = DOPPEL_LINES_ALL;
    return doppel_stages_open(&options, in_work(""), out, error);
}

enum doppel_status staged_do(struct doppel_stages *stages, enum doppel_stage stage,
                             struct doppel_stage_part part, struct doppel_error *error)
{
    switch (stage) {
    case DOPPEL_STAGE_SIGN:
        return doppel_stages_sign(stages, part, NULL, error);
    case DOPPEL_STAGE_JOIN:
        return doppel_stages_join(stages, part, NULL, error);
    case DOPPEL_STAGE_COMPARE:
        return doppel_stages_compare(stages, part, NULL, error);
    default:
        return doppel_stages_decide(stages, NULL, error);
    }
}

/* Of all decisions, and how many there were. */
struct emitted {
    struct digest_stream *digest;
    uint64_t count;
};

static void digest_text(struct digest_stream *digest, const char *text)
{
    digest_stream_add(digest, text ? text : "-", text ? strlen(text) + 1 : 2);
}

static void digest_number(struct digest_stream *digest, uint64_t number)
{
    digest_stream_add(digest, &number, sizeof number);
}

static void digest_match(struct digest_stream *digest, const struct doppel_match *match)
{
    const double shares[] = {match->similarity, match->query_coverage, match->item_coverage};
    for (int i = 0; i < 3; i++)
        must(shares[i] >= 0 && shares[i] <= 1);
    digest_number(digest, match->relation);
    digest_number(digest, match->verified);
    digest_number(digest, match->distance);
    digest_stream_add(digest, shares, sizeof shares);
}

static bool digest_decision(void *context, const struct doppel_dedup_decision *decision)
{
    struct emitted *emitted = context;
    struct digest_stream *digest = emitted->digest;
    must(decision->number == emitted->count++ && decision->path);
    digest_text(digest, decision->path);
    digest_text(digest, decision->id);
    digest_text(digest, decision->source);
    digest_text(digest, decision->reason);
    digest_text(digest, decision->of);
    digest_text(digest, decision->of_path);
    digest_text(digest, decision->replaces);
    digest_number(digest, decision->line);
    digest_number(digest, decision->of_line);
    digest_number(digest, decision->decision);
    digest_number(digest, decision->unique);
    if (decision->grouped)
        digest_text(digest, decision->representative.path);
    if (decision->has_match)
        digest_match(digest, &decision->match);
    if (decision->line_text)
        digest_stream_add(digest, decision->line_text, decision->line_size);
    return true;
}

enum doppel_status staged_emit(struct doppel_stages *stages, struct doppel_digest *out,
                               struct doppel_error *error)
{
    struct emitted emitted = {.digest = digest_stream_new()};
    must(emitted.digest != NULL);
    digest_stream_begin(emitted.digest);
    const enum doppel_status status = doppel_stages_emit(stages, (struct doppel_stage_part){1, 1},
                                                         digest_decision, &emitted, error);
    *out = digest_stream_get(emitted.digest);
    digest_stream_free(emitted.digest);
    return status;
}

/* ---- all of it ---- */

static void write_output(struct doppel_stages *stages)
{
    struct doppel_stage_output *output;
    must(!doppel_stage_output_new(stages, "all", (struct doppel_stage_part){1, 1}, &output, NULL) &&
         !doppel_stage_output_write(output, "{}\n", 3, NULL) &&
         !doppel_stage_output_finish(output, NULL));
    doppel_stage_output_free(output);
}

static void keep_image(struct staged_run *run, struct stage_image *image)
{
    if (!image->stage)
        strcpy(image->name, "manifest");
    else if (image->stage == DOPPEL_STAGE_EMIT)
        strcpy(image->name, "emit-all-0001-of-0001.jsonl.xxh128");
    else
        stage_file_name_print(
            &(struct stage_file_name){doppel_stage_name(image->stage), image->part}, image->name);
    image->bytes = staged_read(run, image->name, &image->size);
    must(image->bytes != NULL);
}

static void do_all(struct staged_run *run, struct doppel_stages *stages)
{
    static const struct {
        enum doppel_stage stage;
        struct doppel_stage_part part;
    } parts[STAGED_IMAGES] = {{DOPPEL_STAGE_SIGN, {1, 2}},
                              {DOPPEL_STAGE_SIGN, {2, 2}},
                              {DOPPEL_STAGE_JOIN, {1, 2}},
                              {DOPPEL_STAGE_JOIN, {2, 2}},
                              {DOPPEL_STAGE_COMPARE, {1, 2}},
                              {DOPPEL_STAGE_COMPARE, {2, 2}},
                              {DOPPEL_STAGE_DECIDE, {1, 1}},
                              {DOPPEL_STAGE_EMIT, {1, 1}},
                              {0, {1, 1}}};
    write_output(stages);
    for (size_t i = 0; i < STAGED_IMAGES; i++) {
        struct stage_image *image = &run->images[i];
        image->stage = parts[i].stage;
        image->part = parts[i].part;
        if (image->stage && image->stage != DOPPEL_STAGE_EMIT)
            must(!staged_do(stages, image->stage, image->part, NULL));
        keep_image(run, image);
    }
}

void staged_make(struct staged_run *run)
{
    struct doppel_stages *stages;
    if (run->made)
        return;
    strcpy(folder, access("/dev/shm", W_OK) == 0 ? "/dev/shm/doppel-stages-XXXXXX"
                                                 : "/tmp/doppel-stages-XXXXXX");
    must(mkdtemp(folder) != NULL);
    atexit(leave);
    write_inputs();
    must(!staged_open(run, &stages, NULL));
    do_all(run, stages);
    must(!staged_emit(stages, &run->emitted, NULL));
    doppel_stages_free(stages);
    run->made = true;
}
