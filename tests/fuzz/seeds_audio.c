/* The recordings that the fuzzer's driver changes. */
#include "fuzz_container.h"
#include "audio_mutants.h"

size_t (*const fuzz_seeds)(struct file *seeds) = audio_seeds;
