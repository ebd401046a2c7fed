/* To come. */
#include <doppel/media.h>
