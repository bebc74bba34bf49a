# Shortens what ninja prints: of the lines "[12/345] Building …", one for each tenth of the work;
# all others stay.
match($0, /^\[[0-9]+\/[0-9]+\] /) {
  split(substr($0, 2, RLENGTH - 3), step, "/")
  # The first lines look for changed files, and say nothing of the work.
  if (/Re-checking|Re-running/) next
  tenth = int(10 * step[1] / step[2])
  if (tenth > shown) {
    shown = tenth
    printf "  building: %3d %% (%d of %d steps)\n", 10 * tenth, step[1], step[2]
    fflush()
  }
  next
}
/^ninja: no work to do/ { next }
{ print; fflush() }
