/* To come. */
#include <doppel/image.h>
