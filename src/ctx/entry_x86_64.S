/* A new context starts here.  fi_ctx_make has stored the entry function and its argument at the
 * top of the stack.  The return address is declared unknown, so a backtrace ends here. */
    .text
    .globl  fi_ctx_start
    .hidden fi_ctx_start
    .type   fi_ctx_start, @function
    .balign 16
fi_ctx_start:
    .cfi_startproc
    .cfi_undefined rip
    movq    8(%rsp), %rdi
    call    *(%rsp)
    call    fi_ctx_entry_returned
    ud2
    .cfi_endproc
    .size   fi_ctx_start, . - fi_ctx_start

/* fi_ctx_call_from(regs, unwind, arg): call unwind(arg).  While it runs, the unwind table says that
 * the caller of this frame is the point saved in regs: the stack pointer in the first word, then
 * pc, rbp and rbx.  rbx holds regs meanwhile. */
    .globl  fi_ctx_call_from
    .hidden fi_ctx_call_from
    .type   fi_ctx_call_from, @function
    .balign 16
fi_ctx_call_from:
    .cfi_startproc
    pushq   %rbx
    .cfi_def_cfa_offset 16
    .cfi_offset rbx, -16
    movq    %rdi, %rbx
    movq    %rdx, %rdi
    .cfi_remember_state
    .cfi_escape 0x0f, 3, 0x73, 0, 0x06          /* CFA: *(rbx + 0) */
    .cfi_escape 0x10, 16, 2, 0x73, 8            /* rip: at rbx + 8 */
    .cfi_escape 0x10, 6, 2, 0x73, 16            /* rbp: at rbx + 16 */
    .cfi_escape 0x10, 3, 2, 0x73, 24            /* rbx: at rbx + 24 */
    call    *%rsi
    nop
    .cfi_restore_state
    popq    %rbx
    .cfi_def_cfa_offset 8
    .cfi_restore rbx
    ret
    .cfi_endproc
    .size   fi_ctx_call_from, . - fi_ctx_call_from
    .section .note.GNU-stack, "", @progbits
