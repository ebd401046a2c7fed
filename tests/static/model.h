/* What the analyzers cannot see from one file: doppel_fail gives back the status that it is given.
 */
#ifndef DOPPEL_TESTS_STATIC_MODEL_H
#define DOPPEL_TESTS_STATIC_MODEL_H

#include <doppel/core.h>

#define doppel_fail(error, status, ...)                                                            \
    ((doppel_fail)(error, status, __VA_ARGS__), (enum doppel_status)(status))

#endif
