/* A new context starts here.  fi_ctx_make has stored the entry function and its argument at the
 * top of the stack.  The return address is declared unknown, so a backtrace ends here. */
    .text
    .globl  fi_ctx_start
    .hidden fi_ctx_start
    .type   fi_ctx_start, %function
    .balign 16
fi_ctx_start:
    .cfi_startproc
    .cfi_undefined x30
    ldp     x9, x0, [sp]
    blr     x9
    bl      fi_ctx_entry_returned
    brk     #1
    .cfi_endproc
    .size   fi_ctx_start, . - fi_ctx_start

/* fi_ctx_call_from(regs, unwind, arg): call unwind(arg).  While it runs, the unwind table says that
 * the caller of this frame is the point saved in regs: the stack pointer in the first word, then
 * pc, x29 and x19.  x19 holds regs meanwhile. */
    .globl  fi_ctx_call_from
    .hidden fi_ctx_call_from
    .type   fi_ctx_call_from, %function
    .balign 16
fi_ctx_call_from:
    .cfi_startproc
    stp     x19, x30, [sp, #-16]!
    .cfi_def_cfa_offset 16
    .cfi_offset x19, -16
    .cfi_offset x30, -8
    mov     x19, x0
    mov     x0, x2
    .cfi_remember_state
    .cfi_escape 0x0f, 3, 0x83, 0, 0x06          /* CFA: *(x19 + 0) */
    .cfi_escape 0x10, 30, 2, 0x83, 8            /* pc: at x19 + 8 */
    .cfi_escape 0x10, 29, 2, 0x83, 16           /* x29: at x19 + 16 */
    .cfi_escape 0x10, 19, 2, 0x83, 24           /* x19: at x19 + 24 */
    blr     x1
    nop
    .cfi_restore_state
    ldp     x19, x30, [sp], #16
    .cfi_def_cfa_offset 0
    .cfi_restore x19
    .cfi_restore x30
    ret
    .cfi_endproc
    .size   fi_ctx_call_from, . - fi_ctx_call_from
    .section .note.GNU-stack, "", %progbits
