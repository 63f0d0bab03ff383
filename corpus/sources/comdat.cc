// Compiled twice with different NAMEs: both objects contain shared(), and the linker keeps one copy.
int input();
template <class T> [[gnu::noinline]] T shared(T x) { return x * input() + input(); }
int NAME(int x) { return shared(x) + 1; }
