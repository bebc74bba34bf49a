"""No command that takes a pool, a pool directory or a DIR follows another user's symbolic link in
any component of it (docs/design/trust.md). The reference of the commands says which these are: a
new one is tried as well."""

import os
import re

import trust_case
from trust_case import MALLORY, ROOT, VICTIM, TrustCase

# What a command needs besides. Of an option, the words behind it; of an argument, those behind it.
MORE = {
    "run --at": ["--", "true"],
    "run --pool-dir": ["--at", "plain", "--", "true"],
    "drain --to": ["mine"],
    "pool grow": ["+1M"],
    "cp": ["copy"],
    "mv": [":/moved"],
    "rm --at": ["file"],
    "ckpt export": ["file.nc"],
    "ckpt diff": ["set"],
    "ckpt drain": ["--to", "."],
    "ckpt drain --to": ["set"],
    "ckpt restore": ["--from", "."],
    "ckpt restore --from": ["set"],
    "ckpt rm": ["1"],
    "stage": ["."],
}
# Looks at its FILE before the pool.
LEFT_OUT = ("ckpt import",)


def rows(reference):
    """(command, option or "", what it takes) of each row of the reference's tables."""
    command = ""
    for line in reference.splitlines():
        if line.startswith("#"):
            command = line.lstrip("#").strip()
        row = re.match(r"\| `([^`]*)`(?: `([^`]*)`)? \| (.*) \|", line)
        if row and command.startswith("cairn "):
            name, value, text = row.groups()
            if not name.startswith("-"):
                yield command[6:], "", "POOLPATH" if "in a pool: " in text else name
            elif value:
                yield command[6:], name.split(",")[-1].strip(), value


def named(kind, over):
    """What is given to an option or argument of a kind, through the link `over`; None if it takes
    neither a pool nor a DIR."""
    pool = f"{over}/pools/precious"
    return {"POOL": pool, "POOLPATH": pool + ":/file", "SET": pool + ":set", "A": pool + ":set",
            "DIR": f"{over}/mine", "ELSEWHERE": f"{over}/mine"}.get(kind)


class NamedPaths(TrustCase):
    def commands(self, over):
        found = []
        for command, option, kind in rows(self.cairn("help", "--markdown").out):
            given = named(kind, over)
            if given is None or command in LEFT_OUT:
                continue
            more = MORE.get(f"{command} {option}", MORE.get(command, []))
            found.append([*command.split(), *([option] if option else []), given, *more])
        found.append(["cp", __file__, f"{over}/pools/precious:/file"])
        found.append(["mv", ":/file", f"{over}/pools/precious:/file"])
        for words in (["status"], ["ls"], ["df"], ["pool", "list"], ["pool", "clean"],
                      ["pool", "remove", "precious"], ["ckpt", "ls"], ["drain", "mine"]):
            found.append([*words, "--pool-dir", f"{over}/pools/."])
        return found

    def test_the_reference_is_understood(self):
        """A few of each kind; if the form of the reference changes, none would be found."""
        found = [" ".join(words) for words in self.commands("over")]
        for words in ("run --at over/mine -- true", "discard over/mine", "stage --at over/mine .",
                      "pool remove over/pools/precious", "rm over/pools/precious:/file",
                      "ckpt rm over/pools/precious:set 1",
                      "run --pool-dir over/mine --at plain -- true"):
            self.assertIn(words, found)
        self.assertGreater(len(found), 40)

    def test_a_link_above(self):
        for runner in ROOT, VICTIM:
            with self.subTest(runner=runner), self.world(True, runner) as world:
                self.try_all(world)

    def try_all(self, world):
        home = world.home(world.runner)
        mine, pools = os.path.join(home, "mine"), os.path.join(home, "pools")
        world.as_user(world.runner, "mkdir", "-m", "700", mine, pools, home + "/plain")
        env = {"CAIRN_POOL_DIR": pools}
        world.cairn("pool", "create", "--pool-size", "16M", "precious", env=env)
        world.cairn("cp", __file__, f"{pools}/precious:/file")
        world.cairn("run", "--at", mine, "--drain", "never", "--", "sh", "-c", "echo kept > file",
                    cwd=mine, env=env)
        over = os.path.join(world.dir, "over")
        world.plant(f"os.symlink({home!r}, {over!r})")
        # The user's own link to the other one does not help.
        through = os.path.join(home, "through")
        world.as_user(world.runner, "ln", "-s", over, through)
        before = self.all_in(world)
        for way in over, through:
            for words in self.commands(way)[::1 if way == over else 6]:
                run = world.cairn(*words, cwd=home, env=env, expect=None)
                self.assertIn(
                    f"{over}: is a symbolic link that belongs to user {MALLORY}, and is not "
                    "followed", run.err, words)
                self.assertNotEqual(run.returncode, 0, words)
                self.assertEqual(self.all_in(world), before, words)
        os.unlink(over)

    def all_in(self, world):
        home = world.home(world.runner)
        return (sorted(os.listdir(home)), sorted(os.listdir(os.path.join(home, "mine"))),
                sorted(os.listdir(os.path.join(home, "pools"))),
                world.cairn("ls", f"{home}/pools/precious:/").out)

    def test_links_of_the_user_and_of_root_are_followed(self):
        with self.world(True, VICTIM) as world:
            home = world.home(VICTIM)
            world.cairn("pool", "create", "--pool-size", "16M", "precious")
            for owner in VICTIM, ROOT:
                link = os.path.join(world.dir, f"of-{owner}")
                os.symlink(home, link)
                os.lchown(link, owner, owner)
                world.cairn("cp", __file__, f"{link}/precious:/file-{owner}")
                world.cairn("ls", "--pool-dir", link, "precious:/")
            self.assertEqual(
                world.cairn("ls", f"{home}/precious:/").out.split(),
                sorted(f"file-{owner}" for owner in (VICTIM, ROOT)))

    def test_a_link_in_the_place_of_the_covered_directory(self):
        """The cover is found by the path that was covered; the link is not followed."""
        for runner in ROOT, VICTIM:
            for words in ["drain", "--to"], ["discard"]:
                with self.subTest(runner=runner, words=words), self.world(False, runner) as world:
                    self.replaced_by_link(world, words)

    def replaced_by_link(self, world, words):
        covered = os.path.join(world.dir, "covered")
        world.as_user(world.runner, "mkdir", covered)
        world.cairn("run", "--at", covered, "--drain", "never", "--", "sh", "-c",
                    f"echo kept > {covered}/file")
        mine = os.path.join(world.home(world.runner), "mine")
        world.as_user(world.runner, "mkdir", mine)
        world.plant(f"os.rename('covered', 'aside'); os.symlink({mine!r}, 'covered')")
        if words == ["discard"]:
            world.cairn("discard", covered)
            self.assertEqual(os.listdir(mine), [])
        else:
            world.cairn("drain", "--to", mine, covered)
            self.assertEqual(os.listdir(mine), ["file"])


if __name__ == "__main__":
    trust_case.main()
