/* Numbers with a point, whatever locale the program has chosen. */
#ifndef DOPPEL_CORE_TEXT_POINT_LOCALE_H
#define DOPPEL_CORE_TEXT_POINT_LOCALE_H

#include <locale.h>

/** From now on this thread writes and reads numbers as C does; others are not touched.
 * @return for point_locale_leave; 0: it stays as it was */
static inline locale_t point_locale_enter(void)
{
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0); /* of glibc: static, never freed */
    return plain ? uselocale(plain) : (locale_t)0;
}

static inline void point_locale_leave(locale_t before)
{
    if (before)
        uselocale(before);
}

#endif
