/* Whether the records of an input have texts at all. */
#include "corpus/read/field_check.h"

#include <stdlib.h>

struct field_check {
    struct parser *parser;
    bool found; /* one with a text */
    uint64_t lacking;
    struct doppel_error first; /* what the first one lacks */
};

struct field_check *field_check_new(const struct doppel_corpus_fields *fields, bool takes_paths)
{
    struct field_check *check = calloc(1, sizeof *check);
    if (!check)
        return NULL;
    check->parser = parser_new(fields);
    if (!check->parser) {
        free(check);
        return NULL;
    }
    if (takes_paths)
        parser_take_paths(check->parser);
    return check;
}

void field_check_free(struct field_check *check)
{
    if (!check)
        return;
    parser_free(check->parser);
    free(check);
}

static bool look_for_text(void *context, const struct doppel_corpus_record *record)
{
    struct field_check *check = context;
    check->found |= !record->error.status;
    if (record->lacks_text && !check->lacking++)
        check->first = record->error;
    return !check->found;
}

enum doppel_status field_check_block(struct field_check *check, const char *path,
                                     const struct line_block *block, uint64_t enough,
                                     struct doppel_error *error)
{
    if (check->found)
        return DOPPEL_OK;
    parser_block(check->parser, block, look_for_text, check);
    if (check->found || check->lacking < enough)
        return DOPPEL_OK;
    return doppel_fail(error, DOPPEL_E_ARGUMENT, "%s: no record of the first %llu has a text: %s",
                       path, (unsigned long long)check->lacking, check->first.message);
}
