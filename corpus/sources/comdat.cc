// Compiled twice with another NAME: both objects carry shared(), the linker keeps one of them.
int input();
template <class T> [[gnu::noinline]] T shared(T x) { return x * input() + input(); }
int NAME(int x) { return shared(x) + 1; }
