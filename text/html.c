/* The plain text of HTML: what a page says, without what frames it. */
#include "text/page.h"
#include "text/plain.h"

#include <string.h>

/* What an element is to the text. Those not named here stand between empty lines. */
enum kind {
    PARAGRAPH,
    LINE,    /* begins a line, but no paragraph */
    IN_LINE, /* the words on both sides may be one */
    DROPPED  /* what it holds is no part of the text */
};

// clang-format off
static const uint8_t kinds[GUMBO_TAG_LAST + 1] = {
    [GUMBO_TAG_HEAD] = DROPPED, [GUMBO_TAG_SCRIPT] = DROPPED, [GUMBO_TAG_STYLE] = DROPPED,
    [GUMBO_TAG_TITLE] = DROPPED, [GUMBO_TAG_NAV] = DROPPED, [GUMBO_TAG_HEADER] = DROPPED,
    [GUMBO_TAG_FOOTER] = DROPPED, [GUMBO_TAG_ASIDE] = DROPPED, [GUMBO_TAG_TEMPLATE] = DROPPED,
    [GUMBO_TAG_NOSCRIPT] = DROPPED, [GUMBO_TAG_IFRAME] = DROPPED, [GUMBO_TAG_NOFRAMES] = DROPPED,
    [GUMBO_TAG_NOEMBED] = DROPPED,
    [GUMBO_TAG_A] = IN_LINE, [GUMBO_TAG_ABBR] = IN_LINE, [GUMBO_TAG_ACRONYM] = IN_LINE,
    [GUMBO_TAG_B] = IN_LINE, [GUMBO_TAG_BASEFONT] = IN_LINE, [GUMBO_TAG_BDI] = IN_LINE,
    [GUMBO_TAG_BDO] = IN_LINE, [GUMBO_TAG_BIG] = IN_LINE, [GUMBO_TAG_BLINK] = IN_LINE,
    [GUMBO_TAG_CITE] = IN_LINE, [GUMBO_TAG_CODE] = IN_LINE, [GUMBO_TAG_DATA] = IN_LINE,
    [GUMBO_TAG_DEL] = IN_LINE, [GUMBO_TAG_DFN] = IN_LINE, [GUMBO_TAG_EM] = IN_LINE,
    [GUMBO_TAG_FONT] = IN_LINE, [GUMBO_TAG_I] = IN_LINE, [GUMBO_TAG_INS] = IN_LINE,
    [GUMBO_TAG_KBD] = IN_LINE, [GUMBO_TAG_LABEL] = IN_LINE, [GUMBO_TAG_MARK] = IN_LINE,
    [GUMBO_TAG_NOBR] = IN_LINE, [GUMBO_TAG_Q] = IN_LINE, [GUMBO_TAG_S] = IN_LINE,
    [GUMBO_TAG_SAMP] = IN_LINE, [GUMBO_TAG_SMALL] = IN_LINE, [GUMBO_TAG_SPAN] = IN_LINE,
    [GUMBO_TAG_STRIKE] = IN_LINE, [GUMBO_TAG_STRONG] = IN_LINE, [GUMBO_TAG_SUB] = IN_LINE,
    [GUMBO_TAG_SUP] = IN_LINE, [GUMBO_TAG_TIME] = IN_LINE, [GUMBO_TAG_TT] = IN_LINE,
    [GUMBO_TAG_U] = IN_LINE, [GUMBO_TAG_VAR] = IN_LINE, [GUMBO_TAG_WBR] = IN_LINE,
    [GUMBO_TAG_IMG] = IN_LINE, [GUMBO_TAG_UNKNOWN] = IN_LINE,
    [GUMBO_TAG_BR] = LINE, [GUMBO_TAG_LI] = LINE, [GUMBO_TAG_DT] = LINE, [GUMBO_TAG_DD] = LINE,
    [GUMBO_TAG_TR] = LINE, [GUMBO_TAG_TD] = LINE, [GUMBO_TAG_TH] = LINE, [GUMBO_TAG_OPTION] = LINE,
    [GUMBO_TAG_BUTTON] = LINE, [GUMBO_TAG_INPUT] = LINE, [GUMBO_TAG_CAPTION] = LINE,
};
// clang-format on

static enum kind html_tag_kind(const GumboNode *node)
{
    return kinds[node->v.element.tag];
}

static enum gap html_gap(const GumboNode *node)
{
    static const enum gap gaps[] = {GAP_PARAGRAPH, GAP_LINE, GAP_NONE, GAP_NONE};
    return gaps[html_tag_kind(node)];
}

/* Of the document or an element. */
static const GumboVector *children_of(const GumboNode *node)
{
    return node->type == GUMBO_NODE_DOCUMENT ? &node->v.document.children
                                             : &node->v.element.children;
}

/* A walk over the tree. It may be deep: no recursion. */
struct html_walk {
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
static bool enter_walk(struct html_walk *walk, const GumboNode *node)
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
    if (node->type != GUMBO_NODE_ELEMENT || html_tag_kind(node) == DROPPED)
        return node->type == GUMBO_NODE_DOCUMENT;
    plain_gap(&walk->writer, html_gap(node));
    walk->preformatted += keeps_space(node);
    return true;
}

static void leave_walk(struct html_walk *walk, const GumboNode *node)
{
    if (node->type != GUMBO_NODE_ELEMENT)
        return;
    plain_gap(&walk->writer, html_gap(node));
    walk->preformatted -= keeps_space(node);
}

/* The node after `node` and all that is in it; leaves what ends before. */
static const GumboNode *next_outside(struct html_walk *walk, const GumboNode *node)
{
    for (; node->parent; node = node->parent) {
        const GumboVector *siblings = children_of(node->parent);
        if (node->index_within_parent + 1 < siblings->length)
            return siblings->data[node->index_within_parent + 1];
        leave_walk(walk, node->parent);
    }
    return NULL;
}

enum doppel_status html_to_text(const void *bytes, size_t size, struct plain_text *out,
                                struct doppel_error *error)
{
    struct html_page *page;
    enum doppel_status status = page_parse(bytes, size, &page, error);
    if (status)
        return status;
    struct html_walk walk = {.writer.out = out};
    for (const GumboNode *node = page_root(page); node;) {
        const GumboVector *children = enter_walk(&walk, node) ? children_of(node) : NULL;
        if (children && children->length) {
            node = children->data[0];
            continue;
        }
        if (children)
            leave_walk(&walk, node);
        node = next_outside(&walk, node);
    }
    page_free(page);
    return plain_end(&walk.writer, error);
}
