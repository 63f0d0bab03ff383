use super::*;

/// A call from a frame whose stack pointer is `sp`, with the return address `ra`.
const fn from(ra: u64, sp: u64) -> Caller {
    Caller { ra, sp, fp: 0 }
}

/// The frames of `main` (SP 0x1000), `f` (SP 0xf00) and `g`.
fn three() -> ShadowStack {
    let mut stack = ShadowStack::default();
    for caller in [from(0x10, 0x2000), from(0x20, 0x1000), from(0x30, 0xf00)] {
        stack.call(caller, 0);
    }
    stack
}

#[test]
fn returns_undo_calls() {
    let mut stack = three();
    assert_eq!(stack.truth(), Truth::Called(from(0x30, 0xf00)));
    assert_eq!(stack.limit(), 0xf00);
    stack.ret(0x30, 0xf00, 0xf00);
    assert_eq!(stack.truth(), Truth::Called(from(0x20, 0x1000)));
    stack.ret(0x20, 0x1000, 0x1000);
    stack.ret(0x10, 0x2000, 0x2000);
    assert_eq!(stack.truth(), Truth::Outermost);
    assert_eq!(stack.limit(), u64::MAX);
}

/// The called function replaces the frame, and returns for it.
#[test]
fn tail_calls_keep_the_frame() {
    let mut stack = three();
    stack.jump(0x500, 0xef8);
    stack.indirect_jump(0x600, 0xef8);
    assert_eq!(stack.truth(), Truth::Called(from(0x30, 0xf00)));
    stack.ret(0x30, 0xf00, 0xf00);
    assert_eq!(stack.truth(), Truth::Called(from(0x20, 0x1000)));
}

/// `pop %rcx; jmp *%rcx` returns; the same jump to another address leaves the frame.
#[test]
fn jumps_can_be_returns() {
    let mut stack = three();
    stack.indirect_jump(0x30, 0xf00);
    assert_eq!(stack.truth(), Truth::Called(from(0x20, 0x1000)));
    stack.indirect_jump(0x700, 0x1000);
    assert_eq!(stack.truth(), Truth::Unknown(Doubt::FrameLeft));
}

/// `ret $16` removes arguments.
#[test]
fn returns_can_remove_arguments() {
    let mut stack = three();
    stack.ret(0x30, 0xf00, 0xf10);
    assert_eq!(stack.truth(), Truth::Called(from(0x20, 0x1000)));
}

/// A retpoline: `call 1f; 1: mov %rax, (%rsp); ret` jumps to the function in rax, which returns to the thunk's caller.
#[test]
fn a_replaced_return_address_is_a_jump() {
    let mut stack = three();
    stack.call(from(0x40, 0xef8), 0);
    stack.ret(0x900, 0xef8, 0xef8);
    assert_eq!(stack.truth(), Truth::Called(from(0x30, 0xf00)));
    // Here SP is not where the function's return address would be.
    stack.ret(0x900, 0xf00, 0xf00);
    assert_eq!(stack.truth(), Truth::Unknown(Doubt::OtherReturn));
    // The caller of `f` is found again.
    stack.ret(0x20, 0x1000, 0x1000);
    assert_eq!(stack.truth(), Truth::Called(from(0x10, 0x2000)));
}

/// `longjmp` loads SP and jumps to the return address of `setjmp`, in a frame that has made another call since.
#[test]
fn a_long_jump_leaves_frames() {
    let mut stack = three();
    stack.call(from(0x40, 0xe00), 0);
    stack.left();
    assert_eq!(stack.truth(), Truth::Unknown(Doubt::FrameLeft));
    // Jumps inside of `longjmp` are not the one that ends it.
    stack.jump(0x800, 0x1000);
    assert_eq!(stack.truth(), Truth::Unknown(Doubt::FrameLeft));
    stack.indirect_jump(0x24, 0x1000);
    assert_eq!(stack.truth(), Truth::Called(from(0x10, 0x2000)));
}

/// An exception continues in a landing pad by a return instruction.
#[test]
fn an_exception_leaves_frames() {
    let mut stack = three();
    stack.call(from(0x40, 0xe00), 0);
    stack.left();
    stack.ret(0x9999, 0xf00, 0xf00);
    assert_eq!(stack.truth(), Truth::Called(from(0x20, 0x1000)));
}

/// The frame had less on its stack when it called `setjmp` than when it made its last call: no call has this SP after its return.
#[test]
fn an_unknown_frame_is_left_by_its_return() {
    let mut stack = three();
    stack.left();
    stack.indirect_jump(0x24, 0xf80);
    assert_eq!(stack.truth(), Truth::Unknown(Doubt::FrameLeft));
    // It calls functions, whose caller is known.
    stack.call(from(0x50, 0xf80), 0);
    assert_eq!(stack.truth(), Truth::Called(from(0x50, 0xf80)));
    stack.ret(0x50, 0xf80, 0xf80);
    assert_eq!(stack.truth(), Truth::Unknown(Doubt::FrameLeft));
    stack.ret(0x20, 0x1000, 0x1000);
    assert_eq!(stack.truth(), Truth::Called(from(0x10, 0x2000)));
}

/// Two stacks: `main` switches to another one, which calls a function and switches back from there.
#[test]
fn stack_switches_are_unknown() {
    let mut stack = three();
    stack.switched();
    stack.ret(0x5000, 0x500, 0x500);
    assert_eq!(stack.truth(), Truth::Unknown(Doubt::StackSwitch));
    stack.call(from(0x5010, 0x4f0), 0);
    assert_eq!(stack.truth(), Truth::Called(from(0x5010, 0x4f0)));
    stack.call(from(0x5020, 0x4e0), 0);
    stack.left();
    stack.ret(0x30, 0xf00, 0xf00);
    assert_eq!(stack.truth(), Truth::Called(from(0x20, 0x1000)));
}

/// The other stack is an array in the frame of `f`: its SP is above the frame of `g`, and is no call's.
#[test]
fn a_stack_inside_of_a_frame_is_unknown() {
    let mut stack = three();
    stack.left();
    stack.ret(0x5000, 0xf50, 0xf50);
    assert_eq!(stack.truth(), Truth::Unknown(Doubt::FrameLeft));
    stack.indirect_jump(0x6000, 0xf40);
    assert_eq!(stack.truth(), Truth::Unknown(Doubt::FrameLeft));
}

/// The function at 0x700 calls its own code at 0x70c, which calls another part of it.
#[test]
fn frames_around_local_calls_are_found() {
    let mut stack = three();
    let is_local = |ra, target| (0x701..0x780).contains(&ra) && (0x701..0x780).contains(&target);
    stack.call(from(0x40, 0xe00), 0x700);
    assert_eq!(stack.around(is_local).count(), 0);
    stack.call(from(0x705, 0xdf0), 0x70c);
    stack.call(from(0x711, 0xde8), 0x720);
    let around: Vec<_> = stack.around(is_local).collect();
    assert_eq!(around, [from(0x705, 0xdf0), from(0x40, 0xe00)]);
    // A call of the function itself is one of another frame.
    stack.call(from(0x725, 0xde0), 0x700);
    assert_eq!(stack.around(is_local).count(), 0);
    // The stack of calls is not known.
    stack.left();
    assert_eq!(stack.around(|_, _| true).count(), 0);
}

#[test]
fn a_pushed_address_is_no_call() {
    let mut stack = three();
    stack.ret(0x700, 0xe80, 0xe80);
    assert_eq!(stack.truth(), Truth::Unknown(Doubt::PushedReturn));
    stack.ret(0x30, 0xf00, 0xf00);
    assert_eq!(stack.truth(), Truth::Called(from(0x20, 0x1000)));
}

#[test]
fn a_signal_interrupts_a_frame() {
    let mut stack = three();
    let (interrupted, handler) = (from(0x36, 0xe80), from(0x7000, 0xb08));
    stack.signal(interrupted, handler, 0);
    assert_eq!(stack.truth(), Truth::Called(handler));
    stack.ret(0x7000, 0xb08, 0xb08);
    assert_eq!(stack.truth(), Truth::Interrupted(interrupted));
    stack.sigreturn(0x36, 0xe80);
    assert_eq!(stack.truth(), Truth::Called(from(0x30, 0xf00)));
}

/// A handler can change the registers to which it returns, or not return at all.
#[test]
fn a_signal_handler_can_go_elsewhere() {
    let mut stack = three();
    stack.signal(from(0x36, 0xe80), from(0x7000, 0xb08), 0);
    stack.ret(0x7000, 0xb08, 0xb08);
    stack.sigreturn(0x38, 0xe80);
    assert_eq!(stack.truth(), Truth::Unknown(Doubt::OtherContext));

    let mut stack = three();
    stack.signal(from(0x36, 0xe80), from(0x7000, 0xb08), 0);
    stack.left();
    stack.indirect_jump(0x24, 0x1000);
    assert_eq!(stack.truth(), Truth::Called(from(0x10, 0x2000)));
}

/// A return without a call, at the start of a program or thread, does not make what follows outermost.
#[test]
fn a_return_from_the_first_frame_is_unknown() {
    let mut stack = ShadowStack::default();
    stack.indirect_jump(0x100, 0x3000);
    assert_eq!(stack.truth(), Truth::Outermost);
    stack.ret(0x100, 0x3008, 0x3008);
    assert_eq!(stack.truth(), Truth::Unknown(Doubt::OtherReturn));
}
