"""Files and directories whose owner or mode a run changes: who could write to them before still can
below the cover until the drain, and nothing that he does there then counts in a run."""

import os

import trust_case
from trust_case import MALLORY, ROOT, VICTIM, TrustCase, in_every_world


def taken_over(world, path):
    """What the victim does in a run to have it for itself, having planted it as open to Mallory."""
    return f"chown 0:0 {path}; chmod 755 {path}" if world.runner == ROOT else f"chmod 755 {path}"


def open_to_mallory(world, path):
    owner = MALLORY if world.runner == ROOT else VICTIM
    os.chown(path, owner, owner)
    os.chmod(path, 0o777)


class Directories(TrustCase):
    @in_every_world
    def test_names_that_come_later_are_not_the_runs(self, world):
        tops = [os.path.join(world.dir, name) for name in ("looked_at", "unknown")]
        directories = [path for top in tops for path in (top, os.path.join(top, "sub"))]
        for path in directories:
            os.mkdir(path)
            with open(os.path.join(path, "first"), "w", encoding="utf-8") as file:
                file.write("first\n")
            open_to_mallory(world, path)
        script = "; ".join(taken_over(world, path) for path in directories)
        world.cairn("run", "--at", world.dir, "--drain", "never", "--", "sh", "-c",
                    f"ls -R {tops[0]}; {script}")
        world.plant(f"""
for path in {directories!r}:
    open(path + '/later', 'w').write('later')
    os.symlink('/etc/passwd', path + '/link')
    os.mkdir(path + '/directory')
""")
        for top in tops:
            seen = world.cairn("run", "--at", world.dir, "--drain", "never", "--", "sh", "-c",
                               f"cd {top} && find . | sort; cat later sub/later", expect=1).out
            self.assertEqual(seen.split(), [".", "./first", "./sub", "./sub/first"])

    @in_every_world
    def test_a_directory_that_cannot_be_listed_gets_its_mode(self, world):
        path = os.path.join(world.dir, "closed")
        os.mkdir(path)
        os.chown(path, world.runner, world.runner)
        os.chmod(path, 0)
        world.run_at("chmod", "700", path)
        self.assertEqual(os.stat(path).st_mode & 0o7777, 0o700)


if __name__ == "__main__":
    trust_case.main()
