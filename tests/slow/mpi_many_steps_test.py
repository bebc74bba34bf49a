"""640 MiB through a pool of 64 MiB by four ranks and MPI-IO, as tests/mpi/many_steps_test.py does it with smaller files."""

import os
import runpy

os.environ["CAIRN_STEP_MIB"] = "16"
runpy.run_path(os.path.join(os.environ["CAIRN_SOURCE_DIR"], "tests", "mpi", "many_steps_test.py"), run_name="__main__")
