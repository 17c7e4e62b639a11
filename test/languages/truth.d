// Templates, delegates, nested functions, exceptions in flight, a fiber; it says of each leaf what calls it, as truth.go does.
module truth;

import core.stdc.stdio : printf;
import core.stdc.stdlib : atoi;
import core.thread.fiber : Fiber;
import core.time : MonoTime, msecs;

__gshared ulong sink;
__gshared MonoTime end;

pragma(inline, false) ulong leafPlain(ulong x)
{
	foreach (i; 0 .. 5000)
		x = x * 6364136223846793005UL + i;
	return x;
}

pragma(inline, true) ulong folded(ulong x)
{
	lineOfFolded = __LINE__; immutable y = leafPlain(x) ^ x;
	return y;
}

pragma(inline, false) T calls(T)(T x)
{
	ulong[100] room;
	room[x % 100] = x;
	lineOfCalls = __LINE__; immutable y = folded(x) + room[(x + 1) % 100];
	return y;
}

pragma(inline, false) void partPlain()
{
	for (; MonoTime.currTime < end;)
	{
		lineOfPlain = __LINE__; sink += calls!ulong(sink);
	}
}

__gshared int lineOfFolded, lineOfCalls, lineOfPlain, lineOfDelegate, lineOfEach, lineOfPartDelegate, lineOfThrows, lineOfPartThrows,
	lineOfFiber;

pragma(inline, false) ulong leafDelegate(ulong x)
{
	foreach (i; 0 .. 5000)
		x = x * 2862933555777941757UL + i;
	return x;
}

pragma(inline, false) ulong each(scope ulong delegate(ulong) what, ulong x)
{
	foreach (i; 0 .. 3)
	{
		lineOfEach = __LINE__; x += what(x);
	}
	return x;
}

pragma(inline, false) void partDelegate()
{
	ulong sum;
	ulong nested(ulong x)
	{
		lineOfDelegate = __LINE__; immutable y = leafDelegate(x) + sum;
		sum += y;
		return y;
	}
	for (; MonoTime.currTime < end;)
	{
		lineOfPartDelegate = __LINE__; sink += each(&nested, sink) + 1;
	}
}

pragma(inline, false) ulong leafThrows(ulong x)
{
	foreach (i; 0 .. 5000)
		x = x * 2862933555777941757UL + i;
	if (x % 2 == 0)
		throw new Exception("even");
	return x;
}

pragma(inline, false) ulong throws(ulong x)
{
	scope (exit)
		sink++;
	lineOfThrows = __LINE__; immutable y = leafThrows(x) + 1;
	return y;
}

pragma(inline, false) void partThrows()
{
	for (; MonoTime.currTime < end;)
	{
		try
		{
			lineOfPartThrows = __LINE__; sink += throws(sink);
		}
		catch (Exception e)
			sink += 3;
	}
}

pragma(inline, false) ulong leafFiber(ulong x)
{
	foreach (i; 0 .. 5000)
		x = x * 3202034522624059733UL + i;
	return x;
}

void inFiber()
{
	for (;;)
	{
		lineOfFiber = __LINE__; sink += leafFiber(sink);
		Fiber.yield();
	}
}

void partFiber()
{
	auto fiber = new Fiber(&inFiber);
	for (; MonoTime.currTime < end;)
		fiber.call();
}

int main(string[] arguments)
{
	immutable part = msecs(arguments.length > 1 ? atoi(arguments[1].ptr) : 100);
	end = MonoTime.currTime + part;
	enum plain = __LINE__; partPlain();
	end = MonoTime.currTime + part;
	enum delegates = __LINE__; partDelegate();
	end = MonoTime.currTime + part;
	enum throwing = __LINE__; partThrows();
	end = MonoTime.currTime + part;
	partFiber();
	printf("chain\ttruth.leafPlain(ulong)\ttruth.folded(ulong):%d\ttruth.calls!(ulong).calls(ulong):%d\ttruth.partPlain():%d\t_Dmain:%d\n",
		lineOfFolded, lineOfCalls, lineOfPlain, plain);
	printf("chain\ttruth.leafDelegate(ulong)\ttruth.partDelegate().nested(ulong):%d\ttruth.each(scope ulong(ulong) delegate, ulong):%d\t" ~
		"truth.partDelegate():%d\t_Dmain:%d\n", lineOfDelegate, lineOfEach, lineOfPartDelegate, delegates);
	printf("chain\ttruth.leafThrows(ulong)\ttruth.throws(ulong):%d\ttruth.partThrows():%d\t_Dmain:%d\n", lineOfThrows, lineOfPartThrows,
		throwing);
	printf("chain\ttruth.leafFiber(ulong)\ttruth.inFiber():%d\n", lineOfFiber);
	return 0;
}
