! A small program with PALM's arrays and calls: palm_program create|restore STEP
! `create` goes on from a version, if there is one, and writes the next; `restore` compares it.
program palm_program
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use mpi_f08
  use cairn_palm
  implicit none
  integer, parameter :: nx = 30, ny = 22, nzb = 0, nzt = 4, nbgp = 3
  integer :: rank, ranks, dims(2), coords(2), nxl, nxr, nys, nyn, wrong, step, found_step, ierr
  logical :: is_periodic(2), found
  type(MPI_Comm) :: comm2d
  character(32) :: word
  ! Scalars and what all ranks have.
  real(real64), target :: simulated_time
  integer, target :: time_step_count
  logical, target :: humidity
  character(20), target :: run_identifier
  real(real64), target :: profile(nzb:nzt + 1)
  integer, target :: topography(0:ny, 0:nx)
  ! The rank's box.
  real(real64), allocatable, target :: us(:, :), u(:, :, :), m_soil(:, :, :), species(:, :, :, :)
  real(real64), allocatable, target :: pt(:, :, :)
  integer, allocatable, target :: kind_of_surface(:, :)

  call MPI_Init()
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  dims = 0
  is_periodic = .true.
  call MPI_Dims_create(ranks, 2, dims)
  call MPI_Cart_create(MPI_COMM_WORLD, 2, dims, is_periodic, .false., comm2d)
  call MPI_Comm_rank(comm2d, rank)
  call MPI_Cart_coords(comm2d, rank, 2, coords)
  nxl = (nx + 1) * coords(1) / dims(1)
  nxr = (nx + 1) * (coords(1) + 1) / dims(1) - 1
  nys = (ny + 1) * coords(2) / dims(2)
  nyn = (ny + 1) * (coords(2) + 1) / dims(2) - 1
  allocate (us(nys - nbgp:nyn + nbgp, nxl - nbgp:nxr + nbgp))
  allocate (kind_of_surface(nys:nyn, nxl:nxr))
  allocate (u(nzb:nzt + 1, nys - nbgp:nyn + nbgp, nxl - nbgp:nxr + nbgp))
  allocate (pt(nzb:nzt + 1, nys - nbgp:nyn + nbgp, nxl - nbgp:nxr + nbgp))
  allocate (m_soil(0:2, nys:nyn, nxl:nxr))
  allocate (species(2, nzb:nzt + 1, nys:nyn, nxl:nxr))
  wrong = 0

  call get_command_argument(2, word)
  read (word, *) step
  call get_command_argument(1, word)
  call clear()
  call checkpoint_init('palm', comm2d)
  call checkpoint_grid(nx, ny, nxl, nxr, nys, nyn, nbgp)
  found_step = -5
  call checkpoint_begin_read(found, found_step)
  call check(found .or. found_step == 0, 'the step without a version')
  if (found) then
    call read_all()
    call compare(found_step)
  end if
  if (word == 'restore') then
    call check(found .and. found_step == step, 'the step')
  else
    call check_refusals()
    call fill(step)
    call checkpoint_define('topography', topography, dt_replicated)
    call write_all()
    call fill(step + 1)
    call write_all()
  end if
  call checkpoint_finalize()
  call MPI_Allreduce(MPI_IN_PLACE, wrong, 1, MPI_INTEGER, MPI_SUM, comm2d)
  if (wrong > 0) call MPI_Abort(comm2d, 1)
  if (rank == 0 .and. found) print '(a,i0)', 'restored step ', found_step
  if (rank == 0 .and. word == 'create') print '(a,i0)', 'created step ', step
  call MPI_Finalize()

contains

  subroutine check(condition, what)
    logical, intent(in) :: condition
    character(*), intent(in) :: what
    if (condition) return
    print '(a,i0,2a)', 'rank ', rank, ': wrong: ', what
    wrong = wrong + 1
  end subroutine

  real(real64) function value(number, k, j, i, at)
    integer, intent(in) :: number, k, j, i, at
    value = number * 1e9_real64 + at * 1e6_real64 + k * 1e4_real64 + j * 100 + i
  end function

  subroutine clear()
    simulated_time = -1
    time_step_count = -1
    humidity = .false.
    run_identifier = ''
    profile = -1
    topography = -1
    us = -1
    kind_of_surface = -1
    u = -1
    pt = -1
    m_soil = -1
    species = -1
  end subroutine

  subroutine fill(at)
    integer, intent(in) :: at
    integer :: i, j, k
    simulated_time = at * 0.1_real64
    time_step_count = at
    humidity = .true.
    run_identifier = 'a run of PALM'
    profile = [(value(1, k, 0, 0, at), k=nzb, nzt + 1)]
    do i = 0, nx
      do j = 0, ny
        topography(j, i) = 100 * j + i
      end do
    end do
    do i = nxl, nxr
      do j = nys, nyn
        us(j, i) = value(2, 0, j, i, at)
        kind_of_surface(j, i) = j * 1000 + i
        do k = nzb, nzt + 1
          u(k, j, i) = value(3, k, j, i, at)
          pt(k, j, i) = value(4, k, j, i, at)
          species(:, k, j, i) = [value(5, k, j, i, at), value(6, k, j, i, at)]
        end do
        m_soil(:, j, i) = [(value(7, k, j, i, at), k=0, 2)]
      end do
    end do
  end subroutine

  subroutine write_all()
    call checkpoint_begin_write(time_step_count)
    call checkpoint_write('simulated_time', simulated_time, dt_replicated)
    call checkpoint_write('time_step_count', time_step_count, dt_replicated)
    call checkpoint_write('humidity', humidity, dt_replicated)
    call checkpoint_write('run_identifier', run_identifier, dt_replicated)
    call checkpoint_write('profile', profile, dt_replicated)
    call checkpoint_write('topography', topography, dt_replicated)
    call checkpoint_write('us', us, dt_block)
    call checkpoint_write('kind_of_surface', kind_of_surface, dt_block)
    call checkpoint_write('u', u, dt_block)
    ! Without its ghost layers.
    call checkpoint_write('pt', pt(:, nys:nyn, nxl:nxr), dt_block)
    call checkpoint_write('m_soil', m_soil, dt_block)
    call checkpoint_write('species', species, dt_block)
    call checkpoint_end_write()
  end subroutine

  subroutine read_all()
    call checkpoint_read('simulated_time', simulated_time, dt_replicated)
    call checkpoint_read('time_step_count', time_step_count, dt_replicated)
    call checkpoint_read('humidity', humidity, dt_replicated)
    call checkpoint_read('run_identifier', run_identifier, dt_replicated)
    call checkpoint_read('profile', profile, dt_replicated)
    call checkpoint_read('topography', topography, dt_replicated)
    call checkpoint_read('us', us, dt_block)
    call checkpoint_read('kind_of_surface', kind_of_surface, dt_block)
    call checkpoint_read('u', u, dt_block)
    call checkpoint_read('pt', pt, dt_block)
    call checkpoint_read('m_soil', m_soil, dt_block)
    call checkpoint_read('species', species, dt_block)
    call checkpoint_end_read()
  end subroutine

  subroutine compare(at)
    integer, intent(in) :: at
    integer :: i, j, k
    logical :: is_inside
    call check(simulated_time == at * 0.1_real64, 'simulated_time')
    call check(time_step_count == at, 'time_step_count')
    call check(humidity, 'humidity')
    call check(run_identifier == 'a run of PALM', 'run_identifier')
    call check(all(profile == [(value(1, k, 0, 0, at), k=nzb, nzt + 1)]), 'profile')
    call check(topography(ny, nx) == 100 * ny + nx .and. topography(1, 0) == 100, 'topography')
    do i = nxl - nbgp, nxr + nbgp
      do j = nys - nbgp, nyn + nbgp
        is_inside = i >= 0 .and. i <= nx .and. j >= 0 .and. j <= ny
        call check(us(j, i) == merge(value(2, 0, j, i, at), -1.0_real64, is_inside), 'us')
        do k = nzb, nzt + 1
          call check(u(k, j, i) == merge(value(3, k, j, i, at), -1.0_real64, is_inside), 'u')
          call check(pt(k, j, i) == merge(value(4, k, j, i, at), -1.0_real64, is_inside), 'pt')
        end do
      end do
    end do
    do i = nxl, nxr
      do j = nys, nyn
        call check(kind_of_surface(j, i) == j * 1000 + i, 'kind_of_surface')
        call check(all(m_soil(:, j, i) == [(value(7, k, j, i, at), k=0, 2)]), 'm_soil')
        do k = nzb, nzt + 1
          call check(all(species(:, k, j, i) == [value(5, k, j, i, at), value(6, k, j, i, at)]), &
                     'species')
        end do
      end do
    end do
  end subroutine

  subroutine check_refusals()
    call checkpoint_define('u', u, 9, ierr)
    call check(ierr < 0 .and. checkpoint_error_text() == &
               "variable 'u': expected dt_replicated or dt_block", checkpoint_error_text())
    call checkpoint_define('profile', profile, dt_block, ierr)
    call check(ierr < 0, 'an array without (j, i) as a block')
    call checkpoint_define('u', u(:, 2:, :), dt_block, ierr)
    call check(ierr < 0, 'an array of another extent')
  end subroutine
end program
