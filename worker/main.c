/* The child: to come. */
int main(void)
{
    return 0;
}
