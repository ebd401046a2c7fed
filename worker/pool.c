/* To come. */
#include <doppel/worker.h>
