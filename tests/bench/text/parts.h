/* The parts of text_quality; each prints a table. */
#ifndef TESTS_BENCH_TEXT_PARTS_H
#define TESTS_BENCH_TEXT_PARTS_H

#include <stdbool.h>

/* @param held the half of the packages that is reported; else the one to tune on */
typedef void part_function(bool held);

part_function part_pairs, part_web, part_news, part_ocr, part_strangers, part_simhash, part_prose,
    part_code, part_contained, part_scripts;

#endif
