! Heat spreads on a plate, as in heat.c: the same numbers and the same checkpoints, which either
! program can go on from, on any number of ranks.
!
!   mpirun -n 4 ./heat STEPS [STEPS-BETWEEN-CHECKPOINTS [ROWS]]
program heat
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use mpi
  use cairn
  implicit none
  integer, parameter :: columns = 512
  integer :: rank, ranks, all, first, count, ierr
  integer(int64) :: steps, between, step
  real(real64), allocatable, target :: rows(:, :)  ! columns lie together; one more row on each side
  real(real64), allocatable :: next(:, :)
  type(cairn_checkpoint) :: checkpoint
  type(cairn_info) :: info
  logical :: found

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
  steps = argument(1, 100)
  between = argument(2, 10)
  all = int(argument(3, 512))
  first = all * rank / ranks
  count = all * (rank + 1) / ranks - first
  allocate (rows(columns, 0:count + 1), next(columns, 0:count + 1), source=0.0_real64)

  call cairn_init(checkpoint, 'heat', MPI_COMM_WORLD)
  call cairn_define(checkpoint, 'temperature', rows, &
                    cairn_block(global=[columns, all], first=[1, first + 1], halo=[0, 1]))
  call cairn_restart_test(checkpoint, found, info=info)
  if (found) then
    call cairn_read(checkpoint, info=info)
    if (rank == 0) print '(a,i0)', 'goes on after step ', info%number
    if (rank == 0 .and. info%skipped /= 0) print '(2a)', 'left out: ', trim(info%why)
  else if (rank == 0) then
    rows(:, 1) = 100  ! the upper edge is hot
  end if

  do step = info%number + 1, steps
    call exchange()
    call compute()
    rows(:, 1:count) = next(:, 1:count)
    if (mod(step, between) == 0) call cairn_write(checkpoint, step)
  end do
  call print_sum_of_bits()
  call cairn_finalize(checkpoint)
  call MPI_Finalize(ierr)

contains

  integer(int64) function argument(number, default)
    integer, intent(in) :: number, default
    character(32) :: text
    argument = default
    if (command_argument_count() < number) return
    call get_command_argument(number, text)
    read (text, *) argument
  end function

  subroutine exchange()
    integer :: above, below
    above = merge(MPI_PROC_NULL, rank - 1, rank == 0)
    below = merge(MPI_PROC_NULL, rank + 1, rank == ranks - 1)
    call MPI_Sendrecv(rows(:, 1), columns, MPI_DOUBLE_PRECISION, above, 0, &
                      rows(:, count + 1), columns, MPI_DOUBLE_PRECISION, below, 0, &
                      MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
    call MPI_Sendrecv(rows(:, count), columns, MPI_DOUBLE_PRECISION, below, 1, &
                      rows(:, 0), columns, MPI_DOUBLE_PRECISION, above, 1, &
                      MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
  end subroutine

  subroutine compute()
    integer :: i, j
    do i = 1, count
      if (first + i - 1 == 0 .or. first + i == all) then
        next(:, i) = rows(:, i)
        cycle
      end if
      next(1, i) = rows(1, i)
      do j = 2, columns - 1
        ! The parentheses keep the order of heat.c, and with it the last bit.
        next(j, i) = 0.25_real64 * (((rows(j, i - 1) + rows(j, i + 1)) + rows(j - 1, i)) &
                                    + rows(j + 1, i))
      end do
      next(columns, i) = rows(columns, i)
    end do
  end subroutine

  ! All bits of the plate count, whatever rank holds them. Fortran has no integers that wrap: the
  ! halves are summed by themselves.
  subroutine print_sum_of_bits()
    integer(int64), parameter :: half = int(z'FFFFFFFF', int64)
    integer(int64) :: sums(2), sum(2), bits
    character(16) :: digits
    integer :: i, j
    sums = 0
    do i = 1, count
      do j = 1, columns
        bits = transfer(rows(j, i), bits)
        sums(1) = sums(1) + iand(bits, half)
        sums(2) = iand(sums(2) + ishft(bits, -32), half)
      end do
    end do
    call MPI_Reduce(sums, sum, 2, MPI_INTEGER8, MPI_SUM, 0, MPI_COMM_WORLD, ierr)
    sum(2) = iand(sum(2) + ishft(sum(1), -32), half)
    write (digits, '(2z8.8)') sum(2), iand(sum(1), half)
    do i = 1, len(digits)
      if (digits(i:i) >= 'A') digits(i:i) = achar(iachar(digits(i:i)) + 32)
    end do
    if (rank == 0) print '(a,i0,2a)', 'after ', steps, ' steps: ', digits
  end subroutine
end program
