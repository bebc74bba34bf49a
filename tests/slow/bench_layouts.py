"""Every kernel of cairn bench in each of its layouts, tiny, as the kernels of a matrix."""

EVERY_LAYOUT = """
  ior-posix: {kernel: ior, block: 64KiB, transfer: 8KiB, fsync: true}
  ior-fpp: {kernel: ior, layout: file-per-process, block: 64KiB, transfer: 8KiB, keep: true}
  ior-mpiio: {kernel: ior, api: MPIIO, block: 64KiB, transfer: 8KiB, segments: 3, keep: true}
  ior-collective: {kernel: ior, api: MPIIO, collective: true, block: 64KiB, transfer: 8KiB}
  ior-hdf5: {kernel: ior, api: HDF5, block: 64KiB, transfer: 8KiB, optional: true}
  hacc-posix: {kernel: hacc, particles: 1000}
  hacc-fpp: {kernel: hacc, layout: file-per-process, particles: 1000}
  hacc-mpiio: {kernel: hacc, api: MPIIO, particles: 1000, keep: true}
  vpic-hdf5: {kernel: vpic, api: HDF5, particles: 1000, optional: true}
  vpic-mpiio: {kernel: vpic, api: MPIIO, particles: 1000}
  vpic-alone: {kernel: vpic, api: MPIIO, collective: false, particles: 1000}
  bdcats-hdf5: {kernel: bdcats, api: HDF5, particles: 1000, optional: true}
  bdcats-mpiio: {kernel: bdcats, api: MPIIO, particles: 1000}
  loop-fpp: {kernel: loop, layout: file-per-process, size: 64KiB, transfer: 8KiB, compute_ms: 0}
  loop-mpiio: {kernel: loop, api: MPIIO, size: 64KiB, transfer: 8KiB, compute_ms: 0}
  loop-renames: {kernel: loop, api: MPIIO, size: 64KiB, transfer: 8KiB, compute_ms: 0, way: rename}
  rdbench-view: {kernel: rdbench, length: 66, steps: 4, interval: 2, iotype: view}
  rdbench-manual: {kernel: rdbench, length: 66, steps: 4, interval: 2, iotype: manual}
  rdbench-chunk: {kernel: rdbench, length: 66, steps: 4, interval: 2, iotype: chunk}
  mdtest: {kernel: mdtest, files: 20, write: 100, read: 100}
  mdtest-shared: {kernel: mdtest, layout: shared, files: 20}
  llmckpt: {kernel: llmckpt, model_scale: 0.00001, transfer: 64KiB, checkpoints: 2, reads: 1}
  palm-mpiio: {kernel: palm, levels: 2, checkpoints: 2}
  palm-stream: {kernel: palm, levels: 2, checkpoints: 2, back_end: stream}
  palm-cairn: {kernel: palm, levels: 2, checkpoints: 2, back_end: cairn}
"""
