/* What a walk leaves out by name. */
#ifndef DOPPEL_INTAKE_WALK_FILTER_H
#define DOPPEL_INTAKE_WALK_FILTER_H

#include <stdbool.h>
#include <sys/stat.h>

#include <doppel/intake.h>

/* Folders and files where systems keep what was thrown away, and small copies of pictures. `path`
 * ends in its name. */
bool is_trash(const char *path);

/* Whether one of the globs matches: "NAME" the name at any depth, "A/B" or "/A" the whole path
 * below the PATH, "NAME/" only folders; '*' does not match '/', "**" does. */
bool is_excluded(const struct doppel_strings *globs, const char *relative_path, bool is_directory);

/* Whether the name ends in one of the extensions, "jpg" or "jpg,png"; true where there are none. */
bool has_extension_of(const struct doppel_strings *extensions, const char *path);

/* Whether its mtime is as asked for. */
bool is_of_age(const struct doppel_walk_options *options, const struct stat *file);

#endif
