/* The doppel command. */
int main(void)
{
    return 0;
}
