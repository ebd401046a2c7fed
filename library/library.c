/* To come. */
#include <doppel/library.h>
