"""Random programs, random executions of them, and the packets by which a processor traces these (Intel SDM vol. 3, "Intel Processor Trace"). No
program is run: an execution is a walk through the blocks of code, whose branches chance decides."""
import struct

CODE = 0x400000
PLAIN = [bytes.fromhex(text) for text in (  # instructions that are no branches
    "90 4889d8 31c0 83c001 8b442410 48894424f8 0f1f4000 660f1f840000000000 488d05f0ffffff 0fafc1 f20f58c1 c5f858c1 62f17c4858c1 "
    "f3a4 48b88877665544332211 66b83412 b878563412 8d8480f0f0f0f0 6a05 53 5b 0f94c0 480f44c1 9c 9d 65488b042528000000 0fb6c0 "
    "c4e2791800 660fef00 81f978563412 f00fb111 99 4863c8 c1e003 d1e8 f7d8 a801 85c0 39d8").split()]
PLAIN_32 = [bytes.fromhex(text) for text in (  # of 32-bit code: some are prefixes or other instructions in 64-bit code
    "90 89d8 31c0 83c001 8b442410 894424f8 0f1f4000 660f1f840000000000 8d05f0ffffff 0fafc1 f20f58c1 c5f858c1 62f17c4858c1 f3a4 66b83412 "
    "b878563412 8d8480f0f0f0f0 6a05 53 5b 0f94c0 0f44c1 9c 9d 65a128000000 0fb6c0 c4e2791800 660fef00 81f978563412 f00fb111 99 c1e003 d1e8 "
    "f7d8 a801 85c0 39d8 40 48 4f 60 61 27 37 d50a 6211 c511 c411 678b4410 67a13412 a178563412 66683412 6878563412 c8100000 c9 1e 1f 0fa0 82c001").split()]
CONDITIONAL, JUMP, CALL, INDIRECT_JUMP, INDIRECT_CALL, RETURN, SYSCALL, FALL, CALL_NEXT, INTERRUPT_RETURN, WRITE, FAR_CALL, FAR_RETURN, BEGIN, COMMIT, PAGING, ENTRY = range(17)
FAR = (SYSCALL, INTERRUPT_RETURN, FAR_CALL, FAR_RETURN, ENTRY)
INDIRECT = (INDIRECT_JUMP, INDIRECT_CALL, RETURN) + FAR


ENDS_32 = {INDIRECT_JUMP: [b"\xff\xe0", b"\xff\x24\x85\x10\0\0\0", b"\x3e\xff\xe0", b"\x67\xff\x64\x10"],
           INDIRECT_CALL: [b"\xff\xd0", b"\xff\x15\x10\x20\0\0", b"\xff\x55\x08"], SYSCALL: [b"\xcd\x80", b"\x0f\x34"], INTERRUPT_RETURN: [b"\xcf"],
           WRITE: [b"\xf3\x0f\xae\xe0", b"\xf3\x0f\xae\x20"], FAR_CALL: [b"\xff\x1c\x24", b"\x9a\x78\x56\x34\x12\x23\0"], FAR_RETURN: [b"\xcb"]}


class Block:
    def __init__(self, kind):
        self.kind, self.plain, self.end, self.start, self.size = kind, [], b"", 0, 0
        self.targets = []  # blocks: what it jumps to or calls


class Program:
    """Functions, lists of blocks; the last function handles interrupts. Calls lead to later functions, or to the own one."""

    def __init__(self, chance, functions=12, kinds=(), bits=64, base=CODE):
        self.bits, self.base = bits, base if bits == 64 else chance.choice([CODE, 0x8048000, 0xf7000000])
        self.functions = [self._function(chance, kinds, i, functions) for i in range(functions)]
        for i, function in enumerate(self.functions):
            self._join(chance, i, function)
        self.blocks = [block for function in self.functions for block in function]
        self._lay_out(chance)

    def _function(self, chance, kinds, index, count):
        usual = [CONDITIONAL] * 6 + [JUMP, CALL, CALL, INDIRECT_JUMP, INDIRECT_CALL, FALL, CALL_NEXT] + list(kinds)
        if index == count - 1:
            usual = [CONDITIONAL] * 3 + [FALL]
        elif index == count - 2:
            usual = [kind for kind in usual if kind not in (CALL, INDIRECT_CALL, FAR_CALL)]
        blocks = [Block(chance.choice(usual)) for _ in range(chance.randrange(3, 14))]
        last = INDIRECT_JUMP if index == 0 else INTERRUPT_RETURN if index == count - 1 else FAR_RETURN if index == count - 3 and FAR_CALL in kinds else RETURN
        blocks.append(Block(last))
        for block in blocks:
            block.plain = [chance.choice(PLAIN if self.bits == 64 else PLAIN_32) for _ in range(chance.choice([0, 0, 1, 2, 3, 5, 9, 40]))]
        return blocks

    def _join(self, chance, index, function):
        """Jumps lead forward, conditional ones backward, too; so each function ends."""
        far = self.functions[-3]  # its last block may be a far return
        later = [other[0] for other in self.functions[index + 1:-1] if other is not far or far[-1].kind != FAR_RETURN]
        for at, block in enumerate(function):
            ahead = function[at + 1:]
            if block.kind == CONDITIONAL:
                block.targets = [chance.choice(function)]
            elif block.kind in (JUMP, INDIRECT_JUMP):
                block.targets = [chance.choice(ahead) for _ in range(4)] if ahead else [function[0]]
            elif block.kind in (CALL, INDIRECT_CALL):
                block.targets = [chance.choice(later) for _ in range(3)] if later else []
                block.kind = block.kind if later else FALL
            elif block.kind == FAR_CALL:
                block.targets = [far[0]]
                block.kind = FAR_CALL if index < len(self.functions) - 3 else FALL

    def _end(self, chance, block):
        kind = block.kind
        if self.bits == 32 and kind in ENDS_32:
            return chance.choice(ENDS_32[kind])
        return {CONDITIONAL: b"", JUMP: b"", CALL: b"\xe8\0\0\0\0", CALL_NEXT: b"\xe8\0\0\0\0", FALL: b"",
                INDIRECT_JUMP: chance.choice([b"\xff\xe0", b"\x41\xff\xe3", b"\xff\x24\xc5\x10\0\0\0", b"\x3e\xff\xe0"]),
                INDIRECT_CALL: chance.choice([b"\xff\xd0", b"\xff\x15\x10\x20\0\0", b"\x41\xff\x55\x08"]),
                RETURN: chance.choice([b"\xc3", b"\xc3", b"\xf3\xc3", b"\xc2\x10\0"]), SYSCALL: chance.choice([b"\x0f\x05", b"\xcd\x80", b"\x0f\x34"]),
                INTERRUPT_RETURN: b"\x48\xcf", WRITE: chance.choice([b"\xf3\x0f\xae\xe0", b"\xf3\x48\x0f\xae\x20"]), FAR_CALL: b"\x48\xff\x1c\x24",
                FAR_RETURN: b"\x48\xcb", BEGIN: b"\xc7\xf8\x10\0\0\0", COMMIT: b"\x0f\x01\xd5", PAGING: b"\x0f\x22\xd8",
                ENTRY: chance.choice([b"\x0f\x01\xc2", b"\x0f\x01\xc3"])}[kind]

    def _lay_out(self, chance):
        for block in self.blocks:
            block.end = self._end(chance, block)
        wide = set()
        while True:
            at = self.base
            for block in self.blocks:
                block.start = at
                end = len(block.end) if block.kind not in (CONDITIONAL, JUMP) else 2 if block not in wide else 5 if block.kind == JUMP else 6
                block.size = sum(map(len, block.plain)) + end
                at += block.size
            far = {block for block in self.blocks if block.kind in (CONDITIONAL, JUMP) and block not in wide and
                   not -128 <= block.targets[0].start - block.start - block.size < 128}
            if not far:
                break
            wide |= far
        for i, block in enumerate(self.blocks):
            block.next = self.blocks[i + 1] if i + 1 < len(self.blocks) else None
            behind = block.start + block.size
            if block.kind in (CONDITIONAL, JUMP, CALL):
                block.target = block.targets[0]
                relative = block.target.start - behind
                wide_end = {CONDITIONAL: b"\x0f" + bytes([0x80 + chance.randrange(16)]), JUMP: b"\xe9", CALL: b"\xe8"}[block.kind]
                short_end = bytes([chance.choice([0x70 + chance.randrange(16), 0xe2, 0xe3, 0xe1])]) if block.kind == CONDITIONAL else b"\xeb"
                block.end = wide_end + struct.pack("<i", relative) if block in wide or block.kind == CALL else short_end + struct.pack("<b", relative)
        self.text = b"".join(b"".join(block.plain) + block.end for block in self.blocks)

    def elf(self):
        header = struct.pack("<16sHHIQQQIHHHHHH", b"\x7fELF\x02\x01\x01", 2, 62, 1, self.base, 64, 0, 0, 64, 56, 1, 0, 0, 0)
        segment = struct.pack("<IIQQQQQQ", 1, 5, 0x1000, self.base, self.base, len(self.text), len(self.text), 0x1000)
        return (header + segment).ljust(0x1000, b"\0") + self.text


class Step:
    """An instruction: where it is, where execution goes on, what it is (None: no end of a block); interrupted: instead of it; guest: of a virtual
    machine, whose code is the same program's."""
    __slots__ = ("ip", "to", "kind", "taken", "size", "interrupted", "guest")

    def __init__(self, ip, to, kind, taken, size, interrupted=False, guest=False):
        self.ip, self.to, self.kind, self.taken, self.size, self.interrupted, self.guest = ip, to, kind, taken, size, interrupted, guest


def execute(program, chance, count, interrupts=0.0, unwound=0.0):
    """Steps of an execution. unwound: chance that a return leads elsewhere, behind an older call."""
    steps, stack, block, handler = [], [], program.functions[0][0], program.functions[-1]

    def straight(block, codes, at):
        """Passes instructions, each of which may be interrupted."""
        for code in codes:
            if interrupts and chance.random() < interrupts:
                steps.append(Step(at, handler[0].start, None, False, 0, True))
                run(handler[0], at)
            steps.append(Step(at, at + len(code), None, False, len(code)))
            at += len(code)
        return at

    def run(block, resumed):
        """The handler, up to its return."""
        while True:
            at = block.start
            for code in block.plain:
                steps.append(Step(at, at + len(code), None, False, len(code)))
                at += len(code)
            if block.kind == INTERRUPT_RETURN:
                steps.append(Step(at, resumed, block.kind, True, len(block.end)))
                return
            taken = block.kind == CONDITIONAL and chance.random() < 0.4
            to = block.target if taken else block.next
            if block.end:
                steps.append(Step(at, to.start, block.kind, taken, len(block.end)))
            block = to

    def run_guest(back):
        """Instructions of a virtual machine, up to its exit to the host."""
        block, left = handler[0], chance.choice([1, 2, 5, 30, 200])
        while True:
            at, taken = block.start, False
            for code in block.plain + [block.end] * bool(block.end):
                if not left:
                    steps.append(Step(at, back, None, False, 0, True, True))
                    return
                left -= 1
                ends = code is block.end
                taken = ends and (block.kind == INTERRUPT_RETURN or (block.kind == CONDITIONAL and chance.random() < 0.4))
                to = at + len(code)
                if taken:
                    to = handler[0].start if block.kind == INTERRUPT_RETURN else block.target.start
                steps.append(Step(at, to, block.kind if ends else None, taken, len(code), guest=True))
                at += len(code)
            block = handler[0] if block.kind == INTERRUPT_RETURN else block.target if taken else block.next

    while len(steps) < count:
        at = straight(block, block.plain, block.start)
        if interrupts and chance.random() < interrupts:
            steps.append(Step(at, handler[0].start, None, False, 0, True))
            run(handler[0], at)
        to, taken = block.next, False
        if block.kind == CONDITIONAL:
            taken = chance.random() < 0.45
            to = block.target if taken else block.next
        elif block.kind == JUMP:
            to, taken = block.target, True
        elif block.kind == INDIRECT_JUMP:
            to, taken = chance.choice(block.targets), True
        elif block.kind in (CALL, INDIRECT_CALL, FAR_CALL):
            stack.append(block.next)
            to, taken = block.target if block.kind == CALL else chance.choice(block.targets), True
        elif block.kind == CALL_NEXT:
            taken = True
        elif block.kind == ENTRY:
            steps.append(Step(at, handler[0].start, ENTRY, True, len(block.end)))
            run_guest(block.next.start)
            block = block.next
            continue
        elif block.kind in (RETURN, FAR_RETURN):
            if block.kind == RETURN and len(stack) > 1 and chance.random() < unwound:
                del stack[-1]
            to, taken = stack.pop(), True
        if block.end:
            steps.append(Step(at, to.start, block.kind, taken, len(block.end)))
        block = to
    return steps
