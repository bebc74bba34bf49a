! Checkpoints for Fortran: named arrays of all ranks, written as versions of which each exists as a
! whole. docs/user/fortran.md says how to use it, cairn/checkpoint.h what each call promises.
!
!   use cairn
!   type(cairn_checkpoint) :: cp
!   type(cairn_info) :: info
!   call cairn_init(cp, 'field', MPI_COMM_WORLD)
!   call cairn_define(cp, 't', t, cairn_block(global=[512, rows], first=[1, low], halo=[0, 1]))
!   call cairn_restart_test(cp, found, info=info)
!   if (found) call cairn_read(cp, info=info)
!   do step = info%number + 1, steps
!     call compute()
!     if (cairn_need(cp, step)) call cairn_write(cp, step)
!   end do
!   call cairn_finalize(cp)
!
! Arrays may have any type, kind and rank, and may be sections. The array that is passed to
! cairn_define must have TARGET (or be a pointer), stay where it is until cairn_undefine,
! cairn_finalize or the next cairn_define of its name, and not be an expression or a copy.
!
! Pass a component as a section, ps(:)%y, and never as ps%y: gfortran 12 moves the base address of
! an allocatable or pointer array `ps` by the component's offset when a bind(C) procedure gets ps%y.
!
! `ierr` is optional and last: 0 or a negative errno; cairn_error_text() says what is wrong. Without
! it, an error prints this text and ends the program.
module cairn
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int32, int64, real64
  implicit none
  private

  integer, parameter, public :: cairn_level_staged = 1, cairn_level_local = 2, &
                                cairn_level_partner = 3, cairn_level_global = 4
  integer, parameter, public :: cairn_survives_processes = 1, cairn_survives_power = 2, &
                                cairn_survives_node = 4, cairn_survives_pools = 8
  integer, parameter, public :: cairn_optional = 1  ! for `flags` of cairn_define
  integer, parameter, public :: cairn_owner_lowest_rank = 1, cairn_owner_highest_rank = 2
  ! How cairn_darray deals out a dimension.
  integer, parameter, public :: cairn_distribute_block = 1, cairn_distribute_cyclic = 2, &
                                cairn_distribute_none = 3

  ! For `type=`, where the array's own type does not say what it holds.
  ! begin: made from types.def by make_constants.py
  integer, parameter, public :: cairn_int8 = 1
  integer, parameter, public :: cairn_int16 = 2
  integer, parameter, public :: cairn_int32 = 3
  integer, parameter, public :: cairn_int64 = 4
  integer, parameter, public :: cairn_uint8 = 5
  integer, parameter, public :: cairn_uint16 = 6
  integer, parameter, public :: cairn_uint32 = 7
  integer, parameter, public :: cairn_uint64 = 8
  integer, parameter, public :: cairn_float16 = 9
  integer, parameter, public :: cairn_bfloat16 = 10
  integer, parameter, public :: cairn_float32 = 11
  integer, parameter, public :: cairn_float64 = 12
  integer, parameter, public :: cairn_float80 = 13
  integer, parameter, public :: cairn_float128 = 14
  integer, parameter, public :: cairn_complex64 = 17
  integer, parameter, public :: cairn_complex128 = 18
  integer, parameter, public :: cairn_complex_float80 = 19
  integer, parameter, public :: cairn_complex_float128 = 20
  integer, parameter, public :: cairn_logical8 = 24
  integer, parameter, public :: cairn_logical16 = 25
  integer, parameter, public :: cairn_logical32 = 26
  integer, parameter, public :: cairn_logical64 = 27
  integer, parameter, public :: cairn_character = 28
  integer, parameter, public :: cairn_opaque = 29
  ! end: made from types.def

  integer, parameter :: most = 15

  ! begin: made from kinds.def by make_constants.py
  integer, parameter :: kind_replicated = 1
  integer, parameter :: kind_block = 2
  integer, parameter :: kind_darray = 4
  integer, parameter :: kind_ragged = 5
  integer, parameter :: kind_particles = 6
  integer, parameter :: kind_per_rank = 7
  ! end: made from kinds.def

  type, bind(C), public :: cairn_checkpoint
    private
    type(c_ptr) :: handle = c_null_ptr
  end type

  ! Times are seconds. What is 0 or '' has the default that cairn/checkpoint.h names.
  type, public :: cairn_options
    logical :: fresh = .false.               ! begin a new line of versions
    logical :: partner = .false.             ! copy versions to nodes of other failure domains
    logical :: cyclic = .false.              ! a larger global array repeats the stored one
    logical :: look = .false.                ! only look at versions, as tools do
    logical :: background = .false.          ! copy versions to `lower` while the program goes on,
    integer :: lower_multiple = 0            ! those whose number is a multiple
    character(63) :: code_version = ''
    integer :: keep = 0                      ! the newest n versions stay
    integer(int64) :: keep_multiple = 0      ! and those whose number is a multiple
    real(real64) :: keep_period = 0          ! and the newest of each period
    real(real64) :: interval = 0             ! between versions, for cairn_need
    integer :: max_attempts = 0
    integer :: block_size = 0
    integer :: rank = 0, ranks = 0           ! without a communicator: processes of one host,
    character(255) :: job = ''               ! and a text that they alone have
    real(real64) :: timeout = 0
    character(1023) :: lower = ''            ! a directory that outlives the nodes
    integer :: lower_keep = 0                ! versions that stay there
    logical :: drop_copies = .false.         ! and none of lines before the newest one
    logical :: signals = .false.             ! those that end a job make cairn_should_exit say yes,
    character(1023) :: halt_file = ''        ! and so does this file,
    real(real64) :: end_time = 0             ! and the end of the job, in seconds since 1970,
    real(real64) :: exit_margin = 0          ! less what the program needs besides a checkpoint
  end type

  type, public :: cairn_info
    integer(int64) :: number = 0, step = 0, sequence = 0, parent = 0, begun_ns = 0, bytes = 0
    integer :: level = 0, survives = 0, attempts = 0, ranks = 0, skipped = 0, missing = 0
    integer :: from_copies = 0               ! parts of which a copy on another node was read
    logical :: abandoned = .false.
    character(63) :: code_version = ''
    character(36) :: run = ''
    character(255) :: why = ''
  end type

  type, bind(C), public :: cairn_distribution
    private
    integer(c_int32_t) :: dimensions = 0
    integer(c_int32_t) :: owner = 0
    integer(c_int64_t) :: global(most) = 0
    integer(c_int64_t) :: first(most) = 0
    integer(c_int32_t) :: halo_low(most) = 0
    integer(c_int32_t) :: halo_high(most) = 0
    integer(c_int32_t) :: axis(most) = 0
    integer(c_int32_t) :: kind = 0
    character(kind=c_char) :: over(256) = c_null_char, key(256) = c_null_char
    integer(c_int32_t) :: by_columns = 0
    integer(c_int32_t) :: processes(most) = 0
    integer(c_int32_t) :: distribute(most) = 0
    integer(c_int64_t) :: block(most) = 0
  end type

  ! Where an array is: see cairn_getter.
  type, bind(C), public :: cairn_place
    private
    type(c_ptr) :: array = c_null_ptr
    integer(c_int) :: error = 0
  end type

  abstract interface
    ! Says where an array is now, by `call cairn_at(place, array)`. `count`: -1, the library is
    ! about to read the array; else it is about to store to it, and cairn_ragged, cairn_particles
    ! and cairn_per_rank want room for so many elements. Must call nothing else of this module.
    subroutine cairn_getter(count, place) bind(C)
      import
      integer(c_int64_t), value :: count
      type(cairn_place), intent(inout) :: place
    end subroutine
    ! Learns that a version has reached a level (cairn_level_...), or failed with a negative errno:
    ! inside the calls that write, test and wait, and cairn_finalize. Must call nothing of this
    ! module.
    subroutine cairn_observer(version, level, error) bind(C)
      import
      integer(c_int64_t), value :: version
      integer(c_int32_t), value :: level, error
    end subroutine
  end interface
  public :: cairn_getter, cairn_observer

  ! struct cairn_checkpoint_options
  type, bind(C) :: c_options
    integer(c_int32_t) :: struct_size = 0, flags = 0
    type(c_ptr) :: pool = c_null_ptr, code_version = c_null_ptr
    integer(c_int32_t) :: rank = 0, ranks = 0
    type(c_ptr) :: job = c_null_ptr
    integer(c_int32_t) :: timeout_ms = 0, keep = 0
    integer(c_int64_t) :: keep_multiple = 0, keep_period_ns = 0, interval_ns = 0
    integer(c_int32_t) :: max_attempts = 0, block_size = 0
    type(c_ptr) :: lower = c_null_ptr
    integer(c_int32_t) :: lower_keep = 0, lower_multiple = 0
    type(c_ptr) :: halt_file = c_null_ptr
    integer(c_int64_t) :: end_time_ns = 0, exit_margin_ns = 0, mtbf_ns = 0
  end type

  ! struct cairn_checkpoint_outlook
  type, bind(C) :: c_outlook
    integer(c_int32_t) :: struct_size = 0, reason = 0, signal = 0, reserved = 0
    integer(c_int64_t) :: left_ns = 0, cost_ns = 0, interval_ns = 0
    character(kind=c_char) :: text(256) = c_null_char
  end type

  ! struct cairn_checkpoint_info
  type, bind(C) :: c_info
    integer(c_int32_t) :: struct_size = 0, level = 0, survives = 0, attempts = 0
    integer(c_int64_t) :: number = 0, step = 0, sequence = 0, parent = 0, begun_ns = 0, bytes = 0
    integer(c_int32_t) :: ranks = 0, is_abandoned = 0, skipped = 0, missing = 0
    character(kind=c_char) :: code_version(64) = c_null_char, run(37) = c_null_char, &
                              why(256) = c_null_char
    type(c_ptr) :: attributes = c_null_ptr
    integer(c_int32_t) :: attribute_count = 0, reserved = 0
    integer(c_int64_t) :: verified_ns = 0
    integer(c_int32_t) :: copies = 0, from_copies = 0
  end type

  integer(c_int64_t), parameter :: latest = -huge(0_c_int64_t) - 1_c_int64_t

  interface
    function c_init(name, communicator, options, checkpoint) bind(C, name='cairn_fortran_init')
      import
      integer(c_int) :: c_init
      character(kind=c_char), intent(in) :: name(*)
      type(*), dimension(..), intent(in), optional :: communicator
      type(c_options), intent(in) :: options
      type(c_ptr), intent(out) :: checkpoint
    end function
    function c_finalize(checkpoint) bind(C, name='cairn_checkpoint_finalize')
      import
      integer(c_int) :: c_finalize
      type(c_ptr), value :: checkpoint
    end function
    function c_undefine(checkpoint, name) bind(C, name='cairn_checkpoint_undefine')
      import
      integer(c_int) :: c_undefine
      type(c_ptr), value :: checkpoint
      character(kind=c_char), intent(in) :: name(*)
    end function
    function c_write(checkpoint, version) bind(C, name='cairn_checkpoint_write')
      import
      integer(c_int) :: c_write
      type(c_ptr), value :: checkpoint
      integer(c_int64_t), value :: version
    end function
    function c_begin(checkpoint, version) bind(C, name='cairn_checkpoint_begin')
      import
      integer(c_int) :: c_begin
      type(c_ptr), value :: checkpoint
      integer(c_int64_t), value :: version
    end function
    function c_commit(checkpoint) bind(C, name='cairn_checkpoint_commit')
      import
      integer(c_int) :: c_commit
      type(c_ptr), value :: checkpoint
    end function
    function c_drop(checkpoint, version, flags) bind(C, name='cairn_checkpoint_drop')
      import
      integer(c_int) :: c_drop
      type(c_ptr), value :: checkpoint
      integer(c_int64_t), value :: version
      integer(c_int32_t), value :: flags
    end function
    function c_verify(checkpoint, version, verified) bind(C, name='cairn_checkpoint_verify')
      import
      integer(c_int) :: c_verify
      type(c_ptr), value :: checkpoint
      integer(c_int64_t), value :: version
      type(c_ptr), value :: verified
    end function
    function c_counts(checkpoint, version, name, counts, capacity) &
        bind(C, name='cairn_checkpoint_counts')
      import
      integer(c_int) :: c_counts
      type(c_ptr), value :: checkpoint
      integer(c_int64_t), value :: version
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int64_t), intent(out) :: counts(*)
      integer(c_int32_t), value :: capacity
    end function
    function c_iwrite(checkpoint, version, handle) bind(C, name='cairn_checkpoint_iwrite')
      import
      integer(c_int) :: c_iwrite
      type(c_ptr), value :: checkpoint
      integer(c_int64_t), value :: version
      integer(c_int64_t), intent(out) :: handle
    end function
    function c_test(checkpoint, handle, level, progress) bind(C, name='cairn_checkpoint_test')
      import
      integer(c_int) :: c_test
      type(c_ptr), value :: checkpoint
      integer(c_int64_t), value :: handle
      integer(c_int32_t), value :: level
      type(c_ptr), value :: progress
    end function
    function c_wait(checkpoint, handle, level, timeout_ms) bind(C, name='cairn_checkpoint_wait')
      import
      integer(c_int) :: c_wait
      type(c_ptr), value :: checkpoint
      integer(c_int64_t), value :: handle
      integer(c_int32_t), value :: level, timeout_ms
    end function
    function c_observe(checkpoint, observer) bind(C, name='cairn_fortran_observe')
      import
      integer(c_int) :: c_observe
      type(c_ptr), value :: checkpoint
      type(c_funptr), value :: observer
    end function
    function c_restart_test(checkpoint, version, info) &
        bind(C, name='cairn_checkpoint_restart_test')
      import
      integer(c_int) :: c_restart_test
      type(c_ptr), value :: checkpoint
      integer(c_int64_t), value :: version
      type(c_info), intent(inout) :: info
    end function
    function c_read(checkpoint, version, flags, info) bind(C, name='cairn_checkpoint_read')
      import
      integer(c_int) :: c_read
      type(c_ptr), value :: checkpoint
      integer(c_int64_t), value :: version
      integer(c_int32_t), value :: flags
      type(c_info), intent(inout) :: info
    end function
    function c_shape(checkpoint, version, name, extents, room) bind(C, name='cairn_fortran_shape')
      import
      integer(c_int) :: c_shape
      type(c_ptr), value :: checkpoint
      integer(c_int64_t), value :: version
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int64_t), intent(out) :: extents(*)
      integer(c_int32_t), value :: room
    end function
    function c_list(checkpoint, to, size, room) bind(C, name='cairn_fortran_list')
      import
      integer(c_int) :: c_list
      type(c_ptr), value :: checkpoint
      type(c_info), intent(inout) :: to(*)
      integer(c_size_t), value :: size
      integer(c_int32_t), value :: room
    end function
    function c_need(checkpoint, step) bind(C, name='cairn_checkpoint_need')
      import
      integer(c_int) :: c_need
      type(c_ptr), value :: checkpoint
      integer(c_int64_t), value :: step
    end function
    function c_should_exit(checkpoint, outlook) bind(C, name='cairn_checkpoint_should_exit')
      import
      integer(c_int) :: c_should_exit
      type(c_ptr), value :: checkpoint
      type(c_outlook), intent(inout) :: outlook
    end function
    subroutine c_error(text, size) bind(C, name='cairn_fortran_error')
      import
      character(kind=c_char), intent(out) :: text(*)
      integer(c_size_t), value :: size
    end subroutine
    subroutine c_finish(call, result, ierr) bind(C, name='cairn_fortran_finish')
      import
      character(kind=c_char), intent(in) :: call(*)
      integer(c_int), value :: result
      integer(c_int), intent(out), optional :: ierr
    end subroutine
    subroutine c_forget_error() bind(C, name='cairn_fortran_forget_error')
    end subroutine
  end interface

  interface
    ! Without `distribution` all ranks hold the same. `flags`: cairn_optional, a restart from a
    ! version without the variable is no error, and stores the scalar `default`, if given.
    ! `attributes`: texts as 'units=K'; 'dimensions=z y x' has the slowest first, as tools show it.
    subroutine cairn_define(checkpoint, name, array, distribution, type, flags, aliases, default, &
                            attributes, ierr) bind(C, name='cairn_fortran_define')
      import
      type(cairn_checkpoint), intent(in) :: checkpoint
      character(kind=c_char, len=*), intent(in) :: name
      type(*), dimension(..), intent(inout), target, asynchronous :: array
      type(cairn_distribution), intent(in), optional :: distribution
      integer(c_int), intent(in), optional :: type, flags
      character(kind=c_char, len=*), intent(in), optional :: aliases(:)
      type(*), dimension(..), intent(in), optional :: default
      character(kind=c_char, len=*), intent(in), optional :: attributes(:)
      integer(c_int), intent(out), optional :: ierr
    end subroutine
    ! Registers an array that moves, or whose length changes: Cairn calls `getter` to learn where it
    ! is. The first call comes from here, for type and shape, so the array must be allocated now.
    subroutine cairn_define_by(checkpoint, name, getter, distribution, type, flags, aliases, &
                               default, attributes, ierr) bind(C, name='cairn_fortran_define_by')
      import
      type(cairn_checkpoint), intent(in) :: checkpoint
      character(kind=c_char, len=*), intent(in) :: name
      procedure(cairn_getter) :: getter
      type(cairn_distribution), intent(in), optional :: distribution
      integer(c_int), intent(in), optional :: type, flags
      character(kind=c_char, len=*), intent(in), optional :: aliases(:)
      type(*), dimension(..), intent(in), optional :: default
      character(kind=c_char, len=*), intent(in), optional :: attributes(:)
      integer(c_int), intent(out), optional :: ierr
    end subroutine
    ! In a getter.
    subroutine cairn_at(place, array) bind(C, name='cairn_fortran_at')
      import
      type(cairn_place), intent(inout) :: place
      type(*), dimension(..), intent(inout), target :: array
    end subroutine
    ! A variable of the version that was begun, which stays as it is until cairn_commit. All ranks
    ! call this for the same names.
    subroutine cairn_write_var(checkpoint, name, array, distribution, type, attributes, ierr) &
        bind(C, name='cairn_fortran_write_var')
      import
      type(cairn_checkpoint), intent(in) :: checkpoint
      character(kind=c_char, len=*), intent(in) :: name
      type(*), dimension(..), intent(inout), target, asynchronous :: array
      type(cairn_distribution), intent(in), optional :: distribution
      integer(c_int), intent(in), optional :: type
      character(kind=c_char, len=*), intent(in), optional :: attributes(:)
      integer(c_int), intent(out), optional :: ierr
    end subroutine
    ! Sets the attributes that each version gets from now on, as 'title=A run'. All ranks give the
    ! same.
    subroutine cairn_set_attributes(checkpoint, attributes, ierr) &
        bind(C, name='cairn_fortran_set_attributes')
      import
      type(cairn_checkpoint), intent(in) :: checkpoint
      character(kind=c_char, len=*), intent(in) :: attributes(:)
      integer(c_int), intent(out), optional :: ierr
    end subroutine
    ! Reads one stored variable into `array`: all of it, or the box that begins at `first` (from 1)
    ! and has the array's shape. `version`: the newest, if not given. No other rank takes part.
    subroutine cairn_read_var(checkpoint, name, array, version, first, type, ierr) &
        bind(C, name='cairn_fortran_read_var')
      import
      type(cairn_checkpoint), intent(in) :: checkpoint
      character(kind=c_char, len=*), intent(in) :: name
      type(*), dimension(..), intent(inout) :: array
      integer(c_int64_t), intent(in), optional :: version
      integer(c_int), intent(in), optional :: first(:)
      integer(c_int), intent(in), optional :: type
      integer(c_int), intent(out), optional :: ierr
    end subroutine
  end interface

  interface cairn_block
    module procedure block_32, block_64
  end interface
  interface cairn_darray
    module procedure darray_32, darray_64
  end interface
  interface cairn_write
    module procedure write_32, write_64
  end interface
  interface cairn_begin
    module procedure begin_32, begin_64
  end interface
  interface cairn_drop
    module procedure drop_32, drop_64
  end interface
  interface cairn_iwrite
    module procedure iwrite_32, iwrite_64
  end interface
  interface cairn_restart_test
    module procedure restart_test_latest, restart_test_32, restart_test_64
  end interface
  interface cairn_read
    module procedure read_latest, read_32, read_64
  end interface
  interface cairn_need
    module procedure need_32, need_64
  end interface

  public :: cairn_init, cairn_finalize, cairn_define, cairn_undefine, cairn_block, cairn_darray
  public :: cairn_define_by, cairn_at, cairn_ragged, cairn_particles, cairn_per_rank
  public :: cairn_set_attributes, cairn_begin, cairn_write_var, cairn_commit, cairn_drop
  public :: cairn_verify, cairn_counts
  public :: cairn_write, cairn_iwrite, cairn_test, cairn_wait, cairn_observe
  public :: cairn_restart_test, cairn_read, cairn_read_var, cairn_shape, cairn_list
  public :: cairn_need, cairn_should_exit, cairn_error_text

contains

  ! Collective. `communicator`: an integer of `mpi`, a type(MPI_Comm) of `mpi_f08`, or none.
  subroutine cairn_init(checkpoint, name, communicator, options, ierr)
    type(cairn_checkpoint), intent(inout) :: checkpoint
    character(*), intent(in) :: name
    type(*), dimension(..), intent(in), optional :: communicator
    type(cairn_options), intent(in), optional :: options
    integer, intent(out), optional :: ierr
    type(cairn_options) :: chosen
    type(c_options) :: c
    character(kind=c_char), target :: code_version(64), job(256), lower(1024), halt_file(1024)
    if (present(options)) chosen = options
    c%struct_size = int(c_sizeof(c), c_int32_t)
    if (chosen%fresh) c%flags = 1
    if (chosen%partner) c%flags = c%flags + 8
    if (chosen%cyclic) c%flags = c%flags + 16
    if (chosen%signals) c%flags = c%flags + 4
    if (chosen%look) c%flags = c%flags + 2
    if (chosen%background) c%flags = c%flags + 32
    if (chosen%drop_copies) c%flags = c%flags + 64
    c%lower_multiple = chosen%lower_multiple
    call c_text(chosen%code_version, code_version)
    call c_text(chosen%job, job)
    if (chosen%code_version /= '') c%code_version = c_loc(code_version)
    if (chosen%job /= '') c%job = c_loc(job)
    c%rank = chosen%rank
    c%ranks = chosen%ranks
    c%timeout_ms = nint(chosen%timeout * 1e3_real64, c_int32_t)
    c%keep = chosen%keep
    c%keep_multiple = chosen%keep_multiple
    c%keep_period_ns = nint(chosen%keep_period * 1e9_real64, c_int64_t)
    c%interval_ns = nint(chosen%interval * 1e9_real64, c_int64_t)
    c%max_attempts = chosen%max_attempts
    c%block_size = chosen%block_size
    call c_text(chosen%lower, lower)
    call c_text(chosen%halt_file, halt_file)
    if (chosen%lower /= '') c%lower = c_loc(lower)
    if (chosen%halt_file /= '') c%halt_file = c_loc(halt_file)
    c%lower_keep = chosen%lower_keep
    c%end_time_ns = nint(chosen%end_time * 1e9_real64, c_int64_t)
    c%exit_margin_ns = nint(chosen%exit_margin * 1e9_real64, c_int64_t)
    call finish('cairn_init', c_init(trim(name)//c_null_char, communicator, c, checkpoint%handle), &
                ierr)
  end subroutine

  ! Collective.
  subroutine cairn_finalize(checkpoint, ierr)
    type(cairn_checkpoint), intent(inout) :: checkpoint
    integer, intent(out), optional :: ierr
    type(c_ptr) :: handle
    call c_forget_error()
    handle = checkpoint%handle
    checkpoint%handle = c_null_ptr
    call finish('cairn_finalize', c_finalize(handle), ierr)
  end subroutine

  subroutine cairn_undefine(checkpoint, name, ierr)
    type(cairn_checkpoint), intent(in) :: checkpoint
    character(*), intent(in) :: name
    integer, intent(out), optional :: ierr
    call c_forget_error()
    call finish('cairn_undefine', c_undefine(checkpoint%handle, trim(name)//c_null_char), ierr)
  end subroutine

  ! A box of a global array. By dimension: the global array's extent, where the box begins (from 1),
  ! and how many elements of the array lie around the box and are not written: `halo` on both sides,
  ! or each side for itself. `axis`: for each dimension of the array that of the global array along
  ! which it runs. `global` and `first` are in the global array's order, the halos in the array's.
  pure function block_64(global, first, halo, halo_low, halo_high, axis, owner) result(made)
    integer(int64), intent(in) :: global(:), first(:)
    integer, intent(in), optional :: halo(:), halo_low(:), halo_high(:), axis(:), owner
    type(cairn_distribution) :: made
    integer :: n
    n = size(global)
    if (size(first) /= n .or. n > most) then
      made%dimensions = -1
      return
    end if
    made%dimensions = n
    made%global(:n) = global
    made%first(:n) = first
    if (present(halo)) then
      n = min(size(halo), most)
      made%halo_low(:n) = halo(:n)
      made%halo_high(:n) = halo(:n)
    end if
    if (present(halo_low)) made%halo_low(:min(size(halo_low), most)) = halo_low
    if (present(halo_high)) made%halo_high(:min(size(halo_high), most)) = halo_high
    if (present(axis)) made%axis(:min(size(axis), most)) = axis
    if (present(owner)) made%owner = owner
  end function

  pure function block_32(global, first, halo, halo_low, halo_high, axis, owner) result(made)
    integer(int32), intent(in) :: global(:), first(:)
    integer, intent(in), optional :: halo(:), halo_low(:), halo_high(:), axis(:), owner
    type(cairn_distribution) :: made
    made = block_64(int(global, int64), int(first, int64), halo, halo_low, halo_high, axis, owner)
  end function

  ! A global array that is dealt out in blocks to a grid of all ranks, as by ScaLAPACK; the array is
  ! what this rank is dealt: as many elements as NUMROC says. By dimension of the global array: its
  ! extent, the processes of the grid, the elements of a block (the descriptor's M_ and N_, MB_ and
  ! NB_; its RSRC_ and CSRC_ are 0), and cairn_distribute_..., which is cyclic. `by_columns`: in the
  ! grid the first coordinate of the ranks moves fastest, as after BLACS_GRIDINIT with 'C'.
  pure function darray_64(global, processes, block, distribute, by_columns, axis) result(made)
    integer(int64), intent(in) :: global(:)
    integer, intent(in) :: processes(:)
    integer, intent(in), optional :: block(:), distribute(:)
    logical, intent(in), optional :: by_columns
    integer, intent(in), optional :: axis(:)
    type(cairn_distribution) :: made
    integer :: n
    made%kind = kind_darray
    n = size(global)
    made%dimensions = n
    if (size(processes) /= n .or. n > most .or. n == 0) made%dimensions = -1
    if (present(block)) then
      if (size(block) /= n) made%dimensions = -1
    end if
    if (present(distribute)) then
      if (size(distribute) /= n) made%dimensions = -1
    end if
    if (made%dimensions < 0) return
    made%global(:n) = global
    made%first(:n) = 1
    made%processes(:n) = processes
    made%distribute(:n) = cairn_distribute_cyclic
    if (present(block)) made%block(:n) = block
    if (present(distribute)) made%distribute(:n) = distribute
    if (present(by_columns)) made%by_columns = merge(1, 0, by_columns)
    if (present(axis)) made%axis(:min(size(axis), most)) = axis
  end function

  pure function darray_32(global, processes, block, distribute, by_columns, axis) result(made)
    integer(int32), intent(in) :: global(:)
    integer, intent(in) :: processes(:)
    integer, intent(in), optional :: block(:), distribute(:)
    logical, intent(in), optional :: by_columns
    integer, intent(in), optional :: axis(:)
    type(cairn_distribution) :: made
    made = darray_64(int(global, int64), processes, block, distribute, by_columns, axis)
  end function

  ! Arrays of one dimension of which each rank has any number of elements, another one in each
  ! version: a list of values for each element of the integer variable `over`;
  pure function cairn_ragged(over) result(made)
    character(*), intent(in) :: over
    type(cairn_distribution) :: made
    made = counted(kind_ragged, over, '')
  end function

  ! particles, dealt out in order of ranks, or with `over` and `key` to the ranks that have their
  ! cells (`key` counts these from 0, the first dimension the fastest);
  pure function cairn_particles(over, key) result(made)
    character(*), intent(in), optional :: over, key
    type(cairn_distribution) :: made
    made = counted(kind_particles, '', '')
    if (present(over) .and. present(key)) then
      made = counted(kind_particles, over, key)
    else if (present(over)) then
      made = counted(kind_particles, over, '')
    end if
  end function

  ! what belongs to one rank.
  pure function cairn_per_rank() result(made)
    type(cairn_distribution) :: made
    made = counted(kind_per_rank, '', '')
  end function

  pure function counted(kind, over, key) result(made)
    integer, intent(in) :: kind
    character(*), intent(in) :: over, key
    type(cairn_distribution) :: made
    made%kind = kind
    call c_text(over, made%over)
    call c_text(key, made%key)
  end function

  ! Begins a version of what is defined and what cairn_write_var adds.
  subroutine begin_64(checkpoint, version, ierr)
    type(cairn_checkpoint), intent(in) :: checkpoint
    integer(int64), intent(in) :: version
    integer, intent(out), optional :: ierr
    call c_forget_error()
    call finish('cairn_begin', c_begin(checkpoint%handle, version), ierr)
  end subroutine

  subroutine begin_32(checkpoint, version, ierr)
    type(cairn_checkpoint), intent(in) :: checkpoint
    integer(int32), intent(in) :: version
    integer, intent(out), optional :: ierr
    call begin_64(checkpoint, int(version, int64), ierr)
  end subroutine

  ! Collective; waits until the version that was begun is committed.
  subroutine cairn_commit(checkpoint, ierr)
    type(cairn_checkpoint), intent(in) :: checkpoint
    integer, intent(out), optional :: ierr
    call c_forget_error()
    call finish('cairn_commit', c_commit(checkpoint%handle), ierr)
  end subroutine

  ! Collective, but where options%look is set. Drops a version; the newest one stays.
  subroutine drop_64(checkpoint, version, ierr)
    type(cairn_checkpoint), intent(in) :: checkpoint
    integer(int64), intent(in) :: version
    integer, intent(out), optional :: ierr
    call c_forget_error()
    call finish('cairn_drop', c_drop(checkpoint%handle, version, 0_c_int32_t), ierr)
  end subroutine

  subroutine drop_32(checkpoint, version, ierr)
    type(cairn_checkpoint), intent(in) :: checkpoint
    integer(int32), intent(in) :: version
    integer, intent(out), optional :: ierr
    call drop_64(checkpoint, int(version, int64), ierr)
  end subroutine

  ! Compares all bytes that this host has of a version, the newest if none is named, with their
  ! checksums.
  subroutine cairn_verify(checkpoint, version, ierr)
    type(cairn_checkpoint), intent(in) :: checkpoint
    integer(int64), intent(in), optional :: version
    integer, intent(out), optional :: ierr
    integer(c_int64_t) :: chosen
    call c_forget_error()
    chosen = latest
    if (present(version)) chosen = version
    call finish('cairn_verify', c_verify(checkpoint%handle, chosen, c_null_ptr), ierr)
  end subroutine

  ! How many elements of a ragged array, of particles or of data of single ranks each rank had that
  ! wrote the version, the newest if none is named.
  subroutine cairn_counts(checkpoint, name, counts, version, ierr)
    type(cairn_checkpoint), intent(in) :: checkpoint
    character(*), intent(in) :: name
    integer(int64), allocatable, intent(out) :: counts(:)
    integer(int64), intent(in), optional :: version
    integer, intent(out), optional :: ierr
    type(cairn_info), allocatable :: infos(:)
    integer(c_int64_t) :: chosen
    integer :: i, ranks
    call cairn_list(checkpoint, infos, ierr)
    if (present(ierr)) then
      if (ierr < 0) return
    end if
    chosen = latest
    if (present(version)) chosen = version
    ranks = 1
    do i = size(infos), 1, -1
      if (.not. present(version) .or. infos(i)%number == chosen) ranks = infos(i)%ranks
    end do
    allocate (counts(ranks), source=0_int64)
    call finish('cairn_counts', c_counts(checkpoint%handle, chosen, trim(name)//c_null_char, &
                                         counts, int(ranks, c_int32_t)), ierr)
  end subroutine

  ! Collective; waits until the version is committed.
  subroutine write_64(checkpoint, version, ierr)
    type(cairn_checkpoint), intent(in) :: checkpoint
    integer(int64), intent(in) :: version
    integer, intent(out), optional :: ierr
    call c_forget_error()
    call finish('cairn_write', c_write(checkpoint%handle, version), ierr)
  end subroutine

  subroutine write_32(checkpoint, version, ierr)
    type(cairn_checkpoint), intent(in) :: checkpoint
    integer(int32), intent(in) :: version
    integer, intent(out), optional :: ierr
    call write_64(checkpoint, int(version, int64), ierr)
  end subroutine

  ! Collective; on return the arrays may change. cairn_test and cairn_wait say when the version is
  ! committed.
  subroutine iwrite_64(checkpoint, version, handle, ierr)
    type(cairn_checkpoint), intent(in) :: checkpoint
    integer(int64), intent(in) :: version
    integer(int64), intent(out) :: handle
    integer, intent(out), optional :: ierr
    call c_forget_error()
    call finish('cairn_iwrite', c_iwrite(checkpoint%handle, version, handle), ierr)
  end subroutine

  subroutine iwrite_32(checkpoint, version, handle, ierr)
    type(cairn_checkpoint), intent(in) :: checkpoint
    integer(int32), intent(in) :: version
    integer(int64), intent(out) :: handle
    integer, intent(out), optional :: ierr
    call iwrite_64(checkpoint, int(version, int64), handle, ierr)
  end subroutine

  ! Has the version reached `level` (cairn_level_local, if not given)? Does not wait.
  subroutine cairn_test(checkpoint, handle, reached, level, ierr)
    type(cairn_checkpoint), intent(in) :: checkpoint
    integer(int64), intent(in) :: handle
    logical, intent(out) :: reached
    integer, intent(in), optional :: level
    integer, intent(out), optional :: ierr
    integer(c_int) :: result
    integer(c_int32_t) :: asked
    call c_forget_error()
    asked = cairn_level_local
    if (present(level)) asked = level
    result = c_test(checkpoint%handle, handle, asked, c_null_ptr)
    reached = result == 1
    call finish('cairn_test', result, ierr)
  end subroutine

  ! Waits until the level is reached or impossible; `timeout`: seconds.
  subroutine cairn_wait(checkpoint, handle, level, timeout, ierr)
    type(cairn_checkpoint), intent(in) :: checkpoint
    integer(int64), intent(in) :: handle
    integer, intent(in), optional :: level
    real(real64), intent(in), optional :: timeout
    integer, intent(out), optional :: ierr
    integer(c_int32_t) :: asked, milliseconds
    call c_forget_error()
    asked = cairn_level_local
    if (present(level)) asked = level
    milliseconds = 0
    if (present(timeout)) milliseconds = max(1, int(timeout * 1e3_real64))
    call finish('cairn_wait', c_wait(checkpoint%handle, handle, asked, milliseconds), ierr)
  end subroutine

  ! `observer` is called when a version has reached a level or failed; none: nobody is.
  subroutine cairn_observe(checkpoint, observer, ierr)
    type(cairn_checkpoint), intent(in) :: checkpoint
    procedure(cairn_observer), optional :: observer
    integer, intent(out), optional :: ierr
    type(c_funptr) :: its
    call c_forget_error()
    its = c_null_funptr
    if (present(observer)) its = c_funloc(observer)
    call finish('cairn_observe', c_observe(checkpoint%handle, its), ierr)
  end subroutine

  ! Collective. Is there a version (the newest, if none is named) for what is defined?
  subroutine restart_test_64(checkpoint, found, version, info, ierr)
    type(cairn_checkpoint), intent(in) :: checkpoint
    logical, intent(out) :: found
    integer(int64), intent(in) :: version
    type(cairn_info), intent(inout), optional :: info
    integer, intent(out), optional :: ierr
    type(c_info) :: c
    integer(c_int) :: result
    call c_forget_error()
    c%struct_size = int(c_sizeof(c), c_int32_t)
    result = c_restart_test(checkpoint%handle, version, c)
    found = result == 1
    if (found .and. present(info)) info = info_of(c)
    call finish('cairn_restart_test', result, ierr)
  end subroutine

  subroutine restart_test_32(checkpoint, found, version, info, ierr)
    type(cairn_checkpoint), intent(in) :: checkpoint
    logical, intent(out) :: found
    integer(int32), intent(in) :: version
    type(cairn_info), intent(inout), optional :: info
    integer, intent(out), optional :: ierr
    call restart_test_64(checkpoint, found, int(version, int64), info, ierr)
  end subroutine

  subroutine restart_test_latest(checkpoint, found, info, ierr)
    type(cairn_checkpoint), intent(in) :: checkpoint
    logical, intent(out) :: found
    type(cairn_info), intent(inout), optional :: info
    integer, intent(out), optional :: ierr
    call restart_test_64(checkpoint, found, latest, info, ierr)
  end subroutine

  ! Collective. Reads all defined variables of a version, the newest if none is named. `halo`: also
  ! elements around this rank's boxes, where they lie inside the global arrays.
  subroutine read_64(checkpoint, version, info, halo, ierr)
    type(cairn_checkpoint), intent(in) :: checkpoint
    integer(int64), intent(in) :: version
    type(cairn_info), intent(inout), optional :: info
    logical, intent(in), optional :: halo
    integer, intent(out), optional :: ierr
    type(c_info) :: c
    integer(c_int) :: result
    integer(c_int32_t) :: flags
    call c_forget_error()
    flags = 0
    if (present(halo)) flags = merge(1, 0, halo)
    c%struct_size = int(c_sizeof(c), c_int32_t)
    result = c_read(checkpoint%handle, version, flags, c)
    if (result == 0 .and. present(info)) info = info_of(c)
    call finish('cairn_read', result, ierr)
  end subroutine

  subroutine read_32(checkpoint, version, info, halo, ierr)
    type(cairn_checkpoint), intent(in) :: checkpoint
    integer(int32), intent(in) :: version
    type(cairn_info), intent(inout), optional :: info
    logical, intent(in), optional :: halo
    integer, intent(out), optional :: ierr
    call read_64(checkpoint, int(version, int64), info, halo, ierr)
  end subroutine

  subroutine read_latest(checkpoint, info, halo, ierr)
    type(cairn_checkpoint), intent(in) :: checkpoint
    type(cairn_info), intent(inout), optional :: info
    logical, intent(in), optional :: halo
    integer, intent(out), optional :: ierr
    call read_64(checkpoint, latest, info, halo, ierr)
  end subroutine

  ! The shape of a stored variable's global array, to allocate what it is read into. `version`: the
  ! newest, if not given. No other rank takes part.
  subroutine cairn_shape(checkpoint, name, extents, version, ierr)
    type(cairn_checkpoint), intent(in) :: checkpoint
    character(*), intent(in) :: name
    integer(int64), allocatable, intent(out) :: extents(:)
    integer(int64), intent(in), optional :: version
    integer, intent(out), optional :: ierr
    integer(c_int64_t) :: found(most), chosen
    integer(c_int) :: rank
    chosen = latest
    if (present(version)) chosen = version
    rank = c_shape(checkpoint%handle, chosen, trim(name)//c_null_char, found, int(most, c_int32_t))
    extents = found(:max(rank, 0))
    call finish('cairn_shape', rank, ierr)
  end subroutine

  ! All committed versions, newest first.
  subroutine cairn_list(checkpoint, infos, ierr)
    type(cairn_checkpoint), intent(in) :: checkpoint
    type(cairn_info), allocatable, intent(out) :: infos(:)
    integer, intent(out), optional :: ierr
    type(c_info), allocatable :: c(:)
    integer(c_int) :: count
    integer :: i
    allocate (c(64))
    do
      count = c_list(checkpoint%handle, c, c_sizeof(c(1)), size(c, kind=c_int32_t))
      if (count <= size(c)) exit
      deallocate (c)
      allocate (c(2 * count))
    end do
    allocate (infos(max(count, 0)))
    do i = 1, count
      infos(i) = info_of(c(i))
    end do
    call finish('cairn_list', count, ierr)
  end subroutine

  ! Is a checkpoint due at `step`? The same answer on all ranks.
  logical function need_64(checkpoint, step, ierr)
    type(cairn_checkpoint), intent(in) :: checkpoint
    integer(int64), intent(in) :: step
    integer, intent(out), optional :: ierr
    integer(c_int) :: result
    call c_forget_error()
    result = c_need(checkpoint%handle, step)
    need_64 = result == 1
    call finish('cairn_need', result, ierr)
  end function

  logical function need_32(checkpoint, step, ierr)
    type(cairn_checkpoint), intent(in) :: checkpoint
    integer(int32), intent(in) :: step
    integer, intent(out), optional :: ierr
    need_32 = need_64(checkpoint, int(step, int64), ierr)
  end function

  ! Collective. Should the run write a last checkpoint and end? `why`: the reason, or ''.
  logical function cairn_should_exit(checkpoint, why, ierr)
    type(cairn_checkpoint), intent(in) :: checkpoint
    character(:), allocatable, intent(out), optional :: why
    integer, intent(out), optional :: ierr
    type(c_outlook) :: outlook
    integer(c_int) :: result
    call c_forget_error()
    outlook%struct_size = int(c_sizeof(outlook), c_int32_t)
    result = c_should_exit(checkpoint%handle, outlook)
    cairn_should_exit = result == 1
    if (present(why)) why = trim(fortran_text(outlook%text))
    call finish('cairn_should_exit', result, ierr)
  end function

  ! The text of this thread's last error.
  function cairn_error_text() result(text)
    character(:), allocatable :: text
    character(kind=c_char, len=1) :: buffer(1024)
    integer :: i
    call c_error(buffer, size(buffer, kind=c_size_t))
    allocate (character(1024) :: text)
    do i = 1, size(buffer)
      text(i:i) = buffer(i)
    end do
    text = trim(text)
  end function

  subroutine finish(call, result, ierr)
    character(*), intent(in) :: call
    integer(c_int), intent(in) :: result
    integer, intent(out), optional :: ierr
    call c_finish(call//c_null_char, result, ierr)
  end subroutine

  pure subroutine c_text(text, to)
    character(*), intent(in) :: text
    character(kind=c_char), intent(out) :: to(:)
    integer :: i
    to = c_null_char
    do i = 1, min(len_trim(text), size(to) - 1)
      to(i) = text(i:i)
    end do
  end subroutine

  pure function fortran_text(from) result(text)
    character(kind=c_char), intent(in) :: from(:)
    character(size(from)) :: text
    integer :: i
    text = ''
    do i = 1, size(from)
      if (from(i) == c_null_char) return
      text(i:i) = from(i)
    end do
  end function

  pure function info_of(c) result(info)
    type(c_info), intent(in) :: c
    type(cairn_info) :: info
    info%number = c%number
    info%step = c%step
    info%sequence = c%sequence
    info%parent = c%parent
    info%begun_ns = c%begun_ns
    info%bytes = c%bytes
    info%level = c%level
    info%survives = c%survives
    info%from_copies = c%from_copies
    info%attempts = c%attempts
    info%ranks = c%ranks
    info%skipped = c%skipped
    info%missing = c%missing
    info%abandoned = c%is_abandoned /= 0
    info%code_version = fortran_text(c%code_version)
    info%run = fortran_text(c%run)
    info%why = fortran_text(c%why)
  end function

end module
