"""cairn.torch with PyTorch 2.6 of Debian 13, whose tree is made at the first run (network, root):
what ranks save comes back on any number of ranks, an incomplete version never does, and programs
with torch.save() run under `cairn run`. CAIRN_SEED repeats the kills."""

import os
import pathlib
import random
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import unittest

from torch_tree import CAIRN, SOURCE, Tree

TREE = Tree()
SEED = int(os.environ.get("CAIRN_SEED", str(time.time_ns() % 1_000_000)))
KILLS = 8
MPIRUN = ("mpirun.openmpi", "--oversubscribe", "--allow-run-as-root", "--mca", "pml", "ob1",
          "--mca", "btl", "self,tcp", "--mca", "mpi_yield_when_idle", "1")
SECONDS = 300
RANKS = SOURCE / "tests/slow/torch_ranks.py"
# Of a model and its optimizer: an unchanged program that knows nothing of Cairn.
PROGRAM = """
import os, torch
if not os.path.exists("model.pt"):
    torch.manual_seed(1)
    model = torch.nn.Sequential(torch.nn.Linear(300, 200), torch.nn.Linear(200, 100))
    model = model.to(torch.bfloat16)
    optimizer = torch.optim.AdamW(model.parameters())
    model(torch.ones(4, 300, dtype=torch.bfloat16)).sum().backward()
    optimizer.step()
    torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, "model.pt.tmp")
    os.rename("model.pt.tmp", "model.pt")
    torch.save(model.state_dict(), "old.pt", _use_new_zipfile_serialization=False)
found = torch.load("model.pt", weights_only=True)
mapped = torch.load("model.pt", weights_only=True, mmap=True)
old = torch.load("old.pt", weights_only=True)
for name, tensor in found["model"].items():
    assert tensor.equal(mapped["model"][name]) and tensor.equal(old[name]), name
print("sum", sum(tensor.double().abs().sum().item() for tensor in found["model"].values()),
      len(found["optimizer"]["state"]))
"""


class Torch(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="cairn-torch-", dir="/dev/shm")
        self.addCleanup(scratch.cleanup)
        self.place = pathlib.Path(scratch.name)
        self.lower = self.place / "lower"
        self.lower.mkdir()

    def environment(self):
        return {
            "CAIRN_POOL_DIR": self.place / "pools", "CAIRN_POOL_SIZE": "1536MiB",
            "LOWER": self.lower, "FILES": self.place / "files", "PYTHONWARNINGS": "ignore"
        }

    def group(self, ranks):
        """The environment of each rank."""
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        return [{
            **self.environment(), "RANK": rank, "WORLD_SIZE": ranks, "MASTER_ADDR": "127.0.0.1",
            "MASTER_PORT": port
        } for rank in range(ranks)]

    def start(self, ranks, action, step):
        return [
            TREE.start(["python3", RANKS, action, "model", step], self.place, environment,
                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            for environment in self.group(ranks)
        ]

    def run_on_nodes(self, nodes, action, step):
        """nodes: of each rank, its node, which is a pool of this host."""
        command = [*MPIRUN]
        for node, environment in zip(nodes, self.group(len(nodes))):
            environment = {
                **environment, "CAIRN_POOL_NAME": f"node{node}", "CAIRN_POOL_SIZE": "256MiB",
                "CAIRN_CHECKPOINT_DOMAIN": f"rack{node}", "PMIX_MCA_gds": "hash"
            }
            command += ([":"] if "-n" in command else []) + [
                "-n", "1",
                *TREE.command(["python3", RANKS, action, "model", step], self.place, environment)
            ]
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False,
                              timeout=SECONDS + 60)
        self.assertEqual(done.returncode, 0,
                         f"{action} {step} on {nodes}:\n{done.stdout}{done.stderr}")

    def lose(self, node):
        subprocess.run([CAIRN, "pool", "remove", f"node{node}", "--force"], check=True,
                       capture_output=True,
                       env={**os.environ, "CAIRN_POOL_DIR": str(self.place / "pools")})

    def run_ranks(self, ranks, action, step, expected=None):
        running = self.start(ranks, action, step)
        said = [process.communicate(timeout=SECONDS)[0] for process in running]
        codes = [process.returncode for process in running]
        self.assertEqual(expected or [0] * ranks, codes,
                         f"{action} {step} on {ranks} ranks:\n" + "\n".join(said))
        return said

    def test_what_ranks_save_is_loaded_on_other_numbers_of_ranks(self):
        self.run_ranks(2, "save", 1)
        for ranks in (2, 3, 1):
            self.run_ranks(ranks, "load", 1)
        self.run_ranks(3, "save", 2)
        self.run_ranks(2, "load", 2)
        shown = subprocess.run([CAIRN, "ckpt", "show", "model"],
                               env={**os.environ, "CAIRN_POOL_DIR": str(self.place / "pools")},
                               capture_output=True, text=True, check=True).stdout
        self.assertRegex(shown, r"rows +bfloat16 +37 x 11\n")

    def test_tensors_may_change_when_async_save_has_returned(self):
        self.run_ranks(2, "save", 1)
        self.run_ranks(2, "save_asynchronously", 2)
        self.run_ranks(3, "load", 4)

    def test_a_rank_that_cannot_write_keeps_the_others_from_it(self):
        self.run_ranks(2, "save", 1)
        self.run_ranks(2, "fail", 7)
        self.run_ranks(1, "load", 2)

    def test_a_version_of_which_a_rank_died_is_none(self):
        self.run_ranks(2, "save", 1)
        self.run_ranks(2, "die", 2, [3, -signal.SIGKILL])
        self.run_ranks(2, "load", 1)

    def test_a_lost_pool_is_replaced_by_what_is_in_lower(self):
        self.run_ranks(2, "levels", 1)
        shutil.rmtree(self.place / "pools")
        self.run_ranks(1, "levels", 2)

    def test_nodes_save_and_others_load_when_one_is_lost(self):
        self.run_on_nodes([0, 0, 1, 2], "save_on_nodes", 1)
        self.run_on_nodes([0, 1, 2], "load_on_nodes", 1)
        self.run_on_nodes([1, 2], "fail_on_nodes", 1)
        self.lose(1)
        self.run_on_nodes([2, 0], "load_on_nodes", 1)
        self.run_on_nodes([2, 0, 3], "save_on_nodes", 2)
        self.lose(0)
        self.run_on_nodes([3, 2, 2, 3], "load_on_nodes", 2)

    def test_a_damaged_version_gives_way_to_the_one_before(self):
        self.run_ranks(2, "save", 1)
        self.run_ranks(2, "save", 2)
        pool = next(path for path in (self.place / "pools").rglob("*")
                    if path.is_file() and self.damage(path))
        self.assertTrue(pool)
        self.run_ranks(2, "damaged", 1)

    def test_a_looker_sees_what_another_job_saves(self):
        self.run_ranks(1, "save", 1)
        self.run_ranks(2, "look", 1)

    @staticmethod
    def damage(path):
        """Inverts a byte of the text that version 2 alone has twice."""
        content = path.read_bytes()
        at = content.find(b"the rank's own words" * 2)
        if at < 0:
            return False
        with open(path, "r+b") as file:
            file.seek(at)
            file.write(bytes([content[at] ^ 0xFF]))
        return True

    def test_killed_at_any_moment(self):
        """Each time ranks go on with what they find, which is no older than what rank 0 has said to
        be saved."""
        draw = random.Random(SEED)
        saved = 0
        for turn in range(KILLS):
            ranks = draw.choice((1, 2, 3))
            running = self.start(ranks, "storm", 0)
            said = ""
            # every second time while they save, else also while they begin
            while turn % 2 == 0 and "saved" not in said:
                line = running[0].stdout.readline()
                self.assertTrue(line, said)
                said += line
            time.sleep(draw.uniform(0, 3 if turn % 2 == 0 else 10))
            for process in draw.sample(running, ranks):
                process.kill()
            said += running[0].communicate(timeout=SECONDS)[0]
            for process in running[1:]:
                process.communicate(timeout=SECONDS)
            self.assertNotIn("AssertionError", said)
            for found in re.findall(r"found (\d+)", said):
                self.assertGreaterEqual(int(found), saved, f"CAIRN_SEED={SEED}\n{said}")
            saved = max(map(int, re.findall(r"saved (\d+)", said)), default=saved)
        self.assertGreater(saved, 0)

    def test_times_beside_torchs_own_files(self):
        """Says them; what they are on a busy machine proves nothing."""
        print(*self.run_ranks(2, "compare", 128)[0].splitlines(), sep="\n", flush=True)

    def test_programs_with_torch_save_run_unchanged(self):
        program = self.place / "program.py"
        program.write_text(PROGRAM)
        work = self.place / "work"
        work.mkdir()
        plain = self.run_program([], work, program)
        shutil.rmtree(work)
        work.mkdir()
        under = [CAIRN, "run", "--at", work, "--pool-size", "64MiB", "--"]
        self.assertEqual(plain, self.run_program(under, work, program))
        self.assertEqual(plain, self.run_program([], work, program), "drained")
        self.assertEqual(plain, self.run_program(under, work, program), "from the directory below")

    def run_program(self, before, work, program):
        process = TREE.start([*before, "sh", "-c", f"cd {work} && exec python3 {program}"],
                             self.place, self.environment(), stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, text=True)
        out, err = process.communicate(timeout=SECONDS)
        self.assertEqual(0, process.returncode, out + err)
        return re.search(r"sum .*", out).group()


if __name__ == "__main__":
    unittest.main()
