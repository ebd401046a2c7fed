/* Running doppel as a user does, in a folder of its own: for the end-to-end tests. */
#ifndef DOPPEL_TESTS_COMMAND_H
#define DOPPEL_TESTS_COMMAND_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <cmocka.h>

/* A fresh folder is the working directory, and HOME with its cache lies beside it: cmocka's setup
 * and teardown. */
int sandbox_enter(void **state);
int sandbox_leave(void **state);
#define IN_SANDBOX(test) cmocka_unit_test_setup_teardown(test, sandbox_enter, sandbox_leave)

/* What a run left. */
struct ran {
    int code;        /* of exit; 128 + signal */
    char *out, *err; /* ended by NUL; ran_free */
    size_t out_size, err_size;
    double seconds;
};

void ran_free(struct ran *ran);

/* How a run differs from the usual. */
struct setting {
    const char *program;        /* NULL: doppel */
    const char *input;          /* standard input; NULL: none */
    size_t input_size;          /* 0: strlen */
    bool powerless;             /* the modes of files hold, also for root */
    bool closed_pipe;           /* standard output is a pipe that nobody reads */
    const char *environment[4]; /* "NAME=VALUE", up to NULL */
};

/* A run under way. */
struct running {
    pid_t pid;
    int out, err;
    double began;
};

/* Under sanitizers on a loaded machine a script of a hundred commands takes minutes. */
enum { RUN_SECONDS = 600, MAX_ARGUMENTS = 64 };

/* Start it; `words` ends with NULL. */
struct running command_start(const struct setting *setting, const char *const *words);

/* True when it has ended by now; then `out` is filled. */
bool command_ended(struct running *running, struct ran *out);

/* Wait for its end; a run that takes longer than RUN_SECONDS fails the test. */
struct ran command_end(struct running *running);

/* Run `doppel WORD...`. */
#define doppel(...) command_run(NULL, (const char *const[]){__VA_ARGS__, NULL})
#define doppel_with(setting, ...) command_run(setting, (const char *const[]){__VA_ARGS__, NULL})
struct ran command_run(const struct setting *setting, const char *const *words);

/* Run it, expect this exit code, and give its standard output (free). */
#define doppel_prints(code, ...)                                                                   \
    command_output(code, (const char *const[]){__VA_ARGS__, NULL}, __FILE__, __LINE__)
char *command_output(int code, const char *const *words, const char *file, int line);

/* The exit code was this; on failure shows what was printed. */
#define assert_code(ran, wanted) command_assert_code(ran, wanted, __FILE__, __LINE__)
void command_assert_code(const struct ran *ran, int wanted, const char *file, int line);

/* `text` holds `part`. */
#define assert_has(text, part) command_assert_has(text, part, true, __FILE__, __LINE__)
#define assert_lacks(text, part) command_assert_has(text, part, false, __FILE__, __LINE__)
void command_assert_has(const char *text, const char *part, bool wanted, const char *file,
                        int line);

/* Lines of a text that contain `part`; "" counts all. */
unsigned count_lines(const char *text, const char *part);

/* The number after a key in JSON; fails the test when it is not there. */
double number_of(const char *json, const char *key);
void assert_number(const char *json, const char *key, double wanted, double tolerance);

/* `err` has a line `doppel: PATH: ` with a reason. */
bool reported(const char *err, const char *path);

/* The workers of a running doppel, up to `capacity`. @return how many */
size_t workers_of(pid_t parent, pid_t *out, size_t capacity);

void pause_ms(unsigned milliseconds);
double now_seconds(void);

/* ---- files ---- */

void make_folder(const char *path);
void write_file(const char *path, const void *data, size_t size);
/* The bytes of a file, ended by NUL; free. */
char *read_file(const char *path, size_t *out_size);
void copy_file(const char *from, const char *to);
/* The first `size` bytes of a file as another. */
void copy_part(const char *from, const char *to, size_t size);

/* ---- numbers that look random and are the same on every run ---- */

uint32_t next_random(uint32_t *state);

#endif
