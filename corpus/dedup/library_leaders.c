/* Representatives, looked up by id; those asked for last are kept. */
#include "corpus/dedup/library_leaders.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/files/read_at.h"
#include "corpus/read/reader.h"
#include "corpus/read/record_text.h"
#include "corpus/read/reread.h"
#include "core/text/text_copy.h"

enum { SLOTS = 4096 };

/* Of shingles in all slots. */
static const size_t most_bytes = (size_t)64 << 20;

struct leaders {
    struct doppel_library *library;
    const struct doppel_ingest_options *options;
    struct leader slots[SLOTS]; /* by id */
    uint16_t filled[SLOTS];     /* those that were, since all were forgotten */
    bool is_filled[SLOTS];
    size_t filled_count;
    size_t bytes, hand;

    /* to read lines again */
    struct parser *parser;
    struct doppel_text *text;
    struct file_text file;
    char *line;
    size_t line_capacity;
    char *path; /* of the open corpus */
    int fd;
};

/* ---- life ---- */

static void clear(struct leaders *leaders, struct leader *leader)
{
    leaders->bytes -= leader->shingle_count * sizeof *leader->shingles;
    free(leader->record_id);
    free(leader->source);
    free(leader->date);
    free(leader->path);
    free(leader->shingles);
    *leader = (struct leader){0};
}

enum doppel_status leaders_new(struct doppel_library *library,
                               const struct doppel_ingest_options *options, struct leaders **out,
                               struct doppel_error *error)
{
    struct leaders *leaders = calloc(1, sizeof *leaders);
    if (!leaders)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory to compare texts");
    leaders->library = library;
    leaders->options = options;
    leaders->fd = -1;
    leaders->parser = parser_new(&options->fields);
    enum doppel_status status =
        leaders->parser ? doppel_text_new(&options->text, &leaders->text, error)
                        : doppel_fail(error, DOPPEL_E_MEMORY, "no memory to compare texts");
    if (status)
        leaders_free(leaders);
    else
        *out = leaders;
    return status;
}

void leaders_free(struct leaders *leaders)
{
    if (!leaders)
        return;
    leaders_forget_all(leaders);
    parser_free(leaders->parser);
    doppel_text_free(leaders->text);
    file_text_free(&leaders->file);
    if (leaders->fd >= 0)
        close(leaders->fd);
    free(leaders->line);
    free(leaders->path);
    free(leaders);
}

struct doppel_text_evidence leader_evidence(const struct leader *leader)
{
    return (struct doppel_text_evidence){
        .content = leader->content,
        .too_short = leader->too_short,
        .lanes = leader->lanes,
        .lane_count = leader->lane_count,
        .shingles = leader->shingles,
        .shingle_count = leader->shingle_count,
        .shingles_kept = leader->shingles_kept,
    };
}

/* ---- the row ---- */

struct filling {
    struct leader *leader;
    bool failed;
};

static bool take_row(void *context, const struct doppel_library_text *text)
{
    struct filling *filling = context;
    struct leader *leader = filling->leader;
    leader->missing = text->error.status != DOPPEL_OK;
    if (leader->missing)
        return true;
    leader->record_id = copy_text(text->record_id, &filling->failed);
    leader->source = copy_text(text->origin.source, &filling->failed);
    leader->date = copy_text(text->origin.date, &filling->failed);
    leader->path = copy_text(text->path, &filling->failed);
    leader->line = text->line;
    leader->offset = text->offset;
    leader->size = text->size;
    leader->leader = text->leader;
    leader->leads = text->leads;
    leader->shingle_total = text->shingle_total;
    leader->too_short = text->too_short;
    leader->content = text->content;
    leader->lane_count = text->lane_count;
    memcpy(leader->lanes, text->lanes, text->lane_count * sizeof *text->lanes);
    return true;
}

static enum doppel_status load_row(struct leaders *leaders, uint64_t id, struct leader *leader,
                                   struct doppel_error *error)
{
    const struct doppel_text_query query = {.first = id, .last = id, .files = true};
    struct filling filling = {.leader = leader};
    clear(leaders, leader);
    leader->missing = true;
    enum doppel_status status =
        doppel_library_each_text(leaders->library, &query, take_row, &filling, error);
    if (!status && filling.failed)
        status = doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a text of the library");
    if (status) {
        clear(leaders, leader);
        return status;
    }
    leader->id = id;
    if (!leaders->is_filled[id % SLOTS])
        leaders->filled[leaders->filled_count++] = (uint16_t)(id % SLOTS);
    leaders->is_filled[id % SLOTS] = true;
    return DOPPEL_OK;
}

/* ---- shingles ---- */

static bool set_shingles(struct leaders *leaders, struct leader *leader, const uint32_t *shingles,
                         size_t count, bool kept)
{
    leader->shingles = malloc(count ? count * sizeof *shingles : 1);
    if (!leader->shingles)
        return false;
    if (count)
        memcpy(leader->shingles, shingles, count * sizeof *shingles);
    leader->shingle_count = count;
    leader->shingles_kept = kept;
    leaders->bytes += count * sizeof *shingles;
    return true;
}

static bool open_corpus(struct leaders *leaders, const char *path)
{
    if (leaders->path && strcmp(leaders->path, path) == 0)
        return leaders->fd >= 0;
    if (leaders->fd >= 0)
        close(leaders->fd);
    free(leaders->path);
    leaders->path = strdup(path);
    leaders->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    return leaders->fd >= 0;
}

/* The line as it stands there now, if it is there; a file of text is no line. */
static bool read_line(struct leaders *leaders, const struct leader *leader)
{
    struct stat status;
    if (!leader->path || !leader->line || !open_corpus(leaders, leader->path) ||
        fstat(leaders->fd, &status) || !S_ISREG(status.st_mode) ||
        (uint64_t)status.st_size < leader->size ||
        (uint64_t)status.st_size - leader->size < leader->offset)
        return false;
    if (leaders->line_capacity < leader->size + PARSE_SLACK) {
        char *grown = realloc(leaders->line, leader->size + PARSE_SLACK);
        if (!grown)
            return false;
        leaders->line = grown;
        leaders->line_capacity = leader->size + PARSE_SLACK;
    }
    if (read_at(leaders->fd, leaders->line, leader->size, leader->offset) != (ssize_t)leader->size)
        return false;
    memset(leaders->line + leader->size, 0, PARSE_SLACK);
    return true;
}

/* From the corpus, if the text is still the same. */
static bool read_again(struct leaders *leaders, struct leader *leader)
{
    struct doppel_corpus_record record;
    struct doppel_text_result result;
    const char *text;
    size_t size;
    if (!read_line(leaders, leader))
        return false;
    parser_line(leaders->parser, leaders->line, leader->size, &record);
    if (record.error.status ||
        record_text(&record, &leaders->options->fields, leader->path,
                    leaders->options->files.max_line_bytes, &leaders->file, &text, &size, NULL) ||
        doppel_text_read(leaders->text, text, size, DOPPEL_TEXT_DIGEST | DOPPEL_TEXT_SHINGLES,
                         &result, NULL))
        return false;
    return memcmp(&result.digest, &leader->content, sizeof result.digest) == 0 &&
           set_shingles(leaders, leader, result.shingles, result.shingle_count, false);
}

struct kept {
    struct leaders *leaders;
    struct leader *leader;
};

static bool take_kept(void *context, const struct doppel_library_text *text)
{
    struct kept *kept = context;
    if (!text->error.status && text->shingles)
        set_shingles(kept->leaders, kept->leader, text->shingles, text->shingle_total, true);
    return true;
}

static enum doppel_status load_shingles(struct leaders *leaders, struct leader *leader,
                                        struct doppel_error *error)
{
    leader->tried = true;
    if (read_again(leaders, leader))
        return DOPPEL_OK;
    const struct doppel_text_query query = {
        .first = leader->id, .last = leader->id, .shingles = true, .files = true};
    struct kept kept = {leaders, leader};
    return doppel_library_each_text(leaders->library, &query, take_kept, &kept, error);
}

/* Not the one that was just asked for. */
static void shrink(struct leaders *leaders, const struct leader *spared)
{
    for (size_t i = 0; i < SLOTS && leaders->bytes > most_bytes; i++) {
        leaders->hand = (leaders->hand + 1) % SLOTS;
        if (&leaders->slots[leaders->hand] != spared)
            clear(leaders, &leaders->slots[leaders->hand]);
    }
}

enum doppel_status leaders_get(struct leaders *leaders, uint64_t id, bool with_shingles,
                               const struct leader **out, struct doppel_error *error)
{
    struct leader *leader = &leaders->slots[id % SLOTS];
    enum doppel_status status = DOPPEL_OK;
    if (leader->id != id)
        status = load_row(leaders, id, leader, error);
    if (!status && with_shingles && !leader->tried && !leader->missing)
        status = load_shingles(leaders, leader, error);
    if (status)
        return status;
    shrink(leaders, leader);
    *out = leader;
    return DOPPEL_OK;
}

enum doppel_status leaders_has(struct leaders *leaders, uint64_t id, const struct leader **out,
                               struct doppel_error *error)
{
    *out = NULL;
    if (!id)
        return DOPPEL_OK;
    enum doppel_status status = leaders_get(leaders, id, false, out, error);
    if (!status && (*out)->missing)
        *out = NULL;
    return status;
}

enum doppel_status leaders_is_replaced(struct leaders *leaders, uint64_t id, bool *out,
                                       struct doppel_error *error)
{
    struct leader *leader = &leaders->slots[id % SLOTS];
    uint64_t last = id;
    enum doppel_status status = DOPPEL_OK;
    if (leader->id != id)
        status = load_row(leaders, id, leader, error);
    if (!status && !leader->named && leader->record_id)
        status = doppel_library_record_called(leaders->library, leader->record_id, &last, error);
    if (status)
        return status;
    if (!leader->named)
        leader->replaced = last != id;
    leader->named = true;
    *out = leader->replaced;
    return DOPPEL_OK;
}

void leaders_forget(struct leaders *leaders, uint64_t id)
{
    struct leader *leader = &leaders->slots[id % SLOTS];
    if (leader->id == id)
        clear(leaders, leader);
}

/* Slots that were never filled take no memory, unless they are touched. */
void leaders_forget_all(struct leaders *leaders)
{
    for (; leaders->filled_count; leaders->filled_count--) {
        const uint16_t slot = leaders->filled[leaders->filled_count - 1];
        clear(leaders, &leaders->slots[slot]);
        leaders->is_filled[slot] = false;
    }
}
