"""What ranks of torch_test.py do: `torch_ranks.py ACTION SET STEP`, started with RANK, WORLD_SIZE,
MASTER_ADDR and MASTER_PORT."""

import contextlib
import ctypes
import faulthandler
import os
import signal
import statistics
import sys
import time
import traceback

import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
from torch.distributed._shard.sharded_tensor import Shard, ShardedTensor, init_from_local_shards
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import DTensor, Replicate, Shard as Sharded, distribute_tensor

from cairn import Error, Level
from cairn.torch import Storage

RANK = int(os.environ.get("RANK", "0"))
RANKS = int(os.environ.get("WORLD_SIZE", "1"))
DTYPES = (torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.float8_e4m3fn,
          torch.int8, torch.int16, torch.int32, torch.int64, torch.uint8, torch.uint16, torch.bool,
          torch.complex64, torch.complex128)
ROUNDS = 7
SAYS = "the rank's own words"
# DCP of torch 2.6 sends tracebacks to the other ranks, which Python 3.13 does not pickle.
CANNOT_TELL = "cannot pickle code objects"
WAYS_TO_FAIL = (dcp.api.CheckpointException, TypeError)


def values(step, key, shape, dtype=torch.float32):
    """The same on any number of ranks."""
    drawn = torch.Generator().manual_seed(step * 1000 + sum(map(ord, key)))
    numbers = torch.randint(0, 100, shape, generator=drawn)
    return torch.complex(numbers.double(),
                         -numbers.double()).to(dtype) if dtype.is_complex else numbers.to(dtype)


def several_shards(whole):
    """Two pieces on each rank, in turns."""
    shards = []
    lines = whole.shape[0] // (2 * RANKS)
    for first in (RANK * lines, (RANK + RANKS) * lines):
        shards.append(
            Shard.from_tensor_and_offsets(whole[first:first + lines].clone(), [first, 0], RANK))
    return init_from_local_shards(shards, *whole.shape)


def state_of(step):
    mesh = init_device_mesh("cpu", (RANKS,))
    state = {f"plain.{dtype}": values(step, str(dtype), (5, 3), dtype) for dtype in DTYPES}
    state["rows"] = distribute_tensor(values(step, "rows", (37, 11), torch.bfloat16), mesh,
                                      [Sharded(0)])
    state["columns"] = distribute_tensor(values(step, "columns", (4, 3, 25)), mesh, [Sharded(2)])
    state["replicated"] = distribute_tensor(values(step, "replicated", (6, 6)), mesh, [Replicate()])
    # most ranks have none
    state["few"] = distribute_tensor(values(step, "few", (1, 7)), mesh, [Sharded(0)])
    state["several"] = several_shards(values(step, "several", (24, 5), torch.float64))
    state["scalar"] = values(step, "scalar", ())
    state["empty"] = torch.empty(0, 4)
    state["transposed"] = values(step, "transposed", (9, 8)).t()[::2]
    state["a/name@which~no.variable has" + "." * 300] = values(step, "name", (3,))
    state["nested"] = {
        "list": [values(step, "list", (2, )), step, "text"], "step": step, "large": SAYS * step
    }
    model = torch.nn.Sequential(torch.nn.Linear(7, 5), torch.nn.Linear(5, 3)).to(torch.bfloat16)
    optimizer = torch.optim.AdamW(model.parameters())
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            parameter.copy_(values(step, name, parameter.shape))
            parameter.grad = values(step, "of " + name, parameter.shape, torch.bfloat16)
    optimizer.step()
    state["model"], state["optimizer"] = model.state_dict(), optimizer.state_dict()
    return state


def blank(state):
    """The same state with other numbers."""
    if isinstance(state, dict):
        return {key: blank(value) for key, value in state.items()}
    if isinstance(state, list):
        return [blank(value) for value in state]
    if isinstance(state, DTensor):
        return DTensor.from_local(torch.zeros_like(state.to_local()), state.device_mesh,
                                  state.placements, shape=state.shape, stride=state.stride(),
                                  run_check=False)
    if isinstance(state, ShardedTensor):
        return several_shards(torch.zeros(state.size(), dtype=state.dtype))
    if isinstance(state, torch.Tensor):
        return torch.zeros_like(state)
    return None


def assert_same(found, expected, where=""):
    if isinstance(expected, dict):
        assert found.keys() == expected.keys(), where
        for key, value in expected.items():
            assert_same(found[key], value, f"{where}.{key}")
    elif isinstance(expected, (list, tuple)):
        assert len(found) == len(expected), where
        for at, value in enumerate(expected):
            assert_same(found[at], value, f"{where}[{at}]")
    elif isinstance(expected, DTensor):
        assert_same(found.to_local(), expected.to_local(), where)
    elif isinstance(expected, ShardedTensor):
        for one, other in zip(found.local_shards(), expected.local_shards(), strict=True):
            assert_same(one.tensor, other.tensor, where)
    elif isinstance(expected, torch.Tensor):
        assert found.dtype == expected.dtype and found.shape == expected.shape, where
        assert found.contiguous().view(torch.uint8).equal(expected.contiguous().view(
            torch.uint8)) if found.dim() else found == expected, where
    else:
        assert found == expected, f"{where}: {found} instead of {expected}"


def save(name, step):
    with Storage(name) as storage:
        if storage.versions():
            load_into(storage)
        dcp.save(state_of(step), storage_writer=storage, checkpoint_id=f"step-{step}")
        storage.wait()
        assert storage.versions()[0].number == step


def load_into(storage, checkpoint_id=None):
    state = blank(state_of(1))
    dcp.load(state, storage_reader=storage, checkpoint_id=checkpoint_id)
    return state


def load(name, step):
    """The newest is that of `step`."""
    with Storage(name) as storage:
        assert_same(load_into(storage), state_of(step))
    # A looker has the rest of the API, and any other number of ranks.
    with Storage(name, look=True) as storage:
        assert_same(load_into(storage, f"step-{step}"), state_of(step))


@contextlib.contextmanager
def communicator():
    """Of all ranks, as a program without mpi4py has it."""
    mpi = ctypes.CDLL("libmpi.so.40", ctypes.RTLD_GLOBAL)
    multiple, provided = 3, ctypes.c_int()
    assert mpi.MPI_Init_thread(None, None, multiple, ctypes.byref(provided)) == 0
    assert provided.value == multiple
    yield mpi.MPI_Comm_c2f(ctypes.c_void_p(ctypes.addressof(
        ctypes.c_byte.in_dll(mpi, "ompi_mpi_comm_world"))))
    mpi.MPI_Finalize()


def save_on_nodes(name, step):
    """Several nodes; each version is also copied to another one."""
    with communicator() as all_ranks, Storage(name, communicator=all_ranks,
                                              partner=True) as storage:
        if storage.versions():
            assert_same(load_into(storage), state_of(step - 1))
        dcp.save(state_of(step), storage_writer=storage, checkpoint_id=f"step-{step}")
        storage.wait(Level.PARTNER)
        saved = dcp.async_save(state_of(step + 10), storage_writer=storage)
        saved.result()
        dcp.save(state_of(step), storage_writer=storage, checkpoint_id=f"step-{step}")
        storage.future(Level.PARTNER).result()


def load_on_nodes(name, step):
    with communicator() as all_ranks, Storage(name, communicator=all_ranks,
                                              partner=True) as storage:
        assert_same(load_into(storage), state_of(step))
        assert_same(load_into(storage, f"step-{step}"), state_of(step))


class RefusesToRead(dcp.DefaultLoadPlanner):

    def resolve_tensor(self, read_item):
        if RANK == RANKS - 1:
            raise RuntimeError(SAYS)
        return super().resolve_tensor(read_item)


class RefusesWhatIsRead(dcp.DefaultLoadPlanner):

    def commit_tensor(self, read_item, tensor):
        if RANK == 0:
            raise RuntimeError(SAYS)


def fail_on_nodes(name, step):
    """Reads are collective; a rank that fails by itself keeps no other one waiting."""
    with communicator() as all_ranks, Storage(name, communicator=all_ranks) as storage:
        for planner in (RefusesToRead(), RefusesWhatIsRead()):
            try:
                dcp.load(blank(state_of(1)), storage_reader=storage, planner=planner)
                raise AssertionError("it was loaded")
            except WAYS_TO_FAIL as error:
                assert SAYS in str(error) or CANNOT_TELL in str(error), error
        assert_same(load_into(storage), state_of(step))


def save_asynchronously(name, step):
    """Tensors change as soon as async_save() has returned."""
    with Storage(name) as storage:
        load_into(storage)
        for at in range(step, step + 3):
            state = state_of(at)
            saved = dcp.async_save(state, storage_writer=storage, checkpoint_id=str(at))
            with torch.no_grad():
                for tensor in state["model"].values():
                    tensor.zero_()
                state["rows"].to_local().zero_()
                state["transposed"].zero_()
            saved.result()
            future = storage.future()
            future.result()


class NeverPlans(dcp.DefaultSavePlanner):
    def set_up_planner(self, *all, **named):
        raise RuntimeError(SAYS)


class Refuses(dcp.DefaultSavePlanner):
    def resolve_data(self, write_item):
        if RANK == RANKS - 1:
            raise RuntimeError(SAYS)
        return super().resolve_data(write_item)


def fail(name, step):
    """A rank that cannot write keeps the others from writing; then all can. Nor does async_save()
    wait for ever."""
    with Storage(name) as storage:
        load_into(storage)
        before = storage.versions()[0].number
        for how in (dcp.save, lambda *all, **named: dcp.async_save(*all, **named).result()):
            for planner in (NeverPlans(), Refuses()):
                try:
                    how(state_of(step), storage_writer=storage, planner=planner,
                        checkpoint_id=str(step))
                    raise AssertionError("it was saved")
                except WAYS_TO_FAIL as error:
                    assert SAYS in str(error) or CANNOT_TELL in str(error), error
        assert storage.versions()[0].number == before
        try:
            dcp.save(state_of(step), storage_writer=storage, checkpoint_id="latest")
            raise AssertionError("an id without a number")
        except ValueError as error:
            assert "step-100" in str(error)
        dcp.save(state_of(before + 1), storage_writer=storage)
        assert storage.versions()[0].number == before + 1


def die(name, step):
    """The last rank dies when others have handed over their bytes."""
    with Storage(name) as storage:
        load_into(storage)
        if RANK == RANKS - 1:
            hand_over = storage._checkpoint.iwrite

            def die_instead(number):
                time.sleep(0.5)
                os.kill(os.getpid(), signal.SIGKILL)
                hand_over(number)

            storage._checkpoint.iwrite = die_instead
        try:
            dcp.save(state_of(step), storage_writer=storage, checkpoint_id=str(step))
        finally:
            os._exit(3)


def storm(name, step):
    """Saves until it is killed, and says what is saved."""
    with Storage(name) as storage:
        if storage.versions():
            state = load_into(storage)
            found = storage.versions()
            step = state["nested"]["step"]
            assert_same(state, state_of(step))
            assert found and step <= found[0].number
            print(f"found {step}", flush=True)
        while True:
            step += 1
            if step % 2:
                dcp.save(state_of(step), storage_writer=storage, checkpoint_id=str(step))
            else:
                dcp.async_save(state_of(step), storage_writer=storage,
                               checkpoint_id=str(step)).result()
            print(f"saved {step}", flush=True)


def levels(name, step):
    """GLOBAL, with a directory that takes the place of the pool afterwards."""
    with Storage(name, lower=os.environ["LOWER"]) as storage:
        if storage.versions():
            assert_same(load_into(storage), state_of(step - 1))
        dcp.save(state_of(step), storage_writer=storage, checkpoint_id=str(step))
        if RANK == RANKS - 1:
            # the thread that waits comes later than the next save
            storage._waiting.submit(time.sleep, 1)
        reached = storage.future(4)
        dcp.save(state_of(step), storage_writer=storage, checkpoint_id=str(step + 10))
        assert reached.done(), "a save goes before a future of another rank"
        reached.result()
        storage.future(4)
        storage.wait(4)


def damaged(name, step):
    """The newest version has wrong bytes: that of `step` is taken. By its number it is refused."""
    with Storage(name) as storage:
        newest = storage.versions()[0].number
        assert newest > step
        try:
            load_into(storage, str(newest))
            raise AssertionError("damaged bytes were loaded")
        except WAYS_TO_FAIL as error:
            assert CANNOT_TELL in str(error) or all(
                isinstance(one[0], Error) for one in error.failures.values()), error
        assert_same(load_into(storage), state_of(step))
    with Storage(name, look=True) as storage:
        assert_same(load_into(storage), state_of(step))


def look(name, step):
    """A looker loads what another storage saved after it had begun to look."""
    with Storage(name, look=True) as looker:
        assert_same(load_into(looker), state_of(step))
        save(name, step + 1)
        assert_same(load_into(looker), state_of(step + 1))


def compare(name, step):
    """Times of rank 0 for `step` MiB of each rank, beside torch's own files on the same medium.
    Rounds are interleaved."""
    rows = step << 8  # of 4 KiB
    mesh = init_device_mesh("cpu", (RANKS,))
    layers = 16

    def model():
        return {
            f"layer.{k}": DTensor.from_local(torch.rand(rows // layers, 1024), mesh, [Sharded(0)],
                                             run_check=False)
            for k in range(layers)
        }

    def files(kind, number):
        return kind(os.path.join(os.environ["FILES"], f"version-{number % 2}"))

    state, target, copies = model(), model(), model()
    times = {}

    def time_it(what, call):
        dist.barrier()
        begin = time.perf_counter()
        call()
        dist.barrier()
        times.setdefault(what, []).append(time.perf_counter() - begin)

    def copy():
        for key, tensor in copies.items():
            tensor.to_local().copy_(state[key].to_local())

    # the barriers of this thread have another one
    saving, group = [], dist.new_group(backend="gloo")

    def start(storage, checkpoint_id=None):
        saving.append(
            dcp.async_save(state, storage_writer=storage, checkpoint_id=checkpoint_id,
                           process_group=group))

    with Storage(name) as storage:
        for number in range(2, 2 * ROUNDS + 6, 2):
            time_it("copy", copy)
            time_it("save cairn",
                    lambda: dcp.save(state, storage_writer=storage, checkpoint_id=str(number)))
            time_it(
                "save files",
                lambda: dcp.save(state, storage_writer=files(dcp.FileSystemWriter, number // 2)))
            time_it("async cairn", lambda: start(storage, str(number + 1)))
            saving.pop().result()
            time_it("async files", lambda: start(files(dcp.FileSystemWriter, number // 2)))
            saving.pop().result()
            time_it("load cairn", lambda: dcp.load(target, storage_reader=storage))
            time_it(
                "load files",
                lambda: dcp.load(target, storage_reader=files(dcp.FileSystemReader, number // 2)))
    if RANK == 0:
        for what, seconds in times.items():
            kind, _, who = what.partition(" ")
            seconds = seconds[2:]  # a first checkpoint makes its files
            # with files async_save() copies nothing that is on the host
            is_compared = who == "cairn" and kind != "async"
            ratios = [other / own for own, other in zip(seconds, times[f"{kind} files"][2:])
                      ] if is_compared else []
            print(f"{what:12} {statistics.median(seconds) * 1e3:8.1f} ms" +
                  (f"  {statistics.median(ratios):5.2f} times as fast as files" if ratios else ""))


if __name__ == "__main__":
    faulthandler.dump_traceback_later(280, exit=True)
    torch.set_num_threads(1)
    dist.init_process_group("gloo", rank=RANK, world_size=RANKS)
    code = 0
    try:
        globals()[sys.argv[1]](sys.argv[2], int(sys.argv[3]))
    except Exception:
        traceback.print_exc()
        code = 1
    sys.stdout.flush()
    # destroy_process_group() of torch 2.6 waits for a thread of gloo that may wait for this one's
    # hold of the interpreter.
    os._exit(code)
