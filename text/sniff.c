/* Whether bytes are HTML: the patterns of the MIME Sniffing Standard, section 7.1, behind an XML
 * declaration, too; and pages that something else stands before. */
#include "text/text_internal.h"

#include <string.h>
#include <strings.h>

/* Something before a page is a line or a few: what the standard looks at is as long. Behind it
 * there may be a comment; more is text that shows a page. */
enum { BEFORE_PAGE_BYTES = 1445, AFTER_PAGE_BYTES = 256 };

static const char *const beginnings[] = {
    "<HTML", "<HEAD",  "<SCRIPT", "<IFRAME", "<H1",   "<DIV", "<FONT", "<TABLE",
    "<A",    "<STYLE", "<TITLE",  "<B",      "<BODY", "<BR",  "<P",
};

/* Bytes that are looked at, from the front. */
struct sniffed {
    const char *text;
    size_t size;
};

static void sniff_past(struct sniffed *sniffed, size_t size)
{
    sniffed->text += size;
    sniffed->size -= size;
}

static inline bool is_sniffed_space(char c)
{
    return c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\f';
}

static bool sniff_space(struct sniffed *sniffed)
{
    size_t at = 0;
    while (at < sniffed->size && is_sniffed_space(sniffed->text[at]))
        at++;
    sniff_past(sniffed, at);
    return at;
}

/* What every tag begins with, and few lines of plain text: asked first. */
static bool sniffs_bracket(const struct sniffed *sniffed)
{
    return sniffed->size && *sniffed->text == '<';
}

static bool sniffs_word(const struct sniffed *sniffed, const char *word)
{
    size_t length = strlen(word);
    return sniffed->size > length && strncasecmp(sniffed->text, word, length) == 0;
}

static bool begins_with_tag(const struct sniffed *sniffed, const char *tag)
{
    size_t length = strlen(tag);
    return sniffs_word(sniffed, tag) &&
           (is_sniffed_space(sniffed->text[length]) || sniffed->text[length] == '>');
}

/* With one blank or many, whatever the version behind it. */
static bool begins_with_doctype(struct sniffed sniffed)
{
    static const char doctype[] = "<!DOCTYPE";
    if (!sniffs_word(&sniffed, doctype))
        return false;
    sniff_past(&sniffed, sizeof doctype - 1);
    return sniff_space(&sniffed) && begins_with_tag(&sniffed, "HTML");
}

static void sniff_declaration(struct sniffed *sniffed)
{
    static const char end[] = "?>";
    if (!sniffs_bracket(sniffed) || !begins_with_tag(sniffed, "<?XML"))
        return;
    size_t most = sniffed->size < BEFORE_PAGE_BYTES ? sniffed->size : BEFORE_PAGE_BYTES;
    const char *found = memmem(sniffed->text, most, end, sizeof end - 1);
    if (!found)
        return;
    sniff_past(sniffed, (size_t)(found - sniffed->text) + sizeof end - 1);
    sniff_space(sniffed);
}

static bool begins_like_html(const struct sniffed *sniffed)
{
    if (!sniffs_bracket(sniffed))
        return false;
    if (sniffs_word(sniffed, "<!--") || begins_with_doctype(*sniffed))
        return true;
    for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++)
        if (begins_with_tag(sniffed, beginnings[i]))
            return true;
    return false;
}

/* Nothing of length behind the end of the page, where it has one. */
static bool ends_with_page(struct sniffed page)
{
    static const char end[] = "</HTML";
    for (size_t at = page.size; at-- > 0;)
        if (page.text[at] == '<' &&
            sniffs_word(&(struct sniffed){page.text + at, page.size - at}, end))
            return page.size - at <= sizeof end + AFTER_PAGE_BYTES;
    return true;
}

/* Bytes of the first line, its end included; 0: there is no end. */
static size_t sniff_line(const struct sniffed *sniffed)
{
    const char *end = sniffed->size ? memchr(sniffed->text, '\n', sniffed->size) : NULL;
    return end ? (size_t)(end - sniffed->text) + 1 : 0;
}

/* A page that begins with a line, and with which the text ends. */
static bool has_page_behind(struct sniffed sniffed)
{
    size_t left = BEFORE_PAGE_BYTES, line;
    while ((line = sniff_line(&sniffed)) && line <= left) {
        left -= line;
        sniff_past(&sniffed, line);
        struct sniffed at = sniffed;
        sniff_space(&at);
        if (sniffs_bracket(&at) && (begins_with_doctype(at) || begins_with_tag(&at, "<HTML")))
            return ends_with_page(at);
    }
    return false;
}

bool looks_like_html(const void *bytes, size_t size)
{
    struct sniffed sniffed = {bytes, size};
    if (!size)
        return false;
    if (size >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0)
        sniff_past(&sniffed, 3);
    sniff_space(&sniffed);
    sniff_declaration(&sniffed);
    return begins_like_html(&sniffed) || has_page_behind(sniffed);
}
