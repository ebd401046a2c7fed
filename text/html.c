/* The plain text of HTML: what a page says, without what frames it. */
#include "text/page.h"
#include "text/plain.h"

#include <string.h>
#include <strings.h>

/* Elements whose content is no part of the text. */
static const GumboTag dropped[] = {
    GUMBO_TAG_HEAD,   GUMBO_TAG_SCRIPT,   GUMBO_TAG_STYLE,   GUMBO_TAG_TITLE,    GUMBO_TAG_NAV,
    GUMBO_TAG_HEADER, GUMBO_TAG_FOOTER,   GUMBO_TAG_ASIDE,   GUMBO_TAG_TEMPLATE, GUMBO_TAG_NOSCRIPT,
    GUMBO_TAG_IFRAME, GUMBO_TAG_NOFRAMES, GUMBO_TAG_NOEMBED,
};

/* Elements within a line: the words on both sides may be one. */
static const GumboTag in_line[] = {
    GUMBO_TAG_A,     GUMBO_TAG_ABBR, GUMBO_TAG_ACRONYM, GUMBO_TAG_B,      GUMBO_TAG_BASEFONT,
    GUMBO_TAG_BDI,   GUMBO_TAG_BDO,  GUMBO_TAG_BIG,     GUMBO_TAG_BLINK,  GUMBO_TAG_CITE,
    GUMBO_TAG_CODE,  GUMBO_TAG_DATA, GUMBO_TAG_DEL,     GUMBO_TAG_DFN,    GUMBO_TAG_EM,
    GUMBO_TAG_FONT,  GUMBO_TAG_I,    GUMBO_TAG_INS,     GUMBO_TAG_KBD,    GUMBO_TAG_LABEL,
    GUMBO_TAG_MARK,  GUMBO_TAG_NOBR, GUMBO_TAG_Q,       GUMBO_TAG_S,      GUMBO_TAG_SAMP,
    GUMBO_TAG_SMALL, GUMBO_TAG_SPAN, GUMBO_TAG_STRIKE,  GUMBO_TAG_STRONG, GUMBO_TAG_SUB,
    GUMBO_TAG_SUP,   GUMBO_TAG_TIME, GUMBO_TAG_TT,      GUMBO_TAG_U,      GUMBO_TAG_VAR,
    GUMBO_TAG_WBR,   GUMBO_TAG_IMG,  GUMBO_TAG_UNKNOWN,
};

/* Elements that begin a line but no paragraph. */
static const GumboTag lines[] = {
    GUMBO_TAG_BR,     GUMBO_TAG_LI,    GUMBO_TAG_DT,      GUMBO_TAG_DD,
    GUMBO_TAG_TR,     GUMBO_TAG_TD,    GUMBO_TAG_TH,      GUMBO_TAG_OPTION,
    GUMBO_TAG_BUTTON, GUMBO_TAG_INPUT, GUMBO_TAG_CAPTION,
};

static bool is_among(GumboTag tag, const GumboTag *tags, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (tags[i] == tag)
            return true;
    return false;
}

#define IS_AMONG(tag, tags) is_among(tag, tags, sizeof tags / sizeof *tags)

static enum gap gap_of(GumboTag tag)
{
    if (IS_AMONG(tag, in_line))
        return GAP_NONE;
    return IS_AMONG(tag, lines) ? GAP_LINE : GAP_PARAGRAPH;
}

static const GumboVector *children_of(const GumboNode *node)
{
    if (node->type == GUMBO_NODE_DOCUMENT)
        return &node->v.document.children;
    return node->type == GUMBO_NODE_ELEMENT ? &node->v.element.children : NULL;
}

/* A walk over the tree. It may be deep: no recursion. */
struct walk {
    struct plain_writer writer;
    unsigned preformatted; /* PRE and the like that the node is in */
};

static bool keeps_space(const GumboNode *node)
{
    return node->type == GUMBO_NODE_ELEMENT &&
           (node->v.element.tag == GUMBO_TAG_PRE || node->v.element.tag == GUMBO_TAG_LISTING ||
            node->v.element.tag == GUMBO_TAG_TEXTAREA ||
            node->v.element.tag == GUMBO_TAG_PLAINTEXT);
}

/* @return whether to go into its children */
static bool enter(struct walk *walk, const GumboNode *node)
{
    if (node->type == GUMBO_NODE_TEXT || node->type == GUMBO_NODE_CDATA ||
        node->type == GUMBO_NODE_WHITESPACE) {
        const char *text = node->v.text.text;
        if (walk->preformatted)
            plain_verbatim(&walk->writer, text, strlen(text));
        else
            plain_flow(&walk->writer, text, strlen(text));
        return false;
    }
    if (node->type != GUMBO_NODE_ELEMENT || IS_AMONG(node->v.element.tag, dropped))
        return node->type == GUMBO_NODE_DOCUMENT;
    plain_gap(&walk->writer, gap_of(node->v.element.tag));
    walk->preformatted += keeps_space(node);
    return true;
}

static void leave(struct walk *walk, const GumboNode *node)
{
    if (node->type != GUMBO_NODE_ELEMENT)
        return;
    plain_gap(&walk->writer, gap_of(node->v.element.tag));
    walk->preformatted -= keeps_space(node);
}

/* The node after `node` and all that is in it; leaves what ends before. */
static const GumboNode *next_outside(struct walk *walk, const GumboNode *node)
{
    for (; node->parent; node = node->parent) {
        const GumboVector *siblings = children_of(node->parent);
        if (node->index_within_parent + 1 < siblings->length)
            return siblings->data[node->index_within_parent + 1];
        leave(walk, node->parent);
    }
    return NULL;
}

enum doppel_status html_to_text(const void *bytes, size_t size, struct plain_text *out,
                                struct doppel_error *error)
{
    struct page *page;
    enum doppel_status status = page_parse(bytes, size, &page, error);
    if (status)
        return status;
    struct walk walk = {.writer.out = out};
    for (const GumboNode *node = page_root(page); node;) {
        bool inside = enter(&walk, node);
        const GumboVector *children = children_of(node);
        if (inside && children->length) {
            node = children->data[0];
            continue;
        }
        if (inside)
            leave(&walk, node);
        node = next_outside(&walk, node);
    }
    page_free(page);
    return plain_end(&walk.writer, error);
}
