/* Is this compiled under AddressSanitizer? GCC and clang tell in different ways. */
#ifndef DOPPEL_CORE_SANITIZER_H
#define DOPPEL_CORE_SANITIZER_H

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ADDRESS_SANITIZER 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define ADDRESS_SANITIZER 1
#endif

#endif
