! What else a Fortran array can be, and each call of the module, in one process without MPI.
module parts
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use, intrinsic :: iso_c_binding, only: c_char, c_int32_t, c_int64_t
  use cairn
  implicit none
  integer :: wrong = 0
  ! What `note` was told last, and how often.
  integer(c_int64_t) :: noted_version = 0
  integer :: noted = 0, noted_level = 0, noted_error = -1

  type :: particle
    integer :: id = 0
    real(real64) :: x = 0
    real(real64) :: y = 0
  end type

  ! The distance of its parts is not a multiple of their length.
  type :: labels
    character(5) :: long = ''
    character(2) :: short = ''
  end type

contains
  subroutine check(condition, what)
    logical, intent(in) :: condition
    character(*), intent(in) :: what
    if (condition) return
    print '(2a)', 'wrong: ', what
    wrong = wrong + 1
  end subroutine

  subroutine check_error(ierr, text)
    integer, intent(in) :: ierr
    character(*), intent(in) :: text
    call check(ierr < 0, 'no error: '//text)
    call check(index(cairn_error_text(), text) > 0, 'text: '//cairn_error_text())
  end subroutine

  subroutine sections()
    type(cairn_checkpoint) :: cp
    integer, target :: m(10, 8), t(4, 3), empty(0, 3)
    type(particle), target :: p(6)
    type(labels), target :: label(4)
    real, pointer :: q(:, :)
    integer :: i, j
    m = reshape([(i, i=1, 80)], [10, 8])
    t = reshape([(i, i=1, 12)], [4, 3])
    p = [(particle(i, i / 2.0_real64, -i / 4.0_real64), i=1, 6)]
    label%short = ['ab', 'cd', 'ef', 'gh']
    allocate (q(-2:3, 5:7))
    q = reshape([(real(i), i=1, 18)], shape(q))
    call cairn_init(cp, 'sections')
    call cairn_define(cp, 'backwards', m(9:1:-2, 8:2:-3))
    call pass_on(cp, 'component', p(:)%x)
    call cairn_define(cp, 'label', label(:)%short)
    call cairn_define(cp, 'structures', p(2:6:2))
    call cairn_define(cp, 'pointer', q(-2::2, :))
    call cairn_define(cp, 'empty', empty)
    call cairn_define(cp, 'noted', t, attributes=[character(24) :: 'units=K', 'dimensions=y x'])
    call cairn_define(cp, 'turned', t, cairn_block(global=[3, 4], first=[1, 1], axis=[2, 1]))
    call cairn_write(cp, 5)
    m = 0
    t = 0
    p = particle()
    label = labels()
    q = 0
    call cairn_read(cp)
    call check(all(m(9:1:-2, 8:2:-3) == reshape([((i + 10 * (j - 1), i=9, 1, -2), j=8, 2, -3)], &
                                               [5, 3])), 'a section that runs backwards')
    call check(count(m /= 0) == 15, 'elements beside the section')
    call check(all(p(1::2)%x == [0.5_real64, 1.5_real64, 2.5_real64]), 'a component')
    call check(all(label%short == ['ab', 'cd', 'ef', 'gh']), 'a component of characters')
    call check(all(p%id == [0, 2, 0, 4, 0, 6]), 'structures')
    call check(all(q(-2::2, 5) == [1., 3., 5.]) .and. all(q(-1::2, :) == 0), 'a pointer')
    call check(all(t == reshape([(i, i=1, 12)], [4, 3])), 'turned')
    block
      integer :: back(3, 4), middle(2, 2), ierr
      integer, allocatable :: sized(:, :)
      integer(int64), allocatable :: extents(:)
      call cairn_shape(cp, 'backwards', extents)
      call check(all(extents == [5_int64, 3_int64]), 'the shape of what is stored')
      allocate (sized(extents(1), extents(2)))
      call cairn_read_var(cp, 'backwards', sized)
      call check(all(sized == m(9:1:-2, 8:2:-3)), 'an array of the stored shape')
      call cairn_shape(cp, 'empty', extents, version=5_int64)
      call check(all(extents == [0_int64, 3_int64]), 'the shape of what is empty')
      call cairn_shape(cp, 'nothing', extents, ierr=ierr)
      call check_error(ierr, "variable 'nothing': the version has none of this name")
      call cairn_define(cp, 'noted', t, attributes=['units'], ierr=ierr)
      call check_error(ierr, "attribute 'units': expected key=text")
      call cairn_read_var(cp, 'turned', back)
      call check(all(back == transpose(t)), 'the global array of what is turned')
      call cairn_read_var(cp, 'turned', middle, version=5_int64, first=[2, 3])
      call check(all(middle == transpose(t(3:4, 2:3))), 'a box')
    end block
    call cairn_finalize(cp)
    deallocate (q)
  end subroutine

  ! Components behind the first one, of arrays that have descriptors. As p%y, without the section,
  ! gfortran 12 moves the base address of such an array.
  subroutine components()
    type(cairn_checkpoint) :: cp
    type(particle), allocatable, target :: p(:)
    type(particle), pointer :: q(:)
    real(real64) :: y(5)
    integer :: i
    allocate (p(5), q(2:6))
    p = [(particle(i, i / 2.0_real64, -i / 4.0_real64), i=1, 5)]
    q = p
    call cairn_init(cp, 'components')
    call cairn_define(cp, 'x', p(:)%x)
    call cairn_define(cp, 'y', p(:)%y)
    call pass_on(cp, 'y of a pointer', q(:)%y)
    call cairn_write(cp, 1)
    call check(all(p%id == [(i, i=1, 5)]) .and. all(p%x == [(i / 2.0_real64, i=1, 5)]), &
               'an array whose component was defined')
    call cairn_read_var(cp, 'y', y)
    call check(all(y == [(-i / 4.0_real64, i=1, 5)]), 'a component that was stored')
    p = particle()
    q = particle()
    call cairn_read(cp)
    call check(all(p%id == 0) .and. all(q%x == 0), 'elements beside the component')
    call check(all(p%x == [(i / 2.0_real64, i=1, 5)]), 'the second component')
    call check(all(p%y == [(-i / 4.0_real64, i=1, 5)]) .and. all(q%y == p%y), 'the third component')
    call cairn_read_var(cp, 'x', p(:)%y)
    call check(all(p%y == p%x) .and. all(p%id == 0), 'a component by itself')
    call cairn_finalize(cp)
    deallocate (p, q)
  end subroutine

  ! An array of the caller's, whatever it is.
  subroutine pass_on(cp, name, array) bind(C)
    type(cairn_checkpoint), intent(in) :: cp
    character(kind=c_char, len=*), intent(in) :: name
    type(*), dimension(..), intent(inout), target, asynchronous :: array
    call cairn_define(cp, name, array)
  end subroutine

  subroutine pass_size(cp, array, ierr)
    type(cairn_checkpoint), intent(in) :: cp
    integer, intent(inout), target :: array(3, *)
    integer, intent(out) :: ierr
    call cairn_define(cp, 'size', array, ierr=ierr)
  end subroutine

  ! The options of a run that has to end in time, and a copy in a directory.
  subroutine exits()
    type(cairn_checkpoint) :: cp
    type(cairn_options) :: options
    character(:), allocatable :: why
    character(200) :: lower
    integer, target :: a
    integer(int64) :: handle
    integer :: ierr, unit
    call get_environment_variable('CAIRN_TEST_LOWER', lower)
    options%lower = lower
    options%halt_file = trim(lower)//'/halt'
    options%signals = .true.
    a = 77
    call cairn_init(cp, 'exits', options=options)
    call cairn_define(cp, 'a', a)
    call cairn_iwrite(cp, 1, handle)
    call cairn_wait(cp, handle, level=cairn_level_global)
    call check(.not. cairn_should_exit(cp, why) .and. why == '', 'an exit without a reason')
    open (newunit=unit, file=options%halt_file, status='new')
    close (unit)
    call check(cairn_should_exit(cp, why) .and. index(why, 'halt file') > 0, 'the halt file')
    call cairn_finalize(cp)
    options%lower = trim(lower)//'/none'
    call cairn_init(cp, 'exits', options=options, ierr=ierr)
    call check_error(ierr, 'options.lower: '//trim(lower)//'/none')
  end subroutine

  subroutine note(version, level, error) bind(C)
    integer(c_int64_t), value :: version
    integer(c_int32_t), value :: level, error
    noted = noted + 1
    noted_version = version
    noted_level = level
    noted_error = error
  end subroutine

  subroutine calls()
    type(cairn_checkpoint) :: cp
    type(cairn_options) :: options
    type(cairn_info) :: info
    type(cairn_info), allocatable :: infos(:)
    integer, target :: a(3), old(2), extra
    integer, allocatable, target :: missing(:)
    integer(int64) :: handle
    logical :: found, reached
    integer :: ierr, step
    options%keep = 3
    options%code_version = 'arrays 1'
    options%interval = 1e-6_real64
    a = [1, 2, 3]
    old = [7, 8]
    call cairn_init(cp, 'calls', options=options)
    call pass_on(cp, 'a  ', a)
    call pass_on(cp, 'former name', old)
    call cairn_restart_test(cp, found)
    call check(.not. found, 'a version in a new set')
    call check(.not. cairn_need(cp, 1), 'a checkpoint is due at once')
    step = 2
    do while (.not. cairn_need(cp, step))
      step = step + 1
    end do
    call cairn_observe(cp, note)
    call cairn_write(cp, 4)
    call check(noted > 0 .and. noted_version == 4 .and. noted_level == cairn_level_local .and. &
               noted_error == 0, 'the observer')
    call cairn_observe(cp)
    noted = 0
    a = [4, 5, 6]
    call cairn_iwrite(cp, 5_int64, handle)
    a = 0
    call cairn_wait(cp, handle, timeout=10.0_real64)
    call cairn_test(cp, handle, reached)
    call check(reached, 'LOCAL is not reached after the wait')
    call cairn_test(cp, handle, reached, level=cairn_level_staged)
    call check(reached, 'STAGED is not reached after the wait')
    call cairn_list(cp, infos)
    call check(noted == 0, 'an observer that is not there any more')
    call check(size(infos) == 2, 'number of versions')
    call check(infos(1)%number == 5 .and. infos(2)%number == 4, 'versions')
    call check(infos(2)%step == step .and. infos(1)%parent == infos(2)%sequence, 'their line')
    call cairn_undefine(cp, 'former name')
    old = 0
    extra = 0
    call cairn_define(cp, 'name', old, aliases=['other name ', 'former name'])
    call cairn_define(cp, 'extra', extra, flags=cairn_optional, default=42)
    call cairn_restart_test(cp, found, 5, info)
    call check(found .and. info%missing == 1, 'restart_test')
    call cairn_read(cp, 5, info)
    call check(all(a == [4, 5, 6]) .and. all(old == [7, 8]) .and. extra == 42, 'read by number')
    call check(info%number == 5 .and. info%ranks == 1 .and. info%code_version == 'arrays 1' .and. &
               len_trim(info%run) == 36 .and. info%level == cairn_level_local, 'info')
    call cairn_read(cp, 4_int64)
    call check(all(a == [1, 2, 3]), 'read of an older version')

    call cairn_define(cp, 'b', missing, ierr=ierr)
    call check_error(ierr, "variable 'b': the array is not allocated or associated")
    call pass_size(cp, a, ierr)
    call check_error(ierr, "variable 'size': the array has an assumed size")
    call cairn_define(cp, 'b', a, cairn_block([3, 3], [1, 1]), ierr=ierr)
    call check_error(ierr, "variable 'b': the array has rank 1, its distribution 2")
    call cairn_define(cp, 'b', a, cairn_block([3], [1, 1]), ierr=ierr)
    call check_error(ierr, "variable 'b': global and first: expected equal lengths")
    call cairn_define(cp, 'b', a, cairn_block([3], [1], halo=[-1]), ierr=ierr)
    call check_error(ierr, "variable 'b': halo of dimension 1")
    call cairn_define(cp, 'b', a, cairn_block([3], [1], axis=[2]), ierr=ierr)
    call check_error(ierr, "variable 'b': axis 2: expected 1 to 1")
    call cairn_define(cp, 'b', a, cairn_block([3], [2]), ierr=ierr)
    call check_error(ierr, 'b')
    call cairn_define(cp, 'b', a, flags=cairn_optional, default=1.0, ierr=ierr)
    call check_error(ierr, "variable 'b': default: expected a scalar of the array's type")
    call cairn_define(cp, 'b', a, type=cairn_float64, ierr=ierr)
    call check_error(ierr, 'element size')
    call cairn_read(cp, 77, ierr=ierr)
    call check_error(ierr, 'no version of this number')
    call cairn_undefine(cp, 'nothing', ierr)
    call check_error(ierr, 'nothing')
    call cairn_finalize(cp, ierr)
    call check(ierr == 0, 'finalize')
    call cairn_init(cp, 'calls', 1.0_real64, ierr=ierr)
    call check_error(ierr, 'expected an integer or a type(MPI_Comm)')
    call cairn_init(cp, '.calls', ierr=ierr)
    call check_error(ierr, '.calls')
  end subroutine
end module

program arrays_program
  use parts
  implicit none
  call sections()
  call components()
  call exits()
  call calls()
  if (wrong > 0) error stop 1
  print '(a)', 'all arrays and calls are right'
end program
