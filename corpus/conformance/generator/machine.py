"""Simulated machines that call functions: the stack is built forwards, as code does it, so that the right frames of a
walk are known without any row."""

from machines import AMD64, S390X

MASK = (1 << 64) - 1
# A pointer-authentication code in the bits above an address of 48 bits. Bit 55 stays that of the address, its neighbours
# do not.
CODE_BITS = 0xA56B << 48
# A register that holds no return address (any longer).
UNUSED = 0x99_9999
# The value of other words in a frame, and the largest distance that they fill.
LOCAL, LOCALS = 0xDDDD_DDDD_DDDD_DDD0, 0x100


class Machine:
    """Registers and memory. `frames` has the frames that a walk has to find, innermost last, without the running one."""

    def __init__(self, machine, sp, fp):
        self.machine, self.sp, self.fp, self.ra = machine, sp, fp, UNUSED
        self.memory, self.frames = {}, []
        self.extra = {}

    def put(self, address, value):
        self.memory[address] = value & MASK

    def call(self, return_address):
        """A call: the caller goes on at `return_address`, with the registers of now."""
        self.frames.append((return_address, self.sp, self.fp))
        if self.machine is AMD64:
            self.sp -= 8
            self.put(self.sp, return_address)
        else:
            self.ra = return_address

    def prologue(self, signed=False):
        """Saves FP (and RA), sets FP, and makes room for locals."""
        if self.machine is AMD64:
            self.sp -= 8
            self.put(self.sp, self.fp)
            self.fp = self.sp
            self.sp -= 16
        elif self.machine is S390X:
            # stmg %r11,%r15,88(%r15); aghi %r15,-160; lgr %r11,%r15
            self.put(self.sp + 88, self.fp)
            self.put(self.sp + 112, self.ra)
            self.sp -= 160
            self.fp = self.sp
        else:
            # stp x29, x30, [sp, #-32]!; mov x29, sp
            self.sp -= 32
            self.put(self.sp, self.fp)
            self.put(self.sp + 8, self.ra ^ CODE_BITS if signed else self.ra)
            self.fp = self.sp
        self.ra = UNUSED

    def registers(self):
        found = {self.machine.sp: self.sp, self.machine.fp: self.fp} | self.extra
        if self.machine is not AMD64:
            found[self.machine.ra] = self.ra
        return {str(number): hex(value) for number, value in sorted(found.items())}

    def image(self):
        """The memory as pieces of at most two words, in no order: a piece may begin where another ends."""
        pieces, known = [], dict(self.memory)
        for address, after in zip(sorted(self.memory), sorted(self.memory)[1:]):
            # Locals fill small gaps.
            if after - address <= LOCALS:
                known |= {between: LOCAL for between in range(address + 8, after, 8)}
        for address in sorted(known):
            word = known[address].to_bytes(8, self.machine.order)
            if pieces and len(pieces[-1][1]) < 16 and pieces[-1][0] + 8 == address:
                pieces[-1][1] += word
            else:
                pieces.append([address, word])
        return [{"address": hex(address), "hex": data.hex()} for address, data in pieces[1::2][::-1] + pieces[::2]]

    def walk(self, title, pc, end, frames=None, others=(), **more):
        """The walk from the running function, at `pc`."""
        if frames is None:
            frames = [(pc, self.sp, self.fp), *reversed(self.frames)]
        item = {"title": title, "pc": hex(pc), "registers": self.registers(), "memory": self.image(), **more}
        item["expect"] = walked(frames, end)
        if others:
            item["or"] = [walked(*other) for other in others]
        return item


def walked(frames, end):
    named = [{"pc": hex(pc), "sp": hex(sp), "fp": hex(fp)} for pc, sp, fp in frames]
    return {"frames": named, "end": end}
