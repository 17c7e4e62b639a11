"""The packets that a processor writes of an execution (suite/pt_program.py): Intel SDM vol. 3, "Intel Processor Trace", trace packets and data
types. Where a packet may be made in several ways, chance decides."""
import struct

from suite import pt_program as code

PSB, PSBEND, OVF, STOP = b"\x02\x82" * 8, b"\x02\x23", b"\x02\xf3", b"\x02\x83"
TIP, TIP_PGE, TIP_PGD, FUP = 0x0d, 0x11, 0x01, 0x1d
TNT_SHORT, TNT_LONG, RETURNS = 6, 47, 64
CTC_RATIO, MTC_SHIFT, BUS = 154, 3, 37
INTERRUPT, FROM_INTERRUPT = 1, 2  # types of CFE packets


class Options:
    """What the processor can, and is set to. Shares are chances for each instruction."""

    def __init__(self, **values):
        self.compress_returns, self.long_bits, self.defer, self.cycles, self.threshold, self.mtc = True, 0.0, False, False, 0, False
        self.user_only, self.events, self.psb_bytes, self.overflow, self.extra, self.overflow_psb, self.excluded = False, False, 2000, 0.0, 0.0, 0.3, ()
        self.kinds, self.addresses, self.trigger, self.ratios = range(10), True, 0.0, 0.0  # addresses: PTWRITE, EXSTOP, BEP are followed by a FUP
        self.guests = False  # virtual machines run: PSB+ says whether one does
        self.guest_offset, self.vmcs = 0, 0x1bff6a  # of a guest's TSC, and the structure that has it
        self.__dict__.update(values)


class Encoder:
    def __init__(self, program, chance, options, tsc):
        self.program, self.chance, self.options = program, chance, options
        self.out, self.bits, self.deferred, self.last, self.returns = bytearray(), [], [], 0, []
        self.first, self.ratio, self.cycle, self.cycle_sent, self.tsc_exact = tsc, BUS, 0, 0, float(tsc)
        self.mtc_sent, self.since_psb, self.tracing, self.in_transaction, self.interrupts_on = tsc // CTC_RATIO >> MTC_SHIFT, 0, False, False, True
        self.known, self.gaps, self.marks, self.psbs, self.mode_sent = 0, [], [], [], False
        self.traced, self.guest = [], False  # of each step; whether a virtual machine runs
        excluded = [program.functions[i] for i in options.excluded]
        self.outside = [(function[0].start, function[-1].start + function[-1].size) for function in excluded]

    # bytes

    def emit(self, packet, eligible=False):
        if eligible and self.options.cycles and self.cycle - self.cycle_sent > self.options.threshold:
            self.out += self.cyc(self.cycle - self.cycle_sent)
            self.cycle_sent = self.cycle
        self.out += packet
        self.marks.append((len(self.out), self.known))

    @staticmethod
    def cyc(value):
        packet, value = [(value & 31) << 3 | 3 | (4 if value >> 5 else 0)], value >> 5
        while value:
            packet.append((value & 127) << 1 | (1 if value >> 7 else 0))
            value >>= 7
        return bytes(packet)

    def address(self, kind, ip, whole=False):
        """A packet with an address, in one of the ways that fit."""
        ways = [(3, 6)] if ip >> 47 in (0, 0x1ffff) else [(6, 8)]
        if not whole:
            ways += [(1, 2)] * 3 if ip >> 16 == self.last >> 16 else []
            ways += [(2, 4)] * 2 if ip >> 32 == self.last >> 32 else []
            ways += [(4, 6)] if ip >> 48 == self.last >> 48 else []
            ways += [(6, 8)]
        way, size = self.chance.choice(ways)
        self.last = ip
        return bytes([kind | way << 5]) + (ip & ((1 << 8 * size) - 1)).to_bytes(size, "little")

    def flush(self):
        while self.bits:
            most = TNT_LONG if self.chance.random() < self.options.long_bits or (self.deferred and len(self.bits) > TNT_SHORT) else TNT_SHORT
            part, self.bits = self.bits[:most], self.bits[most:]
            value = int("1" + "".join(map(str, part)), 2)
            packet = bytes([value << 1]) if len(part) <= TNT_SHORT and most == TNT_SHORT else b"\x02\xa3" + value.to_bytes(6, "little")
            late = not self.bits and not self.deferred
            self.known = self.pending if late else self.known
            self.emit(packet, True)
        for ip in self.deferred:
            self.known = self.pending if ip is self.deferred[-1] else self.known
            self.emit(self.address(TIP, ip))
        self.deferred = []

    def bit(self, value, index):
        self.bits.append(value)
        self.pending = index + 1
        if len(self.bits) >= (TNT_LONG if self.options.long_bits else TNT_SHORT):
            self.flush()

    def far(self, packet):
        """A packet between instructions, behind all branches before it."""
        self.flush()
        self.emit(packet, True)

    def at(self, ip, index):
        """A FUP: instructions up to that address are known, index steps."""
        self.known = index
        self.emit(self.address(FUP, ip))

    # time

    def pass_time(self):
        cycles = self.chance.choice([0, 0, 0, 1, 1, 1, 2, 5, 30])
        self.cycle += cycles
        self.tsc_exact += cycles * BUS / self.ratio
        tsc = int(self.tsc_exact)
        while self.options.mtc and tsc // CTC_RATIO >> MTC_SHIFT > self.mtc_sent:
            self.mtc_sent += 1
            self.emit(b"\x59" + bytes([self.mtc_sent & 0xff]), True)

    def time_packets(self):
        tsc = int(self.tsc_exact)
        shown = tsc + (self.options.guest_offset if self.guest else 0)
        self.emit(b"\x19" + (shown & (1 << 56) - 1).to_bytes(7, "little"))
        if self.options.mtc:
            self.emit(b"\x02\x73" + struct.pack("<HBH", tsc // CTC_RATIO & 0xffff, 0, tsc % CTC_RATIO))
            self.mtc_sent = tsc // CTC_RATIO >> MTC_SHIFT

    def ratio_packet(self):
        return b"\x02\x03" + bytes([self.ratio, 0])

    # states

    def mode(self):
        self.mode_sent = True
        return bytes([0x99, (1 if self.program.bits == 64 else 2) | (4 if self.options.events and self.interrupts_on else 0)])

    def synchronize(self, ip, index):
        self.flush()
        start = len(self.out)
        self.emit(PSB)
        self.last, self.returns, self.since_psb = 0, [], len(self.out)
        self.time_packets()
        self.emit(self.ratio_packet())
        if self.options.guests:
            self.emit(self.paging())
            self.emit(b"\x02\xc8" + self.options.vmcs.to_bytes(5, "little"))
        if self.tracing:
            self.emit(bytes([0x99, 0x20 | self.in_transaction]))
            self.emit(self.mode())
            self.emit(self.address(FUP, ip))
        self.known = index
        self.emit(PSBEND)
        self.psbs.append((start, len(self.out), index))

    def begin(self, ip, index):
        self.tracing = True
        if not self.mode_sent or self.chance.random() < 0.3:
            self.emit(self.mode())
        self.known = index
        self.emit(self.address(TIP_PGE, ip), True)
        self.returns = []

    def end(self, ip, index):
        """ip: None: it leaves the context."""
        self.flush()
        self.known = index
        self.emit(bytes([TIP_PGD]) if ip is None else self.address(TIP_PGD, ip), True)
        self.tracing = False
        if self.chance.random() < 0.1:
            self.emit(STOP)

    def is_outside(self, ip):
        return any(start <= ip < end for start, end in self.outside)

    # packets that are no branch

    def extra_packets(self, ip, index):
        """What may be between two instructions: packets without an effect on the flow, and those that a FUP follows which is no branch."""
        with_ip = self.options.addresses and self.tracing and self.chance.random() < 0.5
        kind = self.chance.choice(self.options.kinds)
        if kind == 0:
            self.far(b"\x02\xc8" + bytes(5))  # VMCS
        elif kind == 1:
            self.far(b"\x02\xc3\x88" + bytes(range(8)))  # MNT
        elif kind == 2:
            self.emit(b"\0" * self.chance.randrange(1, 9))
        elif kind == 3:
            self.far(self.paging())
        elif kind == 4:
            self.far(b"\x02\xe2" if with_ip else b"\x02\x62")  # EXSTOP
        elif kind == 5:
            self.far(b"\x02\x22\x80\x10")  # PWRE
            with_ip = False
        elif kind == 6:
            self.far(b"\x02\xa2\x01\0\0\0\0")  # PWRX
        elif kind == 7 and self.tracing:
            self.far(b"\x02\xc2" + struct.pack("<II", 0x20, 1))  # MWAIT
            with_ip = True
        elif kind == 8:
            self.far(b"\x02\x63\x04")  # a block
            for item in range(3):
                self.emit(bytes([item << 3 | 4]) + struct.pack("<Q", self.chance.randrange(1 << 60)))
            self.emit(b"\x02\xb3" if with_ip else b"\x02\x33")
        elif kind == 9:
            with_ip = self.options.events and self.tracing
            if with_ip:
                self.interrupts_on = not self.interrupts_on
                self.far(self.mode())
        if with_ip and kind in (4, 7, 8, 9):
            self.at(ip, index)

    def write_packet(self, ip, index):
        with_ip = self.options.addresses and self.chance.random() < 0.5
        wide = self.chance.random() < 0.5
        self.far(bytes([2, 0x12 | (0x20 if wide else 0) | (0x80 if with_ip else 0)]) + bytes(range(8 if wide else 4)))
        if with_ip:
            self.at(ip, index)

    def event_packets(self, kind, vector, with_ip):
        if kind == INTERRUPT and self.chance.random() < 0.3:
            self.far(b"\x02\x53\x00" + struct.pack("<Q", 0xdeadbeef))
        self.far(b"\x02\x13" + bytes([kind | (0x80 if with_ip else 0), vector]))

    # branches

    def interruption(self, step, index):
        self.flush()
        if step.guest:
            self.at(step.ip, index)
            self.guest = False
            self.emit(self.paging())
            self.known = index + 1
            self.emit(self.address(TIP, step.to), True)
            return
        aborts = self.in_transaction
        if aborts:
            self.far(b"\x99\x22")
            self.in_transaction = False
        elif self.options.events:
            self.event_packets(INTERRUPT, 14, False)
        self.at(step.ip, index)
        if self.options.user_only and not aborts:
            self.end(None, index)
            return
        if self.options.events and self.interrupts_on and not aborts:
            self.interrupts_on = False
            self.emit(self.mode())
        self.known = index + 1
        self.emit(self.address(TIP, step.to), True)

    def target(self, step, index):
        """An indirect branch, or a far one."""
        options = self.options
        if step.kind == code.ENTRY:
            self.guest = True
            self.far(self.paging())
        if step.kind == code.RETURN and self.returns:
            if self.returns.pop() == step.to and options.compress_returns:
                self.bit(1, index)
                return
        if step.kind == code.INDIRECT_CALL:
            self.push(step.ip + step.size)
        if step.kind == code.INTERRUPT_RETURN and options.events:
            self.event_packets(FROM_INTERRUPT, 0, True)
            self.at(step.ip, index)
            if not self.interrupts_on:
                self.interrupts_on = True
                self.emit(self.mode())
        near = step.kind in (code.INDIRECT_JUMP, code.INDIRECT_CALL, code.RETURN)
        if options.defer and near and self.bits and not options.compress_returns:
            self.deferred.append(step.to)
            self.pending = index + 1
            return
        self.flush()
        self.known = index + 1
        self.emit(self.address(TIP, step.to), True)

    def push(self, ip):
        self.returns.append(ip)
        del self.returns[:-RETURNS]

    def branch(self, step, index):
        kind, leaves = step.kind, self.is_outside(step.to)
        if kind == code.SYSCALL and self.options.user_only:
            self.end(None, index + 1)
            self.begin(step.to, index + 1)
        elif leaves and (step.taken or kind in code.INDIRECT):
            self.end(step.to, index + 1)
        elif kind == code.CONDITIONAL:
            self.bit(int(step.taken), index)
        elif kind == code.CALL:
            self.push(step.ip + step.size)
        elif kind in code.INDIRECT:
            self.target(step, index)
        elif kind == code.WRITE:
            self.write_packet(step.ip, index)
        elif kind in (code.BEGIN, code.COMMIT) and self.in_transaction != (kind == code.BEGIN):
            self.in_transaction = kind == code.BEGIN
            self.far(bytes([0x99, 0x20 | self.in_transaction]))
            self.at(step.ip, index)
        elif kind == code.PAGING:
            self.far(self.paging())

    def paging(self):
        """PIP."""
        return b"\x02\x43" + struct.pack("<Q", self.chance.randrange(1 << 20) << 1 | self.guest)[:6]

    def between(self, step, index):
        """What may come before an instruction."""
        options, chance = self.options, self.chance
        if len(self.out) - self.since_psb > options.psb_bytes and not step.interrupted:
            self.synchronize(step.ip, index)
        if options.extra and chance.random() < options.extra and not step.interrupted:
            self.extra_packets(step.ip, index)
        if options.trigger and chance.random() < options.trigger and self.tracing and not step.interrupted:
            counted = chance.random() < 0.5
            self.far(bytes([0xd9, 0x80 | (0x40 if counted else 0), 1]) + (b"\5\0" if counted else b""))
            self.at(step.ip, index)
        if options.ratios and chance.random() < options.ratios:
            self.ratio = chance.choice([8, 20, 30, 37, 42])
            self.flush()
            self.emit(self.ratio_packet(), True)

    def run(self, steps):
        options, skip_until, lost_until = self.options, None, 0
        self.synchronize(steps[0].ip, 0)
        self.begin(steps[0].ip, 0)
        for index, step in enumerate(steps):
            self.pass_time()
            inside = self.tracing and not self.is_outside(step.ip)
            if skip_until == "return":  # the kernel's code is not traced
                self.traced.append(False)
                if step.kind == code.INTERRUPT_RETURN:
                    skip_until = None
                    if not self.is_outside(step.to):
                        self.begin(step.to, index + 1)
                continue
            self.traced.append(inside and not step.interrupted)
            if not inside:
                enters = not self.is_outside(step.to) and (step.kind is not None or step.interrupted)
                if step.interrupted and options.user_only:
                    skip_until = "return"
                elif enters:
                    self.begin(step.to, index + 1)
                elif len(self.out) - self.since_psb > options.psb_bytes:
                    self.synchronize(0, index)
                continue
            self.between(step, index)
            if options.overflow and self.chance.random() < options.overflow and not step.interrupted and not lost_until:
                self.lose(index)
                lost_until = index + self.chance.randrange(1, 300)
                kept = self.save()
            if step.interrupted:
                self.interruption(step, index)
                if not self.tracing:
                    skip_until = "return"
            elif step.kind is not None:
                self.branch(step, index)
            if lost_until and index >= lost_until and self.tracing and index + 1 < len(steps) and not steps[index + 1].interrupted:
                self.restore(kept)
                lost_until = 0
                self.emit(OVF)
                self.last = 0
                self.resume(steps[index + 1].ip, index + 1)
        if lost_until:
            self.restore(kept)
            self.gaps.append((self.lost_from, len(steps)))
            self.known = len(steps)
        self.flush()
        return bytes(self.out)

    # overflow: what is written until it is over is lost

    def lose(self, index):
        self.lost_from = self.known

    def save(self):
        return len(self.out), len(self.marks), len(self.psbs)

    def restore(self, kept):
        out, marks, psbs = kept
        del self.out[out:], self.marks[marks:], self.psbs[psbs:]
        self.bits, self.deferred, self.returns, self.since_psb = [], [], [], min(self.since_psb, out)

    def resume(self, ip, index):
        self.gaps.append((self.lost_from, index))
        self.known = index
        if self.options.guests or self.chance.random() < self.options.overflow_psb:
            self.synchronize(ip, index)
        self.emit(self.address(FUP, ip, whole=True))
