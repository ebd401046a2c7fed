/* The plain text of Markdown (CommonMark with GitHub's tables), by md4c. Bare addresses are text as
 * they stand: md4c takes quadratic time to tell them. */
#include "text/plain.h"

#include <md4c.h>
#include <stdlib.h>
#include <string.h>

/* md4c looks a byte beyond the end of what it is given in places, and goes astray by what it finds
 * there (0.4.8, a ')' behind an open link): it is given a copy with this behind it. */
enum { ZEROS_BEHIND = 16 };

struct markdown_reader {
    struct plain_writer writer;
    unsigned code_blocks; /* that the text is in */
};

static enum gap markdown_gap(MD_BLOCKTYPE type)
{
    switch (type) {
    case MD_BLOCK_LI:
    case MD_BLOCK_TR:
    case MD_BLOCK_TH:
    case MD_BLOCK_TD:
        return GAP_LINE;
    default:
        return GAP_PARAGRAPH;
    }
}

static int enter_block(MD_BLOCKTYPE type, void *detail, void *context)
{
    struct markdown_reader *reader = context;
    (void)detail;
    reader->code_blocks += type == MD_BLOCK_CODE;
    plain_gap(&reader->writer, markdown_gap(type));
    return reader->writer.failed;
}

static int leave_block(MD_BLOCKTYPE type, void *detail, void *context)
{
    struct markdown_reader *reader = context;
    (void)detail;
    reader->code_blocks -= type == MD_BLOCK_CODE;
    plain_gap(&reader->writer, markdown_gap(type));
    return reader->writer.failed;
}

static int pass_span(MD_SPANTYPE type, void *detail, void *context)
{
    (void)type;
    (void)detail;
    (void)context;
    return 0;
}

/* Few are common; HTML's reader knows all. */
static void write_entity(struct plain_writer *writer, const char *name, size_t size)
{
    static const char *const common[][2] = {
        {"&amp;", "&"}, {"&lt;", "<"}, {"&gt;", ">"}, {"&quot;", "\""}, {"&nbsp;", "\xc2\xa0"},
    };
    for (size_t i = 0; i < sizeof common / sizeof *common; i++)
        if (size == strlen(common[i][0]) && memcmp(name, common[i][0], size) == 0) {
            plain_verbatim(writer, common[i][1], strlen(common[i][1]));
            return;
        }
    struct plain_text text = {0};
    if (html_to_text(name, size, &text, NULL) == DOPPEL_OK && text.size)
        plain_verbatim(writer, text.bytes, text.size);
    else
        plain_gap(writer, GAP_SPACE);
    free(text.bytes);
}

static int add_markdown_text(MD_TEXTTYPE type, const MD_CHAR *text, MD_SIZE size, void *context)
{
    struct markdown_reader *reader = context;
    struct plain_writer *writer = &reader->writer;
    if (type == MD_TEXT_NULLCHAR)
        plain_verbatim(writer, "\xef\xbf\xbd", 3);
    else if (type == MD_TEXT_BR)
        plain_gap(writer, GAP_LINE);
    else if (type == MD_TEXT_SOFTBR)
        plain_gap(writer, GAP_SPACE);
    else if (type == MD_TEXT_ENTITY)
        write_entity(writer, text, size);
    else if (type == MD_TEXT_CODE && reader->code_blocks)
        plain_verbatim(writer, text, size);
    else if (type != MD_TEXT_HTML)
        plain_flow(writer, text, size);
    return writer->failed;
}

enum doppel_status markdown_to_text(const void *bytes, size_t size, struct plain_text *out,
                                    struct doppel_error *error)
{
    static const MD_PARSER parser = {
        .flags = MD_FLAG_TABLES | MD_FLAG_STRIKETHROUGH | MD_FLAG_TASKLISTS,
        .enter_block = enter_block,
        .leave_block = leave_block,
        .enter_span = pass_span,
        .leave_span = pass_span,
        .text = add_markdown_text,
    };
    struct markdown_reader reader = {.writer.out = out};
    if (size > UINT32_MAX / 2)
        return doppel_fail(error, DOPPEL_E_LIMIT, "Markdown of %zu bytes; 2 GB can be read", size);
    char *copy = calloc(1, size + ZEROS_BEHIND);
    if (copy && size)
        memcpy(copy, bytes, size);
    bool parsed = copy && !md_parse(copy, (MD_SIZE)size, &parser, &reader);
    free(copy);
    if (!parsed && !reader.writer.failed)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory to read Markdown of %zu bytes", size);
    return plain_end(&reader.writer, error);
}
