/* The films that the fuzzer's driver changes. */
#include "film_mutants.h"
#include "fuzz_container.h"

size_t (*const fuzz_seeds)(struct file *seeds) = film_seeds;
