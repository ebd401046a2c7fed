/* To come. */
#include <doppel/match.h>
