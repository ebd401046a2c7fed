/* To come. */
#include <doppel/store.h>
