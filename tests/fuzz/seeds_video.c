/* The videos that the fuzzer's driver changes. */
#include "video_mutants.h"
#include "fuzz_container.h"

size_t (*const fuzz_seeds)(struct file *seeds) = video_seeds;
