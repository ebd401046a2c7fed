/* The tables of catalogue.db and of the cache; docs/formats.md tells what they mean. */
#ifndef DOPPEL_LIBRARY_SCHEMA_H
#define DOPPEL_LIBRARY_SCHEMA_H

#include <stdint.h>

/** "dplL" and "dplC", big-endian, as file(1) shows them. */
#define CATALOGUE_APPLICATION_ID UINT32_C(0x64706c4c)
#define CACHE_APPLICATION_ID UINT32_C(0x64706c43)

enum { CATALOGUE_VERSION = 19, CATALOGUE_UPGRADES = 17, CACHE_VERSION = 14, CACHE_UPGRADES = 11 };

extern const char catalogue_schema[];
extern const char *const catalogue_upgrades[CATALOGUE_UPGRADES]; /* from version 2 on */
extern const char cache_schema[];
extern const char *const cache_upgrades[CACHE_UPGRADES]; /* from version 3 on */
extern const char cache_pending_schema[];

#endif
