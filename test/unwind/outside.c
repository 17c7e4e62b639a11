/* The other file of truth.cc: its functions are called through the PLT. */
unsigned long outside_leaf(unsigned long x);
unsigned long outside_calls(unsigned long (*back)(unsigned long), unsigned long x);

unsigned long outside_leaf(unsigned long x)
{
	return x * 6364136223846793005u + 1442695040888963407u;
}

unsigned long outside_calls(unsigned long (*back)(unsigned long), unsigned long x)
{
	return back(x) + back(x + 1);
}
