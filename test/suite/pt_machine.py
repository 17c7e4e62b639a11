"""Random schedules of processes on the CPUs of a machine, and their recording: a trace of user code for each CPU, context switches, and programs that
replace others (exec). All programs are at the same addresses."""
import os
import struct

from suite import pt_program as code
from suite import traces
from suite.pt_packets import BUS, Encoder
from suite.recording import AUX, AUXTRACE, AUXTRACE_INFO, COMM, EXEC, ITRACE_START, MMAP2, SAMPLE, SWITCH_CPU_WIDE, USER, padded, record

ID_INDEX, OUT = 69, 1 << 13
TRACE, SWITCHES, SIDE_BAND = range(3)  # events of the recording that is taken as a pattern


class Process:
    def __init__(self, pid, chance, folder, steps):
        self.pid, self.chance, self.folder, self.steps_each, self.programs = pid, chance, folder, steps, 0
        self.threads = [pid, pid + 1]
        self.load()

    def load(self):
        """Another program begins."""
        self.program = code.Program(self.chance, 6)
        self.name = "program-%d-%d" % (self.pid, self.programs)
        self.programs += 1
        with open(os.path.join(self.folder, self.name), "wb") as file:
            file.write(self.program.elf())
        self.runs = {tid: code.execute(self.program, self.chance, self.steps_each) for tid in self.threads}
        self.done = {tid: 0 for tid in self.threads}


class Cpu:
    def __init__(self, number, program, chance, options, tsc):
        self.number, self.truth, self.running = number, [], (0, 0)
        self.encoder = Encoder(program, chance, options, tsc)
        self.encoder.synchronize(0, 0)

    def now(self):
        return int(self.encoder.tsc_exact)

    def pass_ticks(self, ticks):
        """Of code that is not traced; cycles go on."""
        self.encoder.tsc_exact += ticks
        self.encoder.cycle += ticks * self.encoder.ratio // BUS
        self.encoder.pass_time()

    def run(self, steps, following):
        """Steps of one thread, up to the interrupt in front of another one."""
        encoder = self.encoder
        encoder.begin(steps[0].ip, 0)
        for step in steps:
            encoder.pass_time()
            encoder.between(step, 0)
            if step.kind is not None:
                encoder.branch(step, 0)
        encoder.flush()
        encoder.at(following.ip, 0)
        encoder.end(None, 0)


class Machine:
    """processes run in turns of random lengths; each of them executes another program from time to time."""
    def __init__(self, chance, folder, options, data, turns, steps):
        self.chance, self.data, self.records = chance, data, []
        pattern = list(traces.records(data))
        info = next(one for kind, one in pattern if kind == AUXTRACE_INFO)
        self.shift, self.multiplier, self.zero = struct.unpack_from("<QQQ", info, 24)
        index = next(one for kind, one in pattern if kind == ID_INDEX)
        self.ids = {}  # (event, cpu) → identifier
        for i in range(struct.unpack_from("<Q", index, 8)[0]):
            number, _, cpu, _ = struct.unpack_from("<4Q", index, 16 + 32 * i)
            self.ids[sum(1 for key in self.ids if key[1] == cpu), cpu] = number
        first = next(one for kind, one in pattern if kind == AUXTRACE)
        self.reference = struct.unpack_from("<Q", first, 24)[0]
        start = self.reference - (1 << 20)
        self.processes = [Process(100 * (i + 1), chance, folder, steps) for i in range(3)]
        self.cpus = [Cpu(i, self.processes[0].program, chance, options, start + i * 1000) for i in range(2)]
        self.pattern, self.head = pattern, [one for one in pattern if one[0] >= 64 and one[0] not in (AUXTRACE, 68)]
        for process in self.processes:
            self.begin(process, start - 5000)
        for _ in range(turns):
            self.turn(min(self.cpus, key=Cpu.now))

    def time(self, tsc):
        whole, rest = tsc >> self.shift, tsc & (1 << self.shift) - 1
        return (self.zero + whole * self.multiplier + (rest * self.multiplier >> self.shift)) % (1 << 64)

    def add(self, kind, body, misc, event, cpu, thread, tsc):
        end = struct.pack("<IIQIIQ", *thread, self.time(tsc), cpu, 0, self.ids[event, cpu])
        self.records.append((self.time(tsc), len(self.records), kind, record(kind, body + end, misc)))

    def begin(self, process, tsc):
        pid, text = process.pid, process.program.text
        for tid in process.threads:
            misc = EXEC if tid == pid else 0
            self.add(COMM, struct.pack("<II", pid, tid) + padded(process.name[:15]), misc, SIDE_BAND, 0, (pid, tid), tsc)
        body = struct.pack("<IIQQQIIQQII", pid, pid, process.program.base, len(text) + -len(text) % 4096, 0x1000, 8, 1, pid * 100 + process.programs, 0, 5, 2)
        self.add(MMAP2, body + padded("/" + process.name), USER, SIDE_BAND, 0, (pid, pid), tsc)

    def turn(self, cpu):
        """A thread that runs on no other CPU gets this one."""
        busy = [other.running[1] for other in self.cpus if other is not cpu]
        pairs = [(process, tid) for process in self.processes for tid in process.threads if tid not in busy]
        process, tid = self.chance.choice(pairs)
        thread = (process.pid, tid)
        cpu.pass_ticks(self.chance.randrange(3000, 9000))
        if thread != cpu.running:
            tsc = cpu.now()
            self.add(SWITCH_CPU_WIDE, struct.pack("<II", *thread), OUT, SWITCHES, cpu.number, cpu.running, tsc)
            self.add(SWITCH_CPU_WIDE, struct.pack("<II", *cpu.running), 0, SWITCHES, cpu.number, thread, tsc + 40)
            cpu.running = thread
        if not any(other in busy for other in process.threads) and self.chance.random() < 0.15:
            process.load()
            self.begin(process, cpu.now() + 80)
        cpu.pass_ticks(self.chance.randrange(3000, 9000))
        run, at = process.runs[tid], process.done[tid]
        count = self.chance.choice([1, 2, 10, 100, 1000])
        if at + count + 1 >= len(run):
            at = 0  # another execution of the same program
        steps = run[at:at + count]
        process.done[tid] = at + len(steps)
        cpu.truth += [(tid, step.ip) for step in steps]
        cpu.run(steps, run[at + len(steps)])

    def write(self, path):
        """Packets first, then records in their order."""
        changed, last = list(self.head), max(cpu.now() for cpu in self.cpus)
        for cpu in self.cpus:
            packets = bytes(cpu.encoder.out)
            size = len(packets) + -len(packets) % 8
            body = struct.pack("<QQQIIII", size, 0, last, cpu.number, 0xffffffff, cpu.number, 0)
            changed.append((AUXTRACE, struct.pack("<IHH", AUXTRACE, 0, 8 + len(body)) + body + packets.ljust(size, b"\0")))
            self.add(ITRACE_START, struct.pack("<II", *cpu.running), 0, TRACE, cpu.number, cpu.running, self.reference - (1 << 20) - 100)
            self.add(AUX, struct.pack("<QQQ", 0, len(packets), 0), 0, TRACE, cpu.number, cpu.running, last)
        changed += [(kind, one) for _, _, kind, one in sorted(self.records) if kind != SAMPLE]
        traces.write(path, self.data, changed)
