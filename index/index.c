/* To come. */
#include <doppel/index.h>
