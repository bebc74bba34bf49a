"""A rank whose MPI's launcher keeps its files in the covered directory is told so, once."""

import os

import cairn_case
from cairn_case import CairnCase


class LauncherDirectory(CairnCase):
    def run_rank(self, rank, directory):
        env = {
            "OMPI_COMM_WORLD_SIZE": "2", "OMPI_COMM_WORLD_RANK": rank,
            "PMIX_SERVER_TMPDIR": os.path.join(directory, "ompi.host.0", "pid.7")
        }
        return self.cairn("run", "--at", "dir", "--drain", "never", "--", "true", env=env).err

    def test_it_is_told(self):
        os.makedirs(self.path("dir/tmp/ompi.host.0/pid.7"))
        os.mkdir(self.path("dir-beside"))
        told = self.run_rank("0", self.path("dir/tmp"))
        self.assertIn("MPI_Init fails; set TMPDIR to a directory outside of", told)
        self.assertNotIn("TMPDIR", self.run_rank("1", self.path("dir/tmp")))
        self.assertNotIn("TMPDIR", self.run_rank("0", self.path("dir-beside")))


if __name__ == "__main__":
    cairn_case.main()
