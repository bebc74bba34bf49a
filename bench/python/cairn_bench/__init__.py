"""`cairn bench`: runs a matrix of I/O kernels on several systems, and shows what each gives."""

SCHEMA = 1  # of the records and of the matrix; docs/user/bench-results.md
