// Exceptions, through frames with and without something to clean up.
#include <stdexcept>
#include <cstring>

#define APART __attribute__((noinline, noclone))

static int cleaned;
struct Cleaner { ~Cleaner() { cleaned++; } };

APART void thrower(int n) {
    if (n == 0) throw std::runtime_error("three");
    thrower(n - 1);
    __asm__ volatile("");
}
APART void cleans(int n) { Cleaner cleaner; thrower(n); }
APART int after(int n) { return n + 1; }
APART int catches(int n) {
    try { cleans(n); } catch (const std::exception &error) { return std::strlen(error.what()) + after(0); }
    return 0;
}
APART int again(int n) {
    try {
        try { cleans(n); } catch (...) { throw; }
    } catch (...) { return after(n); }
    return 0;
}

int main() { return catches(4) + again(2) + cleaned == 11 ? 0 : 1; }
