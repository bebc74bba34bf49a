! Arrays whose length changes, and versions with variables of their own. What one rank writes, the
! programs of other languages read, and the other way round (fortran_test.py):
!
!   lists_program write    the set `lists`
!   lists_program read     and compares it
!   lists_program calls    the other calls
module lists
  use, intrinsic :: iso_fortran_env, only: int32, int64, real64
  use, intrinsic :: iso_c_binding, only: c_int64_t
  use cairn
  implicit none
  integer, parameter :: cells = 12
  integer(int32), target :: counts(cells)
  real(real64), allocatable, target :: values(:)
  integer(int64), allocatable, target :: keys(:)
  real(real64), allocatable, target :: speeds(:)
  integer(int32), allocatable, target :: own(:)

contains
  subroutine check(condition, what)
    logical, intent(in) :: condition
    character(*), intent(in) :: what
    if (condition) return
    print '(3a)', 'wrong: ', what, ' '//cairn_error_text()
    error stop 1
  end subroutine

  subroutine where_values(count, place) bind(C)
    integer(c_int64_t), value :: count
    type(cairn_place), intent(inout) :: place
    if (count >= 0) then
      deallocate (values)
      allocate (values(count))
    end if
    call cairn_at(place, values)
  end subroutine

  subroutine where_keys(count, place) bind(C)
    integer(c_int64_t), value :: count
    type(cairn_place), intent(inout) :: place
    if (count >= 0) then
      deallocate (keys)
      allocate (keys(count))
    end if
    call cairn_at(place, keys)
  end subroutine

  subroutine where_speeds(count, place) bind(C)
    integer(c_int64_t), value :: count
    type(cairn_place), intent(inout) :: place
    if (count >= 0) then
      deallocate (speeds)
      allocate (speeds(count))
    end if
    call cairn_at(place, speeds)
  end subroutine

  subroutine where_own(count, place) bind(C)
    integer(c_int64_t), value :: count
    type(cairn_place), intent(inout) :: place
    if (count >= 0) then
      deallocate (own)
      allocate (own(count))
    end if
    call cairn_at(place, own)
  end subroutine

  subroutine where_nothing(count, place) bind(C)
    integer(c_int64_t), value :: count
    type(cairn_place), intent(inout) :: place
    integer, allocatable :: missing(:)
    if (count < 0) call cairn_at(place, missing)
  end subroutine

  subroutine begin(cp)
    type(cairn_checkpoint), intent(inout) :: cp
    allocate (values(0), keys(0), speeds(0), own(0))
    call cairn_init(cp, 'lists')
    call cairn_define(cp, 'counts', counts, cairn_block([cells], [1]))
    call cairn_define_by(cp, 'values', where_values, cairn_ragged('counts'))
    call cairn_define_by(cp, 'keys', where_keys, cairn_particles('counts'))
    call cairn_define_by(cp, 'speeds', where_speeds, cairn_particles('counts', 'keys'), &
                         attributes=['units=m s-1'])
    call cairn_define_by(cp, 'own', where_own, cairn_per_rank())
  end subroutine

  subroutine write_lists()
    type(cairn_checkpoint) :: cp
    integer :: i, k
    call begin(cp)
    counts = [(modulo(i, 4), i=0, cells - 1)]
    values = [((10.0_real64 * i + k, k=0, counts(i + 1) - 1), i=0, cells - 1)]
    keys = [(int(i, int64), i=cells - 1, 0, -1)]
    speeds = keys / 2.0_real64
    own = [1, 2, 3]
    call cairn_write(cp, 1)
    call cairn_finalize(cp)
  end subroutine

  subroutine read_lists()
    type(cairn_checkpoint) :: cp
    integer(int64), allocatable :: ranks(:)
    integer :: i, k
    call begin(cp)
    counts = -1
    call cairn_read(cp)
    call check(all(counts == [(modulo(i, 4), i=0, cells - 1)]), 'counts')
    call check(size(values) == sum(counts), 'the number of values')
    call check(all(values == [((10.0_real64 * i + k, k=0, counts(i + 1) - 1), i=0, cells - 1)]), &
               'values')
    call check(size(keys) == cells .and. sum(keys) == cells * (cells - 1) / 2, 'keys')
    call check(all(speeds == keys / 2.0_real64), 'speeds')
    call check(all(own == [1, 2, 3]), 'data of this rank')
    call cairn_counts(cp, 'own', ranks)
    call check(all(ranks == [3_int64]), 'counts of ranks')
    call cairn_finalize(cp)
  end subroutine

  subroutine calls()
    type(cairn_checkpoint) :: cp
    type(cairn_options) :: options
    type(cairn_info), allocatable :: infos(:)
    integer, target :: always, once(2)
    integer :: found, ierr
    integer(int64) :: handle
    integer(int64), allocatable :: extents(:)
    logical :: reached
    options%keep = 4
    options%background = .true.
    options%lower_multiple = 2
    call get_environment_variable('CAIRN_TEST_LOWER', options%lower)
    call cairn_init(cp, 'calls', options=options)
    always = 1
    once = [7, 8]
    call cairn_define(cp, 'always', always, attributes=['units='])
    call cairn_set_attributes(cp, [character(16) :: 'title=A run', 'comment='])
    call cairn_begin(cp, 1)
    call cairn_write_var(cp, 'once', once, attributes=['units=K'])
    call cairn_commit(cp)
    call cairn_iwrite(cp, 2, handle)
    reached = .false.
    do while (.not. reached)
      call cairn_test(cp, handle, reached, level=cairn_level_global)
    end do
    call cairn_shape(cp, 'once', extents, version=1_int64)
    call check(all(extents == [2_int64]), 'a variable of one version')
    call cairn_shape(cp, 'once', extents, ierr=ierr)
    call check(ierr < 0, 'a variable of another version')
    call cairn_verify(cp, 1_int64)
    call cairn_drop(cp, 1)
    call cairn_list(cp, infos)
    call check(size(infos) == 1, 'what is left')
    call cairn_drop(cp, 2_int64, ierr)
    call check(ierr < 0, 'the last version was dropped')
    call cairn_commit(cp, ierr)
    call check(ierr < 0, 'no version was begun')
    call cairn_define_by(cp, 'nothing', where_nothing, ierr=ierr)
    call check(ierr < 0 .and. index(cairn_error_text(), "'nothing': its getter") > 0, 'a getter')
    call cairn_define(cp, 'always', always, attributes=['units'], ierr=ierr)
    call check(ierr < 0, 'an attribute without a sign')
    call cairn_finalize(cp)
    options = cairn_options(look=.true.)
    call cairn_init(cp, 'calls', options=options)
    call cairn_read_var(cp, 'always', found)
    call check(found == 1, 'what a tool reads')
    call cairn_finalize(cp)
  end subroutine
end module

program lists_program
  use lists
  implicit none
  character(8) :: part
  call get_command_argument(1, part)
  select case (part)
  case ('write')
    call write_lists()
  case ('read')
    call read_lists()
  case ('calls')
    call calls()
  end select
  print '(a)', 'all lists are right'
end program
