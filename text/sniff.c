/* Whether bytes begin like HTML: the patterns of the MIME Sniffing Standard, section 7.1. */
#include "text/text_internal.h"

#include <string.h>
#include <strings.h>

static const char *const beginnings[] = {
    "<!DOCTYPE HTML", "<HTML", "<HEAD",  "<SCRIPT", "<IFRAME", "<H1",   "<DIV", "<FONT",
    "<TABLE",         "<A",    "<STYLE", "<TITLE",  "<B",      "<BODY", "<BR",  "<P",
};

static size_t skip_space(const char *text, size_t size)
{
    size_t at = size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    while (at < size && strchr("\t\n\f\r ", text[at]) && text[at])
        at++;
    return at;
}

bool looks_like_html(const void *bytes, size_t size)
{
    size_t at = skip_space(bytes, size);
    const char *text = (const char *)bytes + at;
    size -= at;
    if (size >= 4 && memcmp(text, "<!--", 4) == 0)
        return true;
    for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++) {
        size_t length = strlen(beginnings[i]);
        if (length < size && strncasecmp(text, beginnings[i], length) == 0 &&
            (text[length] == ' ' || text[length] == '>'))
            return true;
    }
    return false;
}
