/* Ends of sentences, of lines and of paragraphs. */
#include "text/sentences.h"

#include "text/normaliser.h"

enum sentence_mark {
    NO_MARK,
    DOT_MARK,   /* may stand in a number or behind an abbreviation */
    ASCII_MARK, /* may stand in an address */
    OWN_MARK    /* of a script that uses it for nothing else */
};

/* Unicode 15.1, Sentence_Terminal, but for those of ASCII; as ranges. */
static const struct {
    uint32_t first, last;
} sentence_terminals[] = {
    {0x589, 0x589},     {0x61d, 0x61f},     {0x6d4, 0x6d4},     {0x700, 0x702},
    {0x7f9, 0x7f9},     {0x837, 0x837},     {0x839, 0x839},     {0x83d, 0x83e},
    {0x964, 0x965},     {0x104a, 0x104b},   {0x1362, 0x1362},   {0x1367, 0x1368},
    {0x166e, 0x166e},   {0x1735, 0x1736},   {0x17d4, 0x17d5},   {0x1803, 0x1803},
    {0x1809, 0x1809},   {0x1944, 0x1945},   {0x1aa8, 0x1aab},   {0x1b5a, 0x1b5b},
    {0x1b5e, 0x1b5f},   {0x1b7d, 0x1b7e},   {0x1c3b, 0x1c3c},   {0x1c7e, 0x1c7f},
    {0x203c, 0x203d},   {0x2047, 0x2049},   {0x2e2e, 0x2e2e},   {0x2e3c, 0x2e3c},
    {0x2e53, 0x2e54},   {0x3002, 0x3002},   {0xa4ff, 0xa4ff},   {0xa60e, 0xa60f},
    {0xa6f3, 0xa6f3},   {0xa6f7, 0xa6f7},   {0xa876, 0xa877},   {0xa8ce, 0xa8cf},
    {0xa92f, 0xa92f},   {0xa9c8, 0xa9c9},   {0xaa5d, 0xaa5f},   {0xaaf0, 0xaaf1},
    {0xabeb, 0xabeb},   {0xfe52, 0xfe52},   {0xfe56, 0xfe57},   {0xff01, 0xff01},
    {0xff0e, 0xff0e},   {0xff1f, 0xff1f},   {0xff61, 0xff61},   {0x10a56, 0x10a57},
    {0x10f55, 0x10f59}, {0x11047, 0x11048}, {0x110be, 0x110c1}, {0x11141, 0x11143},
    {0x111c5, 0x111c6}, {0x11238, 0x11239}, {0x1144b, 0x1144c}, {0x115c2, 0x115c3},
    {0x11641, 0x11642}, {0x1173c, 0x1173e}, {0x11c41, 0x11c42}, {0x16a6e, 0x16a6f},
    {0x16af5, 0x16af5}, {0x16e98, 0x16e98}, {0x1bc9f, 0x1bc9f},
};

static enum sentence_mark mark_of(uint32_t point)
{
    if (point < 0x80)
        return point == '.' ? DOT_MARK : point == '!' || point == '?' ? ASCII_MARK : NO_MARK;
    if (point == 0x2026)
        return DOT_MARK;
    const size_t count = sizeof sentence_terminals / sizeof *sentence_terminals;
    for (size_t i = 0; i < count && sentence_terminals[i].first <= point; i++)
        if (point <= sentence_terminals[i].last)
            return OWN_MARK;
    return NO_MARK;
}

/* What may stand between the mark and the end of a sentence, as a quote does. */
static bool closes(uint32_t point)
{
    if (point < 0x80)
        return point == '"' || point == '\'' || point == ')' || point == ']' || point == '}';
    const int category = (int)utf8proc_category((int32_t)point);
    return category == UTF8PROC_CATEGORY_PE || category == UTF8PROC_CATEGORY_PF;
}

/* A lone capital before a dot. */
static bool follows_initial(const struct letter_walk *walk)
{
    return walk->run == 1 && utf8proc_category((int32_t)walk->before) == UTF8PROC_CATEGORY_LU;
}

static void note_mark(struct letter_walk *walk)
{
    const enum sentence_mark mark = mark_of(walk->point);
    if (mark)
        walk->sentence_by = (uint8_t)(mark == DOT_MARK && follows_initial(walk) ? NO_MARK : mark);
    else if (walk->sentence_by && !closes(walk->point))
        walk->sentence_by = NO_MARK;
}

/* ---- the walk ---- */

/* As Python's str.isspace has it. */
static bool is_white_space(uint32_t point)
{
    return point == ' ' || (point >= 0x9 && point <= 0xd) || (point >= 0x1c && point <= 0x1f) ||
           point == 0x85 || point == 0xa0 || point == 0x1680 ||
           (point >= 0x2000 && point <= 0x200a) || point == 0x2028 || point == 0x2029 ||
           point == 0x202f || point == 0x205f || point == 0x3000;
}

/* @param before the white space before it; 0: none */
static void note_blank(struct letter_walk *walk, uint32_t point, uint32_t before)
{
    const bool ends_line =
        point == '\r' || point == 0x85 || point == 0x2028 || (point == '\n' && before != '\r');
    walk->blank = true;
    walk->gap = walk->gap || (ends_line && walk->line) || point == 0x2029 || point == '\f';
    walk->line = walk->line || ends_line;
    walk->run = 0;
}

/* From `next` on. */
static bool find_letter(struct letter_walk *walk)
{
    uint32_t before = 0;
    bool bad;
    walk->blank = walk->line = walk->gap = false;
    while (walk->next < walk->size) {
        walk->at = walk->next;
        walk->next += decode(walk->bytes + walk->at, walk->size - walk->at, &walk->point, &bad);
        if (!is_white_space(walk->point)) {
            walk->weight = point_is_unspaced(walk->point) ? 3 : 1;
            return true;
        }
        note_blank(walk, walk->point, before);
        before = walk->point;
        walk->character++;
    }
    walk->at = walk->size;
    return false;
}

bool letters_begin(struct letter_walk *walk, const char *text, size_t size, size_t at,
                   uint64_t character)
{
    *walk = (struct letter_walk){
        .bytes = (const uint8_t *)text, .size = size, .character = character, .next = at};
    return find_letter(walk);
}

bool letters_next(struct letter_walk *walk)
{
    note_mark(walk);
    walk->recent = walk->recent << 8 | ((walk->point ^ walk->point >> 8) & 0xff);
    walk->before = walk->point;
    walk->run++;
    walk->character++;
    return find_letter(walk);
}

/* ---- ends ---- */

static bool is_thai_or_lao(uint32_t point)
{
    return point >= 0xe00 && point < 0xf00;
}

static bool ends_sentence(const struct letter_walk *walk)
{
    switch ((enum sentence_mark)walk->sentence_by) {
    case OWN_MARK:
        return walk->blank || (!mark_of(walk->point) && !closes(walk->point));
    case ASCII_MARK:
        return walk->blank;
    case DOT_MARK:
        return walk->blank && utf8proc_category((int32_t)walk->point) != UTF8PROC_CATEGORY_LL;
    default:
        return walk->blank && is_thai_or_lao(walk->before) && is_thai_or_lao(walk->point);
    }
}

/* What is shown as one character with what stands before it. */
static bool is_joined(const struct letter_walk *walk)
{
    const int category = (int)utf8proc_category((int32_t)walk->point);
    return (category >= UTF8PROC_CATEGORY_MN && category <= UTF8PROC_CATEGORY_ME) ||
           walk->point == 0x200d || walk->before == 0x200d;
}

enum cut letters_cut(const struct letter_walk *walk)
{
    if (walk->gap)
        return CUT_PARAGRAPH;
    if (ends_sentence(walk))
        return CUT_SENTENCE;
    if (walk->line)
        return CUT_LINE;
    if (walk->blank)
        return CUT_SPACE;
    return walk->point >= 0x300 && is_joined(walk) ? CUT_MARK : CUT_POINT;
}
