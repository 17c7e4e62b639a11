/* counted N: executes 2 N instructions in a loop, and less than a hundred others. */
	.globl _start
_start:
	mov x0, #0
	ldr x1, [sp, #16]
digit:	ldrb w2, [x1], #1
	cbz w2, read
	sub w2, w2, #'0'
	mov x3, #10
	madd x0, x0, x3, x2
	b digit
read:	cbz x0, end
loop:	subs x0, x0, #1
	b.ne loop
end:	mov x0, #0
	mov x8, #94 /* exit_group */
	svc #0
