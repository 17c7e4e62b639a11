package shop;

import java.lang.management.ManagementFactory;

/* Each method spends its time in one loop; what a line should show is in its comment. */
public class Loops {
	static long sink;
	static volatile long a, b, c, d; // their stores take the time, and stay at their line, whatever the processor

	static long first(long n) {
		long sum = 0;
		for (long i = 0; i < n; i++)
			sum += i * i ^ (sum >>> 3); // LINE first
		return sum;
	}

	static long second(long[] values) {
		long sum = 0;
		for (int round = 0; round < 300; round++)
			for (int i = 0; i < values.length; i++)
				sum += mixed(values[i], round); // LINE loop
		return sum;
	}

	/* inlined into second() */
	static long mixed(long value, int round) {
		return (a = value ^ (b = value >>> 7 ^ (c = d = round))); // LINE second
	}

	/* Of this thread, in nanoseconds. */
	static long cpuTime() {
		return ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
	}

	/* Works for as many milliseconds of CPU time as the argument says, so that a busy machine takes as many samples as an idle one. */
	public static void main(String[] args) {
		long end = cpuTime() + Long.parseLong(args[0]) * 1000000L;
		long[] values = new long[4096];
		while (cpuTime() < end) {
			sink += first(2000000);
			sink += second(values);
		}
		System.out.println(sink);
	}
}
