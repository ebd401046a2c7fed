/* A corpus of short articles: one comes again letter for letter but for case, one with words around
 * it, and one in other words. */
#include "media.h"

#include <ctype.h>

enum { FOGGY = 1, DRY = 3 };

static const char *const articles[] = {
    "The mayor of Riverton said on Monday that the town will buy forty electric buses before the "
    "winter. They will replace diesel vehicles that are older than twenty years, and drivers will "
    "be trained in the summer. The council still has to approve the loan.",
    "A fishing boat with five men on board ran aground near the northern lighthouse in heavy fog "
    "last night. The coast guard rescued the crew by helicopter within an hour. Nobody was hurt, "
    "but fuel is leaking into the bay.",
    "The national library has finished scanning its collection of maps from the seventeenth "
    "century. Anyone can now look at them on the web, free of charge, and teachers may print them "
    "for their classes.",
    "After three weeks without rain, farmers in the valley are worried about the wheat harvest. "
    "Prices at the market have already risen by a tenth, and bakers say that bread will soon cost "
    "more.",
    "United won the cup final with two late goals by a substitute who is only seventeen. The coach "
    "praised the young striker, and thousands of supporters celebrated in the streets until the "
    "morning.",
    "Doctors at the children's hospital have tested a new vaccine against measles that needs no "
    "refrigerator. It could help in hot countries, where doses are often spoiled before they reach "
    "a village.",
};

static const char *const paraphrase =
    "Foggy weather made a trawler hit the rocks close to the lighthouse in the north yesterday "
    "evening. A helicopter of the coastal rescue service picked up all five sailors in less than "
    "an hour. They are unharmed, although oil spills into the water of the bay.";

static void write_upper_case(FILE *out, const char *text)
{
    for (; *text; text++)
        fputc(toupper((unsigned char)*text), out);
}

void make_articles(void)
{
    static const char path[] = "articles.jsonl";
    enum { COUNT = sizeof articles / sizeof *articles };
    FILE *out = demo_open(path, "wb");
    for (unsigned i = 0; i < COUNT; i++)
        fprintf(out, "{\"id\": \"a%u\", \"text\": \"%s\"}\n", i + 1, articles[i]);
    fputs("{\"id\": \"same\", \"text\": \"", out);
    write_upper_case(out, articles[FOGGY]);
    fprintf(out, "\"}\n{\"id\": \"near\", \"text\": \"BAYSIDE, Tuesday - %s Follow us.\"}\n",
            articles[DRY]);
    fprintf(out, "{\"id\": \"other-words\", \"text\": \"%s\"}\n", paraphrase);
    if (fclose(out) != 0)
        demo_fail(path);
}
