/* The table of image_recall. */
#ifndef BENCH_RECALL_REPORT_H
#define BENCH_RECALL_REPORT_H

#include "rates.h"

void report_collection(const struct collection *list);

/** Recall by edit at rates realised on `half`, and the mean. */
void report_recall(const struct collection *list, const struct half *half);

/** What the limits of the calibrating half leave on the other. */
void report_carried(const struct collection *list, const struct half *calibrating,
                    const struct half *held);

/** How honest the stated rates are, and what the product's limit leaves. */
void report_product(const struct collection *list, const struct half *builtin);

/** False pairs of unrelated items that are edited alike, at the product's limit. */
void report_alike(const struct alike_count *counts);

void report_nearest(const struct half *half);

/** A calibration as the C table of image/calibration_builtin.c. */
void dump_calibration(const struct calibration *calibration);

#endif
