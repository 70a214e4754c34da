/* Where a new context begins: fi_ctx_make left the entry function and its argument on top of the
 * stack.  The return address is declared unknown, so that a backtrace ends here. */
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
    .section .note.GNU-stack, "", %progbits
