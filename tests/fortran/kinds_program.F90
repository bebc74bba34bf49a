! Every intrinsic type and kind that gfortran has, in every rank up to 7, through a checkpoint.
module kinds
  use cairn
  implicit none
  integer :: wrong = 0
contains
  subroutine check(condition, what)
    logical, intent(in) :: condition
    character(*), intent(in) :: what
    if (condition) return
    print '(2a)', 'wrong: ', what
    wrong = wrong + 1
  end subroutine

  pure function text(i)
    integer, intent(in) :: i
    character(13) :: text
    write (text, '(a,i0)') 'text ', i
  end function

#define DIFFER(a, b) a /= b

#define NAME integer_1
#define LABEL 'integer.1'
#define TYPE integer(1)
#define VALUE(i) int(i * 5, 1)
#include "each_rank.inc"

#define NAME integer_2
#define LABEL 'integer.2'
#define TYPE integer(2)
#define VALUE(i) int(i * 1001, 2)
#include "each_rank.inc"

#define NAME integer_4
#define LABEL 'integer.4'
#define TYPE integer(4)
#define VALUE(i) int(i * 70001, 4)
#include "each_rank.inc"

#define NAME integer_8
#define LABEL 'integer.8'
#define TYPE integer(8)
#define VALUE(i) int(i, 8) * 5000000001_8
#include "each_rank.inc"

#define NAME integer_16
#define LABEL 'integer.16'
#define TYPE integer(16)
#define VALUE(i) int(i, 16) * 5000000000000000001_16
#include "each_rank.inc"

#define NAME real_4
#define LABEL 'real.4'
#define TYPE real(4)
#define VALUE(i) real(i, 4) / 3
#include "each_rank.inc"

#define NAME real_8
#define LABEL 'real.8'
#define TYPE real(8)
#define VALUE(i) real(i, 8) / 3
#include "each_rank.inc"

#define NAME real_10
#define LABEL 'real.10'
#define TYPE real(10)
#define VALUE(i) real(i, 10) / 3
#include "each_rank.inc"

#define NAME real_16
#define LABEL 'real.16'
#define TYPE real(16)
#define VALUE(i) real(i, 16) / 3
#include "each_rank.inc"

#define NAME complex_4
#define LABEL 'complex.4'
#define TYPE complex(4)
#define VALUE(i) cmplx(i, -i, 4) / 3
#include "each_rank.inc"

#define NAME complex_8
#define LABEL 'complex.8'
#define TYPE complex(8)
#define VALUE(i) cmplx(i, -i, 8) / 3
#include "each_rank.inc"

#define NAME complex_10
#define LABEL 'complex.10'
#define TYPE complex(10)
#define VALUE(i) cmplx(i, -i, 10) / 3
#include "each_rank.inc"

#define NAME complex_16
#define LABEL 'complex.16'
#define TYPE complex(16)
#define VALUE(i) cmplx(i, -i, 16) / 3
#include "each_rank.inc"

#define NAME character_1
#define LABEL 'character.1'
#define TYPE character(1)
#define VALUE(i) achar(64 + i)
#include "each_rank.inc"

#define NAME character_13
#define LABEL 'character.13'
#define TYPE character(13)
#define VALUE(i) text(i)
#include "each_rank.inc"

#define NAME character_wide
#define LABEL 'character.wide'
#define TYPE character(3, kind=4)
#define VALUE(i) repeat(char(1000 + i, kind=4), 3)
#include "each_rank.inc"

#undef DIFFER
#define DIFFER(a, b) logical((a) .neqv. (b))

#define NAME logical_1
#define LABEL 'logical.1'
#define TYPE logical(1)
#define VALUE(i) logical(mod(i, 3) == 0, 1)
#include "each_rank.inc"

#define NAME logical_2
#define LABEL 'logical.2'
#define TYPE logical(2)
#define VALUE(i) logical(mod(i, 3) == 0, 2)
#include "each_rank.inc"

#define NAME logical_4
#define LABEL 'logical.4'
#define TYPE logical(4)
#define VALUE(i) logical(mod(i, 3) == 0, 4)
#include "each_rank.inc"

#define NAME logical_8
#define LABEL 'logical.8'
#define TYPE logical(8)
#define VALUE(i) logical(mod(i, 3) == 0, 8)
#include "each_rank.inc"
end module

program kinds_program
  use kinds
  implicit none
  call integer_1()
  call integer_2()
  call integer_4()
  call integer_8()
  call integer_16()
  call real_4()
  call real_8()
  call real_10()
  call real_16()
  call complex_4()
  call complex_8()
  call complex_10()
  call complex_16()
  call character_1()
  call character_13()
  call character_wide()
  call logical_1()
  call logical_2()
  call logical_4()
  call logical_8()
  if (wrong > 0) error stop 1
  print '(a)', 'all kinds and ranks are right'
end program
