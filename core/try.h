/* The steps of a function that can fail, one after the other, and one place at which it ends.
 *
 * By convention a function that uses it has a variable `status` and a label `done`, behind which
 * it frees what it holds and returns `status`. What is used there is initialised before the first
 * step. */
#ifndef DOPPEL_CORE_TRY_H
#define DOPPEL_CORE_TRY_H

#define TRY(call)                                                                                  \
    do {                                                                                           \
        status = (call);                                                                           \
        if (status)                                                                                \
            goto done;                                                                             \
    } while (0)

#endif
