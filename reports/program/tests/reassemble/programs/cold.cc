// A function with a cold part that only exceptions enter, with the frame of the function. GCC puts a `nop` with the CFI
// of an entry before the first landing pad of that part: an offset of 0 in a call-site table means "no landing pad".

struct Guard {
    int *at;
    explicit Guard(int *place);
    ~Guard();
};

int risky(int value);
[[gnu::cold]] void report(int value);

int twice(int count, int *values) {
    try {
        Guard outer(values);
        risky(count);
        try {
            Guard inner(values);
            count += risky(values[2]);
        } catch (...) {
            report(count);
            throw;
        }
    } catch (int code) {
        report(code);
        count += code;
    }
    return count;
}
