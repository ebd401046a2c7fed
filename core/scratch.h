/* Memory for a moment, in a function that is called millions of times. */
#ifndef DOPPEL_CORE_SCRATCH_H
#define DOPPEL_CORE_SCRATCH_H

#ifndef __has_attribute
#define __has_attribute(name) 0
#endif

/** Of a local array that is written before it is read: not zeroed as all others are
 * (-ftrivial-auto-var-init), which takes longer than what is done with it. */
#if __has_attribute(uninitialized)
#define SCRATCH __attribute__((uninitialized))
#else
#define SCRATCH
#endif

#endif
