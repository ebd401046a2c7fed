/* The right word nearest to a mistyped one. */
#include "tools/args/nearest.h"

#include <stdint.h>
#include <string.h>

enum { LONGEST = 64 };

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

size_t word_distance(const char *a, const char *b)
{
    size_t a_length = strlen(a), b_length = strlen(b);
    if (a_length >= LONGEST || b_length >= LONGEST)
        return SIZE_MAX;
    size_t edits[LONGEST][LONGEST];
    for (size_t i = 0; i <= a_length; i++)
        edits[i][0] = i;
    for (size_t j = 0; j <= b_length; j++)
        edits[0][j] = j;
    for (size_t i = 1; i <= a_length; i++)
        for (size_t j = 1; j <= b_length; j++) {
            size_t replaced = edits[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
            size_t moved = least(edits[i - 1][j], edits[i][j - 1]) + 1;
            edits[i][j] = least(replaced, moved);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                edits[i][j] = least(edits[i][j], edits[i - 2][j - 2] + 1);
        }
    return edits[a_length][b_length];
}

const char *nearest_word(const char *typed, const char *const *words, size_t count)
{
    const char *nearest = NULL;
    size_t best = 2 + strlen(typed) / 4; /* over a third of the letters wrong: not what was meant */
    for (size_t i = 0; i < count; i++) {
        if (!words[i])
            continue;
        size_t distance = word_distance(typed, words[i]);
        if (distance < best && distance < strlen(words[i])) {
            best = distance;
            nearest = words[i];
        }
    }
    return nearest;
}
