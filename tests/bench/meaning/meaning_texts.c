/* meaning_texts paragraphs|records COUNT FOLDER...: a corpus of JSON Lines of the English prose
 * that Debian's packages ship below folders. Paragraphs are what stands between empty lines, of 80
 * bytes to 2 KB, as often as they come; records are of 156 bytes, cut wherever a word ends. Ids
 * name the document, and the place in it. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../debian_text.h"

enum { SHORTEST = 80, LONGEST = 2048, RECORD_BYTES = 156, MOST_BYTES = 1 << 30 };

static bool is_blank(char byte)
{
    return byte == ' ' || (byte >= '\t' && byte <= '\r');
}

/* White space becomes one blank, and what JSON does not take as it is goes. */
static void print_record(size_t document, size_t number, const char *text, size_t size)
{
    printf("{\"id\":\"%zu.%zu\",\"text\":\"", document, number);
    for (size_t i = 0; i < size; i++) {
        const unsigned char byte = (unsigned char)text[i];
        if (is_blank(text[i])) {
            if (i && !is_blank(text[i - 1]))
                putchar(' ');
        } else if (byte == '"' || byte == '\\') {
            printf("\\%c", byte);
        } else if (byte > ' ' && byte < 0x7f) {
            putchar(byte);
        }
    }
    puts("\"}");
}

static size_t end_of_paragraph(const char *text, size_t size)
{
    size_t at = 0;
    while (at + 1 < size && !(text[at] == '\n' && text[at + 1] == '\n'))
        at++;
    return at + 1 < size ? at : size;
}

static size_t end_of_record(const char *text, size_t size)
{
    size_t at = RECORD_BYTES;
    while (at < size && !is_blank(text[at]))
        at++;
    return at < size ? at : size;
}

/* @return how many of `most` there were */
static size_t cut_document(const struct debian_text *text, size_t document, bool records,
                           size_t most)
{
    size_t number = 0;
    for (size_t at = text->starts[document], end = text->starts[document + 1];
         at < end && number < most;) {
        const char *begin = text->bytes + at;
        if (is_blank(*begin)) {
            at++;
            continue;
        }
        const size_t size = (records ? end_of_record : end_of_paragraph)(begin, end - at);
        if (records ? size >= RECORD_BYTES : size >= SHORTEST && size <= LONGEST)
            print_record(document, number++, begin, size);
        at += size;
    }
    return number;
}

int main(int count, char **arguments)
{
    const bool records = count > 2 && strcmp(arguments[1], "records") == 0;
    if (count < 4 || (!records && strcmp(arguments[1], "paragraphs") != 0)) {
        fputs("meaning_texts paragraphs|records COUNT FOLDER...\n", stderr);
        return 2;
    }
    size_t wanted = strtoul(arguments[2], NULL, 10), printed = 0;
    struct debian_text text = {0};
    for (int i = 3; i < count; i++)
        debian_text_find(&text, arguments[i], MOST_BYTES, 2);
    for (size_t i = 0; i < text.count && printed < wanted; i++)
        printed += cut_document(&text, i, records, wanted - printed);
    fprintf(stderr, "%zu of %zu documents\n", printed, text.count);
    debian_text_free(&text);
    return ferror(stdout) || printed < wanted;
}
