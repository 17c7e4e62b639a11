"""Known executions as packets of Intel PT, with other parameters than those of their recordings: periods of MTC and PSB packets, thresholds of CYC
packets, lengths of TNT packets, compression of returns. Source: Intel SDM, volume 3, "Intel Processor Trace", packet definitions."""
import struct

from suite.recording import AUX, AUXTRACE
from suite.traces import records, write

CONDITIONAL, JUMP, CALL, INDIRECT, INDIRECT_CALL, RETURN, SYSCALL, SYSTEM_RETURN = range(1, 9)
RATIO = 154                      # ticks of the TSC in one of the crystal's clock
NOMINAL = 37                     # the frequency of the TSC, as CBR packets count
PSB = b"\x02\x82" * 8
CYC_BIT, MTC_BIT, TSC_BIT, NO_RETURNS_BIT, BRANCH_BIT = 1 << 1, 1 << 9, 1 << 10, 1 << 11, 1 << 13
STACK = 64


class Settings:
    """threshold: of CYC packets, as the PMU's cyc_thresh; mtc: the period of MTC packets as a power of two, None: no such packets; psb: bytes between PSB
    packets; returns: are compressed; run: cycles and MTC packets go on while code is not traced; long_bits: TNT packets have up to 47 branches;
    lost: numbers of entries [from, to) whose packets overflow the processor's buffer; paging: addresses of the moves to CR3."""
    def __init__(self, threshold=0, mtc=3, psb=16384, returns=True, run=True, long_bits=False, lost=(), paging=()):
        self.threshold, self.mtc, self.psb, self.returns, self.run, self.long_bits = threshold, mtc, psb, returns, run, long_bits
        self.lost, self.paging = lost, paging

    def config(self):
        value = 1 | BRANCH_BIT | TSC_BIT | CYC_BIT | 3 << 24 | self.threshold << 19
        value |= (MTC_BIT | self.mtc << 14) if self.mtc is not None else 0
        return value | (0 if self.returns else NO_RETURNS_BIT)


class Encoder:
    def __init__(self, settings, kernel):
        self.s, self.kernel, self.out = settings, kernel, bytearray()
        self.bits, self.stack, self.last_ip = [], [], 0
        self.cycle = self.tsc = None      # at the last CYC packet; at the last instruction
        self.at_cycle = self.first_bit = 0
        self.traced, self.counted = [], 0 # of each instruction: its cycle on the axis of cycles that are counted in traced code; how many so far
        self.tracing, self.last_psb, self.ratio = False, 0, NOMINAL

    def put(self, data):
        self.out += data

    def put_cycles(self, cycle):
        if self.cycle is None:
            self.cycle = cycle
        count = cycle - self.cycle
        if count < max(1, 1 << self.s.threshold >> 1):
            return
        self.cycle = cycle
        self.counted += count if self.tracing else 0
        data = [(count & 31) << 3 | 3]
        count >>= 5
        if count:
            data[0] |= 4
        while count:
            data.append((count & 127) << 1 | (count >> 7 > 0))
            count >>= 7
        self.put(bytes(data))

    def put_bits(self):
        """The cycles before a TNT packet are those of its first branch."""
        if self.bits:
            self.put_cycles(self.first_bit)
            value = 1
            for bit in self.bits:
                value = value << 1 | bit
            if len(self.bits) <= 6:
                self.put(bytes([value << 1]))
            else:
                self.put(b"\x02\xa3" + value.to_bytes(6, "little"))
            self.bits = []

    def put_bit(self, bit, cycle):
        if not self.bits:
            self.first_bit = cycle
        self.bits.append(bit)
        if len(self.bits) == (47 if self.s.long_bits else 6):
            self.put_bits()

    def put_address(self, kind, ip, cycle=None):
        if cycle is not None:
            self.put_bits()
            self.put_cycles(cycle)
        if ip is None:
            self.put(bytes([kind]))
            return
        same = self.last_ip ^ ip
        size, code = (2, 1) if same < 1 << 16 else (4, 2) if same < 1 << 32 else (6, 3)
        if code == 3 and (ip >> 47) not in (0, 0x1ffff):
            size, code = 8, 6
        self.last_ip = ip
        self.put(bytes([kind | code << 5]) + (ip & ((1 << 8 * size) - 1)).to_bytes(size, "little"))

    def put_time(self):
        tsc = self.tsc
        self.put(b"\x19" + (tsc & ((1 << 56) - 1)).to_bytes(7, "little"))
        if self.s.mtc is not None:
            clock = tsc // RATIO
            self.put(struct.pack("<BBHBHx", 2, 0x73, clock & 0xffff, 0, tsc - clock * RATIO)[:7])
        self.put(bytes((2, 3, self.ratio, 0)))

    def pass_ratio(self, entries, number):
        """A CBR packet where the frequency changes."""
        part = [entries[i] for i in range(number, min(number + 1001, len(entries)), 100)]
        rates = [(b[3] - a[3]) / (b[2] - a[2]) for a, b in zip(part, part[1:]) if b[2] > a[2] + 10]
        ratio = round(NOMINAL * sorted(rates)[len(rates) * 3 // 4]) if rates else self.ratio
        if ratio != self.ratio:
            self.ratio = ratio
            if self.tsc is not None:
                self.put_bits()
                self.put_cycles(self.at_cycle)
                self.put(bytes((2, 3, self.ratio, 0)))

    def put_psb(self, ip):
        self.put_bits()
        self.put_cycles(self.at_cycle)
        self.put(PSB)
        self.put_time()
        self.stack, self.last_ip = [], 0
        if self.tracing:
            self.put(b"\x99\x01")
            self.put_address(0x1d, ip)
        self.put(b"\x02\x23")
        self.last_psb = len(self.out)

    def pass_time(self, tsc, cycle):
        """MTC packets up to the time of an instruction."""
        if self.s.mtc is None or not (self.tracing or self.s.run):
            return
        period = RATIO << self.s.mtc
        at = (self.tsc // period + 1) * period
        while at <= tsc:
            now = self.at_cycle + (cycle - self.at_cycle) * (at - self.tsc) // max(tsc - self.tsc, 1)
            self.put_bits()
            self.put_cycles(now)
            self.put(bytes((0x59, at // period & 0xff)))
            at += period

    def begin(self, ip, cycle):
        if not self.s.run:
            self.cycle = cycle
        self.put_cycles(cycle)
        self.put(b"\x99\x01")
        self.put_address(0x11, ip)
        self.tracing = True

    def leave(self, prev, ip, cycle):
        """What is between two instructions that do not follow each other, or an interrupt."""
        if prev[6] == SYSCALL and not self.kernel:
            return  # its packet shows that
        expected = prev[1] or prev[0] + prev[5]
        self.put_address(0x1d, expected, cycle)
        if self.kernel:
            self.put_address(0x0d, ip)
        else:
            self.put_address(0x01, None)
            self.tracing = False

    def overflow(self, ip, tsc, cycle):
        """The packets before it are complete, and those of the lost entries are not there: tracing goes on at ip."""
        self.put_bits()
        self.put(b"\x02\xf3")
        self.stack, self.cycle, self.tsc, self.at_cycle = [], cycle, tsc, cycle
        self.put_address(0x1d if self.tracing else 0x11, ip)
        self.tracing = True

    def branch(self, entry):
        ip, target, _, cycle, _, length, kind, flags, _ = entry
        if ip in self.s.paging:
            self.put_bits()
            self.put_cycles(cycle)
            self.put(b"\x02\x43" + bytes(6))
        if kind == CONDITIONAL:
            self.put_bit(bool(target) if not flags & 4 else 1, cycle)
        elif kind in (INDIRECT, INDIRECT_CALL):
            self.put_address(0x0d, target, cycle)
        elif kind == RETURN:
            if self.s.returns and self.stack and self.stack[-1] == target:
                self.put_bit(1, cycle)
            else:
                self.put_address(0x0d, target, cycle)
            if self.stack:
                self.stack.pop()
        elif kind in (SYSCALL, SYSTEM_RETURN):
            if self.kernel:
                self.put_address(0x0d, target, cycle)
            else:
                self.put_address(0x01, None, cycle)
                self.tracing = False
        if kind in (CALL, INDIRECT_CALL) and target != ip + length:
            self.stack = self.stack[-STACK + 1:] + [ip + length]

    def run(self, entries):
        """An entry: ip, target, tsc, cycle, tid, length, kind, flags, cpu."""
        prev = None
        for number, entry in enumerate(entries):
            ip, tsc, cycle = entry[0], entry[2], entry[3]
            if number % 1000 == 0:
                self.pass_ratio(entries, number)
            if self.tsc is None:
                self.tsc, self.at_cycle = tsc, cycle
                self.put_psb(ip)
            losing = any(start <= number < end for start, end in self.s.lost)
            if any(number == end for _, end in self.s.lost):
                self.overflow(ip, tsc, cycle)
                prev = None
            if losing:
                continue
            before = self.at_cycle
            other = prev and (prev[4] != entry[4] or ip != (prev[1] or prev[0] + prev[5]) or entry[7] & 8)
            if other and self.tracing:
                self.leave(prev, ip, before)
            self.pass_time(tsc, cycle)
            if not self.tracing:
                self.begin(ip, cycle)
            self.tsc, self.at_cycle = tsc, cycle
            self.traced.append(self.counted + cycle - self.cycle)
            self.branch(entry)
            if len(self.out) - self.last_psb > self.s.psb:
                self.put_psb(entry[1] or ip + entry[5])
            prev = entry
        self.put_bits()
        if self.tracing:
            self.put_address(0x1d, prev[1] or prev[0] + prev[5], self.at_cycle)
            self.put_address(0x01, None)
        return bytes(self.out)


def rewrite(path, data, trace, settings, config):
    """The recording `data` of one CPU or thread, whose event has `config`, with another trace."""
    changed, seen = [], set()
    for kind, record in records(data):
        if kind in (AUXTRACE, AUX):
            if kind in seen:
                continue
            seen.add(kind)
            size = len(trace) + -len(trace) % 8 if kind == AUXTRACE else len(trace)
            place = struct.pack("<QQ", size, 0) if kind == AUXTRACE else struct.pack("<QQ", 0, size)
            record = record[:8] + place + (record[24:48] + trace + bytes(-len(trace) % 8) if kind == AUXTRACE else record[24:])
        changed.append((kind, record))
    write(path, data, changed)
    with open(path, "r+b") as file:
        whole = file.read().replace(struct.pack("<Q", config), struct.pack("<Q", settings.config()))
        file.seek(0)
        file.write(whole)
