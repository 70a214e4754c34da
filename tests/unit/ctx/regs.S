/* void regs_around(void (*fn)(void), const uint64_t *in, uint64_t *out): see regs.h. */
    .text
    .globl  regs_around
    .balign 16
regs_around:
#if defined __x86_64__
    pushq   %rbx
    pushq   %rbp
    pushq   %r12
    pushq   %r13
    pushq   %r14
    pushq   %r15
    pushq   %rdx
    movq    0(%rsi), %rbx
    movq    8(%rsi), %rbp
    movq    16(%rsi), %r12
    movq    24(%rsi), %r13
    movq    32(%rsi), %r14
    movq    40(%rsi), %r15
    call    *%rdi
    popq    %rdx
    movq    %rbx, 0(%rdx)
    movq    %rbp, 8(%rdx)
    movq    %r12, 16(%rdx)
    movq    %r13, 24(%rdx)
    movq    %r14, 32(%rdx)
    movq    %r15, 40(%rdx)
    popq    %r15
    popq    %r14
    popq    %r13
    popq    %r12
    popq    %rbp
    popq    %rbx
    ret
#elif defined __aarch64__
    sub     sp, sp, #176
    stp     x19, x20, [sp]
    stp     x21, x22, [sp, #16]
    stp     x23, x24, [sp, #32]
    stp     x25, x26, [sp, #48]
    stp     x27, x28, [sp, #64]
    stp     x29, x30, [sp, #80]
    stp     d8, d9, [sp, #96]
    stp     d10, d11, [sp, #112]
    stp     d12, d13, [sp, #128]
    stp     d14, d15, [sp, #144]
    str     x2, [sp, #160]
    ldp     x19, x20, [x1]
    ldp     x21, x22, [x1, #16]
    ldp     x23, x24, [x1, #32]
    ldp     x25, x26, [x1, #48]
    ldp     x27, x28, [x1, #64]
    ldr     x29, [x1, #80]
    ldp     d8, d9, [x1, #88]
    ldp     d10, d11, [x1, #104]
    ldp     d12, d13, [x1, #120]
    ldp     d14, d15, [x1, #136]
    blr     x0
    ldr     x2, [sp, #160]
    stp     x19, x20, [x2]
    stp     x21, x22, [x2, #16]
    stp     x23, x24, [x2, #32]
    stp     x25, x26, [x2, #48]
    stp     x27, x28, [x2, #64]
    str     x29, [x2, #80]
    stp     d8, d9, [x2, #88]
    stp     d10, d11, [x2, #104]
    stp     d12, d13, [x2, #120]
    stp     d14, d15, [x2, #136]
    ldp     x19, x20, [sp]
    ldp     x21, x22, [sp, #16]
    ldp     x23, x24, [sp, #32]
    ldp     x25, x26, [sp, #48]
    ldp     x27, x28, [sp, #64]
    ldp     x29, x30, [sp, #80]
    ldp     d8, d9, [sp, #96]
    ldp     d10, d11, [sp, #112]
    ldp     d12, d13, [sp, #128]
    ldp     d14, d15, [sp, #144]
    add     sp, sp, #176
    ret
#endif
    .section .note.GNU-stack, "", %progbits
