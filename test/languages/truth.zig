// Generic functions, errors that are returned, inlined calls, a thread; it says of each leaf what calls it, as truth.go does.
const std = @import("std");

var sink: u64 = 1;
var end: i128 = 0;
var lines = [_]u32{0} ** 10;

fn timeLeft() bool {
    return std.time.nanoTimestamp() < end;
}

noinline fn leafPlain(start: u64) u64 {
    var x = start;
    for (0..5000) |i| x = x *% 6364136223846793005 +% i;
    return x;
}

inline fn folded(x: u64) u64 {
    lines[0] = @src().line; const y = leafPlain(x) ^ x;
    return y;
}

fn Box(comptime T: type) type {
    return struct {
        value: T,
        noinline fn get(self: *@This()) T {
            var room = [_]T{self.value} ** 100;
            lines[1] = @src().line; self.value +%= folded(self.value);
            room[@as(usize, @intCast(self.value % 100))] = self.value;
            return room[@as(usize, @intCast(sink % 100))];
        }
    };
}

noinline fn partPlain() void {
    var box = Box(u64){ .value = 3 };
    while (timeLeft()) {
        lines[2] = @src().line; sink +%= box.get();
        sink +%= 1;
    }
}

noinline fn leafFails(start: u64) !u64 {
    var x = start;
    for (0..5000) |i| x = x *% 2862933555777941757 +% i;
    if (x % 2 == 0) return error.Even;
    return x;
}

noinline fn tries(x: u64) !u64 {
    lines[3] = @src().line; const y = try leafFails(x);
    return y +% 1;
}

noinline fn partFails() void {
    while (timeLeft()) {
        lines[4] = @src().line; sink +%= tries(sink) catch 3;
        sink +%= 1;
    }
}

noinline fn leafThread(start: u64) u64 {
    var x = start;
    for (0..5000) |i| x = x *% 3202034522624059733 +% i;
    return x;
}

fn inThread(add: u64) void {
    while (timeLeft()) {
        lines[5] = @src().line; sink +%= leafThread(sink) +% add;
        sink +%= 1;
    }
}

fn begin(arguments: [][:0]u8) i128 {
    const ms = if (arguments.len > 1) std.fmt.parseInt(u32, arguments[1], 10) catch 100 else 100;
    return std.time.nanoTimestamp() + @as(i128, ms) * 1000000;
}

pub fn main() !void {
    const arguments = try std.process.argsAlloc(std.heap.page_allocator);
    end = begin(arguments);
    lines[6] = @src().line; partPlain();
    end = begin(arguments);
    lines[7] = @src().line; partFails();
    end = begin(arguments);
    const thread = try std.Thread.spawn(.{}, inThread, .{5});
    thread.join();
    const out = std.io.getStdOut().writer();
    try out.print("chain\ttruth.leafPlain\ttruth.folded:{}\ttruth.Box(u64).get:{}\ttruth.partPlain:{}\ttruth.main:{}\n", .{ lines[0], lines[1], lines[2], lines[6] });
    try out.print("chain\ttruth.leafFails\ttruth.tries:{}\ttruth.partFails:{}\ttruth.main:{}\n", .{ lines[3], lines[4], lines[7] });
    try out.print("chain\ttruth.leafThread\ttruth.inThread:{}\n", .{lines[5]});
}
