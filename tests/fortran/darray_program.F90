! A matrix of 23 x 14 elements that is dealt out in blocks, as by ScaLAPACK:
!
!   darray_program write|read RANK ROWS COLUMNS [by_columns]
!
! RANK of ROWS x COLUMNS processes of this host. Who reads has other blocks than who writes.
program darray
  use, intrinsic :: iso_fortran_env, only: real64
  use cairn
  implicit none
  integer, parameter :: m = 23, n = 14
  type(cairn_checkpoint) :: cp
  type(cairn_options) :: options
  real(real64), allocatable, target :: a(:, :)
  integer :: rank, grid(2), at(2), blocks(2), held(2), ierr
  integer, allocatable :: rows(:), columns(:)
  integer :: i, j
  logical :: reads, by_columns
  character(16) :: word

  call get_command_argument(1, word)
  reads = word == 'read'
  call get_command_argument(2, word)
  read (word, *) rank
  do i = 1, 2
    call get_command_argument(2 + i, word)
    read (word, *) grid(i)
  end do
  by_columns = command_argument_count() == 5
  at = [rank / grid(2), mod(rank, grid(2))]
  if (by_columns) at = [mod(rank, grid(1)), rank / grid(1)]
  blocks = merge([2, 3], [4, 2], reads)
  rows = dealt(m, blocks(1), grid(1), at(1))
  columns = dealt(n, blocks(2), grid(2), at(2))
  held = [size(rows), size(columns)]
  allocate (a(held(1) + 3, held(2)))  ! a leading dimension that is too long
  a = -1
  options%rank = rank
  options%ranks = product(grid)
  options%job = 'darray'
  options%max_attempts = 100
  call cairn_init(cp, 'dealt', options=options)

  call cairn_define(cp, 'a', a(:held(1), :), cairn_darray([m], grid), ierr=ierr)
  if (ierr == 0) error stop 'lengths that differ are no error'
  call cairn_define(cp, 'a', a(:held(1), :), &
                    cairn_darray(global=[m, n], processes=grid, block=blocks, &
                                 by_columns=by_columns))
  if (reads) then
    call cairn_read(cp)
    do j = 1, held(2)
      do i = 1, held(1)
        if (a(i, j) /= rows(i) + 100 * columns(j)) error stop 'an element is wrong'
      end do
    end do
    if (any(a(held(1) + 1:, :) /= -1)) error stop 'an element beside the matrix'
  else
    do j = 1, held(2)
      do i = 1, held(1)
        a(i, j) = rows(i) + 100 * columns(j)
      end do
    end do
    call cairn_write(cp, 1)
  end if
  call cairn_finalize(cp)
  print '(a)', 'the matrix is right'

contains
  ! The indices, from 1, that process `at` gets.
  function dealt(extent, block, processes, at) result(mine)
    integer, intent(in) :: extent, block, processes, at
    integer, allocatable :: mine(:)
    integer :: index, next, left
    allocate (mine(0))
    next = 0
    left = block
    do index = 1, extent
      if (left == 0) then
        next = mod(next + 1, processes)
        left = block
      end if
      left = left - 1
      if (next == at) mine = [mine, index]
    end do
  end function
end program
