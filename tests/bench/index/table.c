/* The tables that the benchmark prints. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "index/index_bench.h"

/* Three digits that count. */
static int decimals(double value)
{
    double size = fabs(value);
    return size >= 99.95 ? 0 : size >= 9.995 ? 1 : size >= 0.9995 ? 2 : 3;
}

void print_row(const char *label, const double *values, size_t count)
{
    printf("  %-38s", label);
    for (size_t i = 0; i < count; i++)
        if (isnan(values[i]))
            printf(" %9s", "-");
        else
            printf(" %9.*f", decimals(values[i]), values[i]);
    putchar('\n');
}

void print_count(char *out, size_t size, size_t count)
{
    if (count % 1000000 == 0)
        snprintf(out, size, "%zu M", count / 1000000);
    else if (count % 1000 == 0)
        snprintf(out, size, "%zu 000", count / 1000);
    else
        snprintf(out, size, "%zu", count);
}

void print_goal(const char *what, double measured, const char *relation, double goal,
                const char *unit)
{
    printf("  %-58s %9.*f %-4s", what, decimals(measured), measured, unit);
    if (!isnan(goal)) {
        bool reached = strcmp(relation, "≥") == 0 ? measured >= goal : measured <= goal;
        printf(" %s %.*f%s", relation, decimals(goal), goal, reached ? "" : "  SHORT");
    }
    putchar('\n');
}
