//! The effects of AMD64 instructions, by the AMD64 Architecture Programmer's Manual (volume 3). GNU as has assembled them.

use super::effects::{copy, goes_on, store};
use crate::code::amd64::Amd64;
use crate::code::effect::{Decoder, Effect, Extension, NO_REGISTER, RegisterNumber, SCRATCH};

/// An element at an index with a scale.
const fn element(
    to: RegisterNumber,
    (base, offset): (RegisterNumber, i32),
    (index, scale): (RegisterNumber, u8),
    size: u8,
    extension: Extension,
) -> Effect {
    Effect::Element { to, base, offset, index, scale, size, extension }
}

/// A load of 8 bytes at the address in a register.
const fn load(to: RegisterNumber, base: RegisterNumber) -> Effect {
    Effect::Load { to, base, offset: 0 }
}

/// Instructions at 0x1000, and what they do: which registers and bytes they read and write is from the manual, and how
/// much of it is followed is our choice. What is not followed becomes unknown.
///
/// Registers have their DWARF numbers (psABI, figure 3.36): RAX, RDX, RCX, RBX, RSI, RDI,
/// RBP, RSP.
const INSTRUCTIONS: &[(&[u8], &[Effect])] = &[
    // push %rbp
    (b"\x55", &[copy(7, 7, -8), store(6, 7, 0, 8)]),
    // push %rsp
    (b"\x54", &[copy(SCRATCH, 7, 0), copy(7, 7, -8), store(SCRATCH, 7, 0, 8)]),
    // push $5
    (b"\x6a\x05", &[copy(7, 7, -8), store(NO_REGISTER, 7, 0, 8)]),
    // pushw %bx
    (b"\x66\x53", &[copy(7, 7, -2), store(NO_REGISTER, 7, 0, 2)]),
    // push 8(%rax)
    (
        b"\xff\x70\x08",
        &[
            Effect::Load { to: SCRATCH, base: 0, offset: 8 },
            copy(7, 7, -8),
            store(SCRATCH, 7, 0, 8),
        ],
    ),
    // push (%rax,%rcx,8)
    (
        b"\xff\x34\xc8",
        &[
            element(SCRATCH, (0, 0), (2, 8), 8, Extension::Sign),
            copy(7, 7, -8),
            store(SCRATCH, 7, 0, 8),
        ],
    ),
    // pushf
    (b"\x9c", &[copy(7, 7, -8), store(NO_REGISTER, 7, 0, 8)]),
    // popf
    (b"\x9d", &[Effect::Forget, copy(7, 7, 8)]),
    // pop %rbp
    (b"\x5d", &[Effect::Load { to: 6, base: 7, offset: 0 }, copy(7, 7, 8)]),
    // pop %rsp
    (b"\x5c", &[Effect::Load { to: 7, base: 7, offset: 0 }]),
    // popw %bx
    (b"\x66\x5b", &[Effect::Clobber(1 << 3), copy(7, 7, 2)]),
    // pop 8(%rsp)
    (b"\x8f\x44\x24\x08", &[copy(7, 7, 8), store(NO_REGISTER, 7, 8, 8)]),
    // mov %rsp,%rbp
    (b"\x48\x89\xe5", &[copy(6, 7, 0)]),
    // mov %ecx,%eax
    (b"\x89\xc8", &[Effect::Narrow { to: 0, from: 2, most: u32::MAX }]),
    // mov %cl,%al
    (b"\x88\xc8", &[Effect::Clobber(1 << 0)]),
    // mov %cx,%ax
    (b"\x66\x89\xc8", &[Effect::Clobber(1 << 0)]),
    // mov 8(%rsp),%rax
    (b"\x48\x8b\x44\x24\x08", &[Effect::Load { to: 0, base: 7, offset: 8 }]),
    // mov 8(%rsp),%eax
    (b"\x8b\x44\x24\x08", &[Effect::Clobber(1 << 0)]),
    // mov %fs:0x28,%rax
    (b"\x64\x48\x8b\x04\x25\x28\x00\x00\x00", &[copy(0, NO_REGISTER, 0)]),
    // mov 0x1234,%rcx
    (
        b"\x48\x8b\x0c\x25\x34\x12\x00\x00",
        &[Effect::Load { to: 2, base: NO_REGISTER, offset: 4660 }],
    ),
    // mov (%rsi,%rdi,2),%rax
    (b"\x48\x8b\x04\x7e", &[copy(0, NO_REGISTER, 0)]),
    // mov (%rsi,%rdi,8),%rax
    (b"\x48\x8b\x04\xfe", &[element(0, (4, 0), (5, 8), 8, Extension::Sign)]),
    // mov 0x1000(,%rdi,8),%rax
    (
        b"\x48\x8b\x04\xfd\x00\x10\x00\x00",
        &[element(0, (NO_REGISTER, 0x1000), (5, 8), 8, Extension::Sign)],
    ),
    // mov (%rdx,%rax),%ecx
    (b"\x8b\x0c\x02", &[element(2, (1, 0), (0, 1), 4, Extension::Zero)]),
    // mov (%rdx,%rax),%rcx
    (b"\x48\x8b\x0c\x02", &[element(2, (1, 0), (0, 1), 8, Extension::Sign)]),
    // mov (%rdx,%rax,4),%ecx
    (b"\x8b\x0c\x82", &[Effect::Clobber(1 << 2)]),
    // mov %fs:(%rdx,%rax),%ecx
    (b"\x64\x8b\x0c\x02", &[Effect::Clobber(1 << 2)]),
    // mov (%rdx,%rax),%cx
    (b"\x66\x8b\x0c\x02", &[Effect::Clobber(1 << 2)]),
    // mov (%edx,%eax),%ecx
    (b"\x67\x8b\x0c\x02", &[Effect::Clobber(1 << 2)]),
    // mov (%edx),%rcx
    (b"\x67\x48\x8b\x0a", &[copy(2, NO_REGISTER, 0)]),
    // mov %rbx,-8(%rbp)
    (b"\x48\x89\x5d\xf8", &[store(3, 6, -8, 8)]),
    // mov %ebx,-8(%rbp)
    (b"\x89\x5d\xf8", &[store(NO_REGISTER, 6, -8, 4)]),
    // mov %bl,-8(%rbp)
    (b"\x88\x5d\xf8", &[store(NO_REGISTER, 6, -8, 1)]),
    // movl $1,-8(%rbp)
    (b"\xc7\x45\xf8\x01\x00\x00\x00", &[store(NO_REGISTER, 6, -8, 4)]),
    // movq $1,-8(%rbp)
    (b"\x48\xc7\x45\xf8\x01\x00\x00\x00", &[store(NO_REGISTER, 6, -8, 8)]),
    // mov %rbx,(%rsi,%rdi)
    (b"\x48\x89\x1c\x3e", &[store(3, NO_REGISTER, 0, 8)]),
    // mov $-1,%eax
    (b"\xb8\xff\xff\xff\xff", &[Effect::Constant { to: 0, value: 0xffff_ffff }]),
    // mov $-1,%rax
    (b"\x48\xc7\xc0\xff\xff\xff\xff", &[Effect::Constant { to: 0, value: -1 }]),
    // movabs $0x123456789a,%rax
    (
        b"\x48\xb8\x9a\x78\x56\x34\x12\x00\x00\x00",
        &[Effect::Constant { to: 0, value: 0x12_3456_789a }],
    ),
    // lea 16(%rsp),%rdi
    (b"\x48\x8d\x7c\x24\x10", &[copy(5, 7, 16)]),
    // lea 16(%rsp),%edi
    (b"\x8d\x7c\x24\x10", &[Effect::Clobber(1 << 5)]),
    // lea (%rsi,%rdi),%rax
    (
        b"\x48\x8d\x04\x3e",
        &[Effect::Add { to: 0, a: 4, b: 5, shift: 0, extension: Extension::Zero }],
    ),
    // lea 8(%rsi,%rdi),%rax
    (b"\x48\x8d\x44\x3e\x08", &[Effect::Clobber(1 << 0)]),
    // lea (%rsi,%rdi),%eax
    (b"\x8d\x04\x3e", &[Effect::Clobber(1 << 0)]),
    // lea 0x10(%rip),%rax
    (b"\x48\x8d\x05\x10\x00\x00\x00", &[Effect::Constant { to: 0, value: 0x1017 }]),
    // lea 0(,%rdi,4),%rdx
    (b"\x48\x8d\x14\xbd\x00\x00\x00\x00", &[Effect::Scale { to: 1, index: 5, size: 4 }]),
    // lea 0(,%rdi,8),%rdx
    (b"\x48\x8d\x14\xfd\x00\x00\x00\x00", &[Effect::Scale { to: 1, index: 5, size: 8 }]),
    // lea 4(,%rdi,4),%rdx
    (b"\x48\x8d\x14\xbd\x04\x00\x00\x00", &[Effect::Clobber(1 << 1)]),
    // lea 0(,%rdi,4),%edx
    (b"\x8d\x14\xbd\x00\x00\x00\x00", &[Effect::Clobber(1 << 1)]),
    // lea (%rsi,%rdi,4),%rdx
    (b"\x48\x8d\x14\xbe", &[Effect::Clobber(1 << 1)]),
    // lea 0x1234,%rdx
    (b"\x48\x8d\x14\x25\x34\x12\x00\x00", &[Effect::Clobber(1 << 1)]),
    // add $16,%rsp
    (b"\x48\x83\xc4\x10", &[Effect::Forget, copy(7, 7, 16)]),
    // sub $16,%rsp
    (b"\x48\x83\xec\x10", &[Effect::Forget, copy(7, 7, -16)]),
    // sub $-128,%rsp
    (b"\x48\x83\xec\x80", &[Effect::Forget, copy(7, 7, 128)]),
    // add %rdx,%rax
    (
        b"\x48\x01\xd0",
        &[Effect::Forget, Effect::Add { to: 0, a: 0, b: 1, shift: 0, extension: Extension::Zero }],
    ),
    // sub %rax,%rsp
    (b"\x48\x29\xc4", &[Effect::Forget, Effect::Subtract { to: 7, a: 7, b: 0 }]),
    // sub $1,%eax
    (b"\x83\xe8\x01", &[Effect::Forget, Effect::Forget, Effect::Clobber(1 << 0)]),
    // add (%rsi),%rax
    (b"\x48\x03\x06", &[Effect::Forget, Effect::Clobber(1 << 0)]),
    // addq $1,(%rsp)
    (b"\x48\x83\x04\x24\x01", &[Effect::Forget, Effect::Forget, store(NO_REGISTER, 7, 0, 8)]),
    // and $-16,%rsp
    (b"\x48\x83\xe4\xf0", &[Effect::Forget, Effect::Align { register: 7, place: 0x1000 }]),
    // and $7,%edi
    (b"\x83\xe7\x07", &[Effect::Forget, Effect::Narrow { to: 5, from: 5, most: 7 }]),
    // and $7,%rdi
    (b"\x48\x83\xe7\x07", &[Effect::Forget, Effect::Narrow { to: 5, from: 5, most: 7 }]),
    // and $7,%dil
    (b"\x40\x80\xe7\x07", &[Effect::Forget, Effect::Forget, Effect::Clobber(1 << 5)]),
    // and $-16,%rax
    (b"\x48\x83\xe0\xf0", &[Effect::Forget, Effect::Forget, Effect::Clobber(1 << 0)]),
    // and %rcx,%rax
    (b"\x48\x21\xc8", &[Effect::Forget, Effect::Forget, Effect::Clobber(1 << 0)]),
    // cmp $5,%edi
    (b"\x83\xff\x05", &[Effect::CompareNumber { a: 5, number: 5 }]),
    // cmp $-1,%edi
    (b"\x83\xff\xff", &[Effect::CompareNumber { a: 5, number: 0xffff_ffff }]),
    // cmp $-1,%dil
    (b"\x40\x80\xff\xff", &[Effect::CompareNumber { a: 5, number: 255 }]),
    // cmp $-1,%di
    (b"\x66\x83\xff\xff", &[Effect::CompareNumber { a: 5, number: 65535 }]),
    // cmp $5,%rdi
    (b"\x48\x83\xff\x05", &[Effect::CompareNumber { a: 5, number: 5 }]),
    // cmp $-1,%rdi
    (b"\x48\x83\xff\xff", &[Effect::Forget]),
    // cmp %rsi,%rdi
    (b"\x48\x39\xf7", &[Effect::Compare { a: 5, b: 4 }]),
    // cmp %esi,%edi
    (b"\x39\xf7", &[Effect::Forget]),
    // cmp (%rsi),%rdi
    (b"\x48\x3b\x3e", &[Effect::Forget]),
    // cmpl $5,-4(%rbp)
    (b"\x83\x7d\xfc\x05", &[Effect::Forget]),
    // test %rax,%rax
    (b"\x48\x85\xc0", &[Effect::Forget]),
    // movzbl %al,%edi
    (b"\x0f\xb6\xf8", &[Effect::Narrow { to: 5, from: 0, most: 255 }]),
    // movzbl %ah,%edi
    (b"\x0f\xb6\xfc", &[Effect::Limit { to: 5, most: 255 }]),
    // movzbl (%rsi),%edi
    (b"\x0f\xb6\x3e", &[Effect::Limit { to: 5, most: 255 }]),
    // movzwl %ax,%edi
    (b"\x0f\xb7\xf8", &[Effect::Narrow { to: 5, from: 0, most: 65535 }]),
    // movzwl (%rsi),%edi
    (b"\x0f\xb7\x3e", &[Effect::Limit { to: 5, most: 65535 }]),
    // cltq
    (b"\x48\x98", &[Effect::Extend { to: 0, from: 0 }]),
    // movslq %edi,%rax
    (b"\x48\x63\xc7", &[Effect::Extend { to: 0, from: 5 }]),
    // movslq (%rdx,%rax,4),%rcx
    (b"\x48\x63\x0c\x82", &[element(2, (1, 0), (0, 4), 4, Extension::Sign)]),
    // movslq (%rdx),%rcx
    (b"\x48\x63\x0a", &[Effect::Clobber(1 << 2)]),
    // leave
    (b"\xc9", &[copy(7, 6, 8), Effect::Load { to: 6, base: 6, offset: 0 }]),
    // enter $32,$1
    (
        b"\xc8\x20\x00\x01",
        &[
            copy(7, 7, -8),
            store(6, 7, 0, 8),
            copy(6, 7, 0),
            copy(7, 7, -8),
            store(NO_REGISTER, 7, 0, 8),
            copy(7, 7, -32),
        ],
    ),
    // syscall
    (
        b"\x0f\x05",
        &[Effect::SystemCall {
            number: 0,
            clone: 56,
            stack: 4,
            ends: [15, 60, 231],
            clobbers: 0b1000_0000_0101,
        }],
    ),
    // int $0x80
    (b"\xcd\x80", &[Effect::Clobber(1 << 0 | 1 << 2 | 1 << 11)]),
    // nop
    (b"\x90", &[]),
    // endbr64
    (b"\xf3\x0f\x1e\xfa", &[]),
    // pause
    (b"\xf3\x90", &[]),
    // prefetcht0 (%rax)
    (b"\x0f\x18\x08", &[]),
    // xor %eax,%eax
    (b"\x31\xc0", &[Effect::Forget, Effect::Constant { to: 0, value: 0 }]),
    // xor %rax,%rax
    (b"\x48\x31\xc0", &[Effect::Forget, Effect::Constant { to: 0, value: 0 }]),
    // xor %al,%al
    (b"\x30\xc0", &[Effect::Forget, Effect::Clobber(1 << 0)]),
    // xor %ecx,%eax
    (b"\x31\xc8", &[Effect::Forget, Effect::Clobber(1 << 0)]),
    // movsq
    (b"\x48\xa5", &[store(NO_REGISTER, 5, 0, 8), Effect::Clobber(1 << 4 | 1 << 5)]),
    // stosq
    (b"\x48\xab", &[store(NO_REGISTER, 5, 0, 8), Effect::Clobber(1 << 5)]),
    // rep stosq
    (b"\xf3\x48\xab", &[Effect::Fill { base: 5 }, Effect::Clobber(1 << 2 | 1 << 5)]),
    // imul %rcx,%rax
    (b"\x48\x0f\xaf\xc1", &[Effect::Forget, Effect::Clobber(1 << 0)]),
    // mul %rcx
    (b"\x48\xf7\xe1", &[Effect::Forget, Effect::Clobber(1 << 0 | 1 << 1)]),
    // xchg %rax,%rbx
    (b"\x48\x93", &[Effect::Clobber(1 << 0 | 1 << 3)]),
    // bswap %rax
    (b"\x48\x0f\xc8", &[Effect::Clobber(1 << 0)]),
    // cmovne %rcx,%rax
    (b"\x48\x0f\x45\xc1", &[Effect::Clobber(1 << 0)]),
    // sete %al
    (b"\x0f\x94\xc0", &[Effect::Clobber(1 << 0)]),
    // sete (%rsp)
    (b"\x0f\x94\x04\x24", &[store(NO_REGISTER, 7, 0, 1)]),
    // movdqa %xmm0,%xmm1
    (b"\x66\x0f\x6f\xc8", &[]),
    // movq %rax,%xmm1
    (b"\x66\x48\x0f\x6e\xc8", &[]),
    // movq %xmm1,%rax
    (b"\x66\x48\x0f\x7e\xc8", &[Effect::Clobber(1 << 0)]),
    // movaps %xmm0,16(%rsp)
    (b"\x0f\x29\x44\x24\x10", &[store(NO_REGISTER, 7, 16, 16)]),
    // pcmpistri $0,%xmm0,%xmm1
    (b"\x66\x0f\x3a\x63\xc8\x00", &[Effect::Forget, Effect::Clobber(1 << 2)]),
    // xsave 64(%rsp)
    (b"\x0f\xae\x64\x24\x40", &[store(NO_REGISTER, 7, 64, 255)]),
    // push2p %r14,%r15; push2 %rbx,%rbp; push2 %rbp,%r31; pop2p %r15,%rbp; pop2 %r17,%rbx
    (
        b"\x62\xd4\x84\x18\xff\xf6",
        &[copy(7, 7, -8), store(15, 7, 0, 8), copy(7, 7, -8), store(14, 7, 0, 8)],
    ),
    (
        b"\x62\xf4\x54\x18\xff\xf3",
        &[copy(7, 7, -8), store(6, 7, 0, 8), copy(7, 7, -8), store(3, 7, 0, 8)],
    ),
    (
        b"\x62\xf4\x04\x10\xff\xf5",
        &[copy(7, 7, -8), store(NO_REGISTER, 7, 0, 8), copy(7, 7, -8), store(6, 7, 0, 8)],
    ),
    (b"\x62\xd4\xd4\x18\x8f\xc7", &[load(6, 7), copy(7, 7, 8), load(15, 7), copy(7, 7, 8)]),
    (
        b"\x62\xfc\x64\x18\x8f\xc1",
        &[load(3, 7), copy(7, 7, 8), load(NO_REGISTER, 7), copy(7, 7, 8)],
    ),
    // pushp %rbp; push %r16; popp %r9; pop %r31
    (b"\xd5\x08\x55", &[copy(7, 7, -8), store(6, 7, 0, 8)]),
    (b"\xd5\x10\x50", &[copy(7, 7, -8), store(NO_REGISTER, 7, 0, 8)]),
    (b"\xd5\x09\x59", &[load(9, 7), copy(7, 7, 8)]),
    (b"\xd5\x11\x5f", &[load(NO_REGISTER, 7), copy(7, 7, 8)]),
    // rdtsc
    (b"\x0f\x31", &[Effect::Clobber(1 << 0 | 1 << 1)]),
    // cpuid
    (b"\x0f\xa2", &[Effect::Clobber(1 << 0 | 1 << 1 | 1 << 2 | 1 << 3)]),
];

#[test]
fn instructions_have_the_effects_that_the_manual_describes() {
    let mut wrong = Vec::new();
    for (code, expected) in INSTRUCTIONS {
        let mut effects = Vec::new();
        let decoded = Amd64::new().decode(code, 0, 0x1000, &mut effects);
        let length = u8::try_from(code.len()).expect("short");
        if !goes_on(decoded, length) || effects != *expected {
            wrong.push(format!("{code:x?}: {effects:?}, not {expected:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
