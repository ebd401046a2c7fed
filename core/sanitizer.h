/* Is this compiled under AddressSanitizer or ThreadSanitizer? They keep shadows of memory, trace
 * and open files, which limits and filters forbid. GCC and clang tell in different ways. */
#ifndef DOPPEL_CORE_SANITIZER_H
#define DOPPEL_CORE_SANITIZER_H

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define UNDER_SANITIZER 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define UNDER_SANITIZER 1
#endif

#endif
