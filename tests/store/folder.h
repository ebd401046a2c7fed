/* A temporary folder for a test. */
#ifndef TESTS_STORE_FOLDER_H
#define TESTS_STORE_FOLDER_H

/** Make a folder under $TMPDIR; given (folder_remove). */
char *folder_make(void);

/** Remove a folder, all within it, and the string. */
void folder_remove(char *folder);

/** A test in a folder of its own, which is its state. */
#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, folder_set_up, folder_tear_down)
int folder_set_up(void **state);
int folder_tear_down(void **state);

/** folder/name, in one of 32 buffers that are used in turn. */
const char *folder_path(const char *folder, const char *name);

/** Write a file whose mtime lies an hour back. */
void folder_write(const char *path, const char *text);

/** Set the time of last change, seconds from now. */
void folder_age(const char *path, int seconds);

#endif
