# Run by gdb: prints each thread and its frames, as gdb unwinds them. Inlined calls and tail calls have no frame on the stack.
import gdb

MOST_FRAMES = 20000

for thread in sorted(gdb.selected_inferior().threads(), key=lambda thread: thread.num):
    thread.switch()
    print("thread", thread.ptid[1])
    frame = gdb.newest_frame()
    count = 0
    while frame is not None and count < MOST_FRAMES:
        if frame.type() not in (gdb.INLINE_FRAME, gdb.TAILCALL_FRAME):
            kind = "signal" if frame.type() == gdb.SIGTRAMP_FRAME else "normal"
            sp = int(frame.read_register("sp")) & (1 << 64) - 1
            print("frame", hex(frame.pc()), hex(sp), kind, (frame.name() or "?").replace(" ", "_"))
        frame = frame.older()
        count += 1
