/* Whether a compiler that has locals begin with zeros leaves those alone that begin with something
 * else: GCC 12.2 does not. Run by meson.build. */
struct part {
    long long all; /* ones */
    int one;       /* and padding behind it */
};

struct whole {
    struct part parts[5];
    int one;
    long long all;
};

__attribute__((noinline)) static int is_whole(const struct whole *whole)
{
    for (int i = 0; i < 5; i++)
        if (whole->parts[i].all != -1 || whole->parts[i].one != 1)
            return 0;
    return whole->one == 1 && whole->all == -1;
}

int main(void)
{
    struct whole whole = {{{-1, 1}, {-1, 1}, {-1, 1}, {-1, 1}, {-1, 1}}, 1, -1};
    return is_whole(&whole) ? 0 : 1;
}
