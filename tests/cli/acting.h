/* Duplicates to act on, and how a folder looks before and after. */
#ifndef DOPPEL_TESTS_ACTING_H
#define DOPPEL_TESTS_ACTING_H

#include <stdbool.h>

/* Write a text of words that no other `seed` has. */
void write_words(const char *path, unsigned seed);

/* Texts of `count` seeds in each of two folders, by number. */
void write_pairs(const char *one, const char *other, unsigned count);

/* Texts under docs/: a.txt, its duplicates b.txt and sub/c.txt; d.txt, its duplicate e.txt, and one
 * that has none. The first of each group by name is kept. */
void make_doubles(void);

/* Every name below `folder` with what it is: type, size, mtime, mode, links' texts, and the bytes.
 * Given (free). */
char *listing_of(const char *folder);
void assert_listing(const char *folder, const char *wanted);

/* What an action does to all duplicates in docs/, which it must; "move-to" into ../away. */
void act_on_docs(const char *action);

/* The journal that runs in the sandbox write. */
#define JOURNAL "../home/.local/state/doppel/actions.jsonl"

bool same_inode(const char *a, const char *b);

#endif
