/* The fuzz target for texts without libFuzzer: soups of markup and characters. */
#include <stdlib.h>

#include "../text/soup.h"
#include "inputs.h"

enum { INPUTS = 3000, PARTS_MAX = 200 };

static const char *const parts[] = {
    "<div>",       "</div>",     "<p>",
    "</p>",        "<b>",        "</b>",
    "<i x=\"y\">", "</i>",       "<table>",
    "<td>",        "</table>",   "<pre>",
    "</pre>",      "<script>",   "</script>",
    "<!--",        "-->",        "<br/>",
    "<svg>",       "<template>", "</template>",
    "<head>",      "<body>",     "&amp;",
    "&eacute;",    "&#x1f600;",  "&#0;",
    "&",           "\n\n",       "# ",
    "**",          "_",          "`",
    "```\n",       "> ",         "- ",
    "1. ",         "[",          "](",
    ")",           "![",         "|a|b|\n|-|-|\n",
    "    ",        "\\",         "<http://a>",
    "\r\n",        "\xff\xfe",   "\xfe\xff",
    "words ",      "Gross ",     "\xc3\xa9t\xc3\xa9 ",
};

int main(int argument_count, char **arguments)
{
    struct inputs inputs = inputs_begin(argument_count, arguments, INPUTS);
    for (unsigned long i = 0; i < inputs.count; i++) {
        struct soup soup = {0};
        char first = (char)soup_random(256);
        soup_add(&soup, &first, 1);
        if ((first >> 4 & 3) == 3)
            soup_add_string(&soup, soup_random(2) ? "\xff\xfe" : "\xfe\xff");
        for (uint32_t count = soup_random(PARTS_MAX); count; count--) {
            if (soup_random(2))
                soup_add_any(&soup);
            else
                soup_add_string(&soup, parts[soup_random(sizeof parts / sizeof *parts)]);
        }
        char *exact = realloc(soup.bytes, soup.size); /* a sanitizer sees a step beyond it */
        if (!exact)
            abort();
        inputs_use(&inputs, (const uint8_t *)exact, soup.size);
        free(exact);
    }
    return 0;
}
