/* The file of options that are given once. */
#include "tools/args/config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/try.h"
#include "tools/args/options.h"
#include "tools/args/paths.h"
#include "tools/memory.h"

enum { MAX_CONFIG_BYTES = 1 << 20 };

void config_free(struct config *config)
{
    free(config->path);
    free(config->text);
    free(config->items);
    for (size_t i = 0; i < config->home_count; i++)
        free(config->homes[i]);
    free(config->homes);
    *config = (struct config){0};
}

/* Without blanks around it; in its place. */
static char *trim_word(char *word)
{
    word += strspn(word, " \t");
    size_t size = strlen(word);
    while (size && strchr(" \t\r", word[size - 1]))
        word[--size] = '\0';
    return word;
}

/* What begins with # ends a value, behind a blank. */
static char *without_remark(char *value)
{
    for (char *at = value; (at = strchr(at, '#')); at++)
        if (at > value && strchr(" \t", at[-1])) {
            *at = '\0';
            break;
        }
    return trim_word(value);
}

/* A value as a shell would take it: without quotes around it, and ~ for the home folder.
 * @return in the place of `value`, or a copy that the configuration keeps */
static const char *config_value(struct config *config, char *value)
{
    const char *home = getenv("HOME");
    char *quote = *value && strchr("\"'", *value) ? strchr(value + 1, *value) : NULL;
    if (quote) {
        *quote = '\0';
        return value + 1;
    }
    value = without_remark(value);
    if (!home || strncmp(value, "~/", 2) != 0)
        return value;
    size_t size = strlen(home) + strlen(value);
    config->homes = must_resize(config->homes, (config->home_count + 1) * sizeof *config->homes);
    char *path = config->homes[config->home_count++] = must_allocate(size);
    snprintf(path, size, "%s%s", home, value + 1);
    return path;
}

static enum doppel_status take_config_line(struct config *config, char *line, unsigned number,
                                           const char **verb, struct doppel_error *error)
{
    line = trim_word(line);
    size_t length = strlen(line);
    if (!*line || *line == '#')
        return DOPPEL_OK;
    if (*line == '[' && line[length - 1] == ']') {
        line[length - 1] = '\0';
        *verb = trim_word(line + 1);
        return verb_by_name(*verb)
                   ? DOPPEL_OK
                   : doppel_fail(error, DOPPEL_E_ARGUMENT, "%s:%u: there is no verb '%s'",
                                 config->path, number, *verb);
    }
    char *equals = strchr(line, '=');
    if (!equals || equals == line)
        return doppel_fail(error, DOPPEL_E_ARGUMENT,
                           "%s:%u: neither 'option = value' nor '[verb]': %s", config->path, number,
                           line);
    *equals = '\0';
    config->items = must_resize(config->items, (config->count + 1) * sizeof *config->items);
    config->items[config->count++] = (struct config_entry){
        *verb, trim_word(line), config_value(config, trim_word(equals + 1)), number};
    return DOPPEL_OK;
}

static enum doppel_status read_config_text(struct config *config, struct doppel_error *error)
{
    FILE *file = fopen(config->path, "rb");
    if (!file && (errno == ENOENT || errno == ENOTDIR))
        return DOPPEL_OK;
    if (!file)
        return doppel_fail(error, DOPPEL_E_IO, "%s: %s", config->path, strerror(errno));
    config->text = must_allocate(MAX_CONFIG_BYTES + 1);
    size_t size = fread(config->text, 1, MAX_CONFIG_BYTES, file);
    config->text[size] = '\0';
    bool failed = ferror(file);
    (void)fclose(file);
    return failed ? doppel_fail(error, DOPPEL_E_IO, "%s: cannot be read", config->path) : DOPPEL_OK;
}

/* @param path taken; NULL: there is none */
static enum doppel_status read_config_at(char *path, struct config *out, struct doppel_error *error)
{
    struct config config = {.path = path};
    const char *verb = NULL;
    enum doppel_status status = DOPPEL_OK;
    if (config.path)
        TRY(read_config_text(&config, error));
    char *rest = config.text, *line;
    for (unsigned number = 1; rest && (line = strsep(&rest, "\n")); number++)
        TRY(take_config_line(&config, line, number, &verb, error));
    *out = config;
    return DOPPEL_OK;
done:
    config_free(&config);
    return status;
}

enum doppel_status config_read(struct config *out, struct doppel_error *error)
{
    return read_config_at(user_file("XDG_CONFIG_HOME", ".config", "doppel/config"), out, error);
}

enum doppel_status config_read_file(const char *path, struct config *out,
                                    struct doppel_error *error)
{
    return read_config_at(must_copy(path), out, error);
}
