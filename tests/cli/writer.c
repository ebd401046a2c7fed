/* Texts for the tests: words drawn from a seed. */
#include "writer.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"

enum { LETTERS = 8, A_LINE = 12 };

static uint64_t mixed(uint64_t value)
{
    value = (value ^ value >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    value = (value ^ value >> 27) * UINT64_C(0x94d049bb133111eb);
    return value ^ value >> 31;
}

char *write_words(uint32_t seed, unsigned count)
{
    char *text = malloc((size_t)count * (LETTERS + 1) + 1), *out = text;
    assert_non_null(text);
    for (unsigned i = 0; i < count; i++) {
        uint64_t letters = mixed(((uint64_t)seed << 32) + i + 1);
        for (int k = 0; k < LETTERS; k++, letters /= 26)
            *out++ = (char)('a' + letters % 26);
        *out++ = i % A_LINE == A_LINE - 1 || i + 1 == count ? '\n' : ' ';
    }
    *out = '\0';
    return text;
}

char *replace_words(char *text, unsigned step)
{
    unsigned number = 0;
    for (char *word = text; *word; word += strcspn(word, " \n") + 1)
        if (++number % step == 0)
            for (char *letter = word; *letter != ' ' && *letter != '\n'; letter++)
                *letter = (char)('a' + (*letter - 'a' + 13) % 26);
    return text;
}

char *in_capitals(char *text)
{
    for (char *letter = text; *letter; letter++)
        *letter = (char)toupper((unsigned char)*letter);
    return text;
}

void keep_text(const char *path, char *text)
{
    write_file(path, text, strlen(text));
    free(text);
}
