/* For the coverage build: a process that ends by _exit leaves its counters too. Linked with
 * -Wl,--wrap=_exit; a child that a test forked and that must not run the parent's exit handlers
 * would otherwise count for nothing. Who is killed still does. */
void __gcov_dump(void);
void __gcov_reset(void);
_Noreturn void __real__exit(int status);
_Noreturn void __wrap__exit(int status);

_Noreturn void __wrap__exit(int status) {
  __gcov_dump();
  __gcov_reset(); /* the child of a vfork shares them with its parent, who goes on */
  __real__exit(status);
}
