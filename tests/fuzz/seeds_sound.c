/* The sounds that the fuzzer's driver changes. */
#include "fuzz_container.h"
#include "sound_mutants.h"

size_t (*const fuzz_seeds)(struct file *seeds) = sound_seeds;
