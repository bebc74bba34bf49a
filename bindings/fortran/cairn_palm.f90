! PALM's calls for restart data, over Cairn's checkpoints. docs/user/fortran.md says how to use it.
!
!   call checkpoint_init('palm', comm2d)
!   call checkpoint_grid(nx, ny, nxl, nxr, nys, nyn, nbgp)
!   call checkpoint_begin_read(found, step)
!   if (found) then
!     call checkpoint_read('topography', topography, dt_replicated)
!     call checkpoint_read('u', u, dt_block)
!     call checkpoint_end_read()
!   end if
!   ...
!   call checkpoint_begin_write(step)
!   call checkpoint_write('topography', topography, dt_replicated)
!   call checkpoint_write('u', u, dt_block)
!   call checkpoint_end_write()
!   call checkpoint_finalize()
!
! All ranks make the same calls in the same order. An array given to checkpoint_write must have
! TARGET and stay as it is until checkpoint_end_write, which writes all of them as one version.
! checkpoint_read has filled its array when it returns. Pass a component as ps(:)%y, never as ps%y
! (cairn.f90 says why).
!
! `dt_replicated`: all ranks hold the same. `dt_block`: the last two dimensions are (j, i), this
! rank's box of the horizontal grid, with or without `nbgp` ghost layers on each side; those before
! them (k, ...) are complete. The version holds the global array in the order (i, j, k, ...),
! without ghost layers, so any other number of ranks can read it. Ghost layers inside the domain
! are filled by checkpoint_read.
module cairn_palm
  use, intrinsic :: iso_c_binding
  use cairn, only: cairn_checkpoint, cairn_options, cairn_init, cairn_finalize, &
      checkpoint_error_text => cairn_error_text
  implicit none
  private

  integer, parameter, public :: dt_replicated = 1, dt_block = 2

  public :: cairn_options
  public :: checkpoint_init, checkpoint_finalize, checkpoint_grid
  public :: checkpoint_define, checkpoint_write, checkpoint_read
  public :: checkpoint_begin_write, checkpoint_end_write
  public :: checkpoint_begin_read, checkpoint_end_read
  public :: checkpoint_error_text

  type(cairn_checkpoint), save :: context

  interface
    ! The horizontal grid has the points 0:nx and 0:ny; this rank has nxl:nxr and nys:nyn, and its
    ! arrays may have `nbgp` ghost layers around them.
    subroutine checkpoint_grid(nx, ny, nxl, nxr, nys, nyn, nbgp, ierr) &
        bind(C, name='cairn_palm_grid')
      import
      integer(c_int), intent(in) :: nx, ny, nxl, nxr, nys, nyn
      integer(c_int), intent(in), optional :: nbgp
      integer(c_int), intent(out), optional :: ierr
    end subroutine
    ! Not needed: tells a mistake before the first checkpoint.
    subroutine checkpoint_define(name, array, distribution, ierr) bind(C, name='cairn_palm_define')
      import
      character(kind=c_char, len=*), intent(in) :: name
      type(*), dimension(..), intent(inout), target, asynchronous :: array
      integer(c_int), intent(in) :: distribution
      integer(c_int), intent(out), optional :: ierr
    end subroutine
    subroutine checkpoint_write(name, array, distribution, ierr) bind(C, name='cairn_palm_write')
      import
      character(kind=c_char, len=*), intent(in) :: name
      type(*), dimension(..), intent(inout), target, asynchronous :: array
      integer(c_int), intent(in) :: distribution
      integer(c_int), intent(out), optional :: ierr
    end subroutine
    ! Collective.
    subroutine checkpoint_read(name, array, distribution, ierr) bind(C, name='cairn_palm_read')
      import
      character(kind=c_char, len=*), intent(in) :: name
      type(*), dimension(..), intent(inout) :: array
      integer(c_int), intent(in) :: distribution
      integer(c_int), intent(out), optional :: ierr
    end subroutine
    ! A new version, named by the step.
    subroutine checkpoint_begin_write(step, ierr) bind(C, name='cairn_palm_begin_write')
      import
      integer(c_int), intent(in) :: step
      integer(c_int), intent(out), optional :: ierr
    end subroutine
    ! Collective. Writes what checkpoint_write was given, for all ranks or for none.
    subroutine checkpoint_end_write(ierr) bind(C, name='cairn_palm_end_write')
      import
      integer(c_int), intent(out), optional :: ierr
    end subroutine
    subroutine c_open(checkpoint) bind(C, name='cairn_palm_open')
      import
      type(cairn_checkpoint), intent(in) :: checkpoint
    end subroutine
    subroutine c_begin_read(is_found, step, ierr) bind(C, name='cairn_palm_begin_read')
      import
      integer(c_int), intent(out) :: is_found
      integer(c_int64_t), intent(out) :: step
      integer(c_int), intent(out), optional :: ierr
    end subroutine
  end interface

contains

  ! Collective. Opens the restart data `name`. `communicator` and `options` as of cairn_init.
  subroutine checkpoint_init(name, communicator, options, ierr)
    character(*), intent(in) :: name
    type(*), dimension(..), intent(in), optional :: communicator
    type(cairn_options), intent(in), optional :: options
    integer, intent(out), optional :: ierr
    call cairn_init(context, name, communicator, options, ierr)
    call c_open(context)
  end subroutine

  ! Collective.
  subroutine checkpoint_finalize(ierr)
    integer, intent(out), optional :: ierr
    call cairn_finalize(context, ierr)
    call c_open(context)
  end subroutine

  ! Collective. Is there a version to go on from? `step`: its name, or 0. Verifies all its bytes; if
  ! some are damaged, it is the version before.
  subroutine checkpoint_begin_read(found, step, ierr)
    logical, intent(out) :: found
    integer, intent(out), optional :: step
    integer, intent(out), optional :: ierr
    integer(c_int) :: is_found
    integer(c_int64_t) :: number
    call c_begin_read(is_found, number, ierr)
    found = is_found == 1
    if (present(step)) step = int(number)
  end subroutine

  ! For the look of it: each checkpoint_read is complete by itself.
  subroutine checkpoint_end_read(ierr)
    integer, intent(out), optional :: ierr
    if (present(ierr)) ierr = 0
  end subroutine
end module
