/* A corpus of short articles, and the same as files: one comes again letter for letter but for
 * case, one with words around it, and one in other words. */
#include "media.h"

#include <ctype.h>
#include <sys/stat.h>

enum { FOGGY = 1, DRY = 3 };

static const struct article {
    const char *name, *text;
} articles[] = {
    {"buses",
     "The mayor of Riverton said on Monday that the town will buy forty electric buses before the "
     "winter. They will replace diesel vehicles that are older than twenty years, and drivers will "
     "be trained in the summer. The council still has to approve the loan."},
    {"boat",
     "A fishing boat with five men on board ran aground near the northern lighthouse in heavy fog "
     "last night. The coast guard rescued the crew by helicopter within an hour. Nobody was hurt, "
     "but fuel is leaking into the bay."},
    {"maps",
     "The national library has finished scanning its collection of maps from the seventeenth "
     "century. Anyone can now look at them on the web, free of charge, and teachers may print them "
     "for their classes."},
    {"drought",
     "After three weeks without rain, farmers in the valley are worried about the wheat harvest. "
     "Prices at the market have already risen by a tenth, and bakers say that bread will soon cost "
     "more."},
    {"cup",
     "United won the cup final with two late goals by a substitute who is only seventeen. The "
     "coach praised the young striker, and thousands of supporters celebrated in the streets "
     "until the morning."},
    {"vaccine",
     "Doctors at the children's hospital have tested a new vaccine against measles that needs no "
     "refrigerator. It could help in hot countries, where doses are often spoiled before they "
     "reach a village."},
};

static const char *const paraphrase =
    "Foggy weather made a trawler hit the rocks close to the lighthouse in the north yesterday "
    "evening. A helicopter of the coastal rescue service picked up all five sailors in less than "
    "an hour. They are unharmed, although oil spills into the water of the bay.";

/* As a line of the corpus, and as a file. The text has nothing to be escaped. */
static void write_article(FILE *corpus, const char *id, const char *name, const char *text)
{
    char path[64];
    fprintf(corpus, "{\"id\": \"%s\", \"text\": \"%s\"}\n", id, text);
    snprintf(path, sizeof path, "articles/%s.txt", name);
    FILE *out = demo_open(path, "wb");
    fprintf(out, "%s\n", text);
    if (fclose(out) != 0)
        demo_fail(path);
}

static void to_upper_case(const char *text, char *out)
{
    while (*text)
        *out++ = (char)toupper((unsigned char)*text++);
    *out = '\0';
}

void make_articles(void)
{
    static const char path[] = "articles.jsonl";
    enum { COUNT = sizeof articles / sizeof *articles };
    char id[16], text[1024];
    FILE *out = demo_open(path, "wb");
    mkdir("articles", 0777);
    for (unsigned i = 0; i < COUNT; i++) {
        snprintf(id, sizeof id, "a%u", i + 1);
        write_article(out, id, articles[i].name, articles[i].text);
    }
    to_upper_case(articles[FOGGY].text, text);
    write_article(out, "same", "boat-capitals", text);
    snprintf(text, sizeof text, "BAYSIDE, Tuesday - %s Follow us.", articles[DRY].text);
    write_article(out, "near", "drought-syndicated", text);
    write_article(out, "other-words", "trawler", paraphrase);
    if (fclose(out) != 0)
        demo_fail(path);
}
