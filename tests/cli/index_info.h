/* What `doppel index info` says of an index. */
#ifndef DOPPEL_TESTS_INDEX_INFO_H
#define DOPPEL_TESTS_INDEX_INFO_H

#include <jansson.h>

/* Given (json_decref). */
json_t *info_of(const char *index);

json_int_t info_number(const char *index, const char *key);

#endif
