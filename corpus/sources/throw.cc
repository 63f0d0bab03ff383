// Throw, catch, destructor, rethrow: functions with landing pads and cold parts.
struct Resource {
	explicit Resource(int);
	~Resource();
	int value;
};
int risky(const Resource &);

int attempt(int x)
{
	try {
		Resource resource(x);
		return risky(resource);
	} catch (int code) {
		return code;
	} catch (...) {
		Resource second(x + 1);
		throw;
	}
}

[[noreturn]] void raise_it(int code) { throw code; }
