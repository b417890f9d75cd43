"""The pace of a lane: inside one process exactly, between processes through a small file, and whatever happens to that file."""
from __future__ import annotations

import errno
import os
import signal
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from conftest import FakeClock

from sources.contract import Archive, Lane
from sources.errors import ArchiveUnreachable, RateLimited, SourceError
from sources.transport.call import Clock
from sources.transport.gate import Abandoned, Gate, Ticket
from sources.transport.ledger import LaneState, Ledger, unusable

MINUTE = 60.0


class Toy(Archive):
    """An archive whose walls last 60 s, then 120 s, and never more than 200 s."""

    key = "toy"
    name = "the Toy Library"
    lanes = (Lane(key="toy", hosts=(r"toy\.example",), spacing_s=1.0, spacing_because="chosen for the tests", wall_block_s=60.0,
                  wall_block_max_s=200.0),)


def forever() -> float:
    return 1e9


def never() -> bool:
    return False


def gate_of(clock, *, spacing_s=1.0, in_flight_max=1, path: Path | None = None) -> Gate:
    return Gate(Toy, replace(Toy.lanes[0], spacing_s=spacing_s, in_flight_max=in_flight_max), clock=clock, path=path)


class Observed:
    """What a gate tells its observer from now on: events with their moments, in order."""

    def __init__(self, gate: Gate) -> None:
        self.events: list[tuple[str, float]] = []
        gate.observe = lambda event, moment: self.events.append((event, moment))

    def moments(self, event: str) -> list[float]:
        return [moment for told, moment in self.events if told == event]

    def wait_for(self, event: str, times: int = 1) -> None:
        until_true(lambda: len(self.moments(event)) >= times)


def entered(gate: Gate, *, remaining_s: Callable[[], float] = forever, gone: Callable[[], bool] = never, owner: object = None) -> Ticket:
    """The place of a request that has had its turn and is not yet sent."""
    ticket = Ticket(owner, remaining_s, gone)
    gate.enter(ticket)
    return ticket


def sent(gate: Gate) -> Ticket:
    """The place of a request under way."""
    ticket = entered(gate)
    gate.started(ticket)
    return ticket


def pass_through(gate: Gate) -> None:
    """One request that takes no time."""
    gate.leave(sent(gate))


def until_true(condition: Callable[[], bool]) -> None:
    """Let other threads go on until something holds; a second is far more than they need."""
    for _ in range(500):
        if condition():
            return
        time.sleep(0.002)
    raise AssertionError("did not come about")


def refused(gate: Gate, remaining_s: float = MINUTE) -> SourceError:
    with pytest.raises(SourceError) as caught:
        entered(gate, remaining_s=lambda: remaining_s)
    return caught.value


# ---- one process ---------------------------------------------------------------------------------------------------

def test_five_at_once_set_out_one_spacing_apart(clock):
    """A lane of 6 s: at 0, 6, 12, 18 and 24 s exactly, whatever the order in which the threads come to run."""
    gate = gate_of(clock, spacing_s=6.0)
    starts: list[float] = []

    def request() -> None:
        ticket = sent(gate)
        starts.append(clock.monotonic() - 1000.0)
        gate.leave(ticket)

    threads = [threading.Thread(target=request) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert starts == [0.0, 6.0, 12.0, 18.0, 24.0]


def test_who_comes_first_is_served_first(clock):
    gate = gate_of(clock)
    first = entered(gate)
    observed = Observed(gate)
    served: list[int] = []

    def request(number: int) -> None:
        ticket = entered(gate, owner=number)
        served.append(number)
        gate.leave(ticket)

    threads = []
    for number in range(4):
        threads.append(threading.Thread(target=request, args=(number,)))
        threads[-1].start()
        observed.wait_for("queued", number + 1)
    gate.leave(first)
    for thread in threads:
        thread.join()

    assert served == [0, 1, 2, 3]


class SoundSleeper(FakeClock):
    """A clock on which the thread named "ahead" does not wake before it is let."""

    def __init__(self) -> None:
        super().__init__()
        self.woken = threading.Event()

    def wait(self, changed: threading.Condition, until: float) -> None:
        super().wait(changed, until)
        while threading.current_thread().name == "ahead" and not self.woken.is_set():
            changed.wait(0.005)


def test_nobody_overtakes_a_request_ahead_that_has_not_yet_woken():
    """The place is free and the slot has come, but somebody stands in front."""
    clock = SoundSleeper()
    gate = gate_of(clock)
    first = sent(gate)
    observed = Observed(gate)
    served: list[str] = []

    def request(name: str) -> None:
        ticket = entered(gate)
        served.append(name)
        gate.leave(ticket)

    threads = [threading.Thread(target=request, args=(name,), name=name) for name in ("ahead", "behind")]
    for number, thread in enumerate(threads):
        thread.start()
        observed.wait_for("queued", number + 1)
    clock.advance(1.0)
    gate.leave(first)
    time.sleep(0.05)
    served_before = list(served)
    clock.woken.set()
    for thread in threads:
        thread.join()

    assert (served_before, served) == ([], ["ahead", "behind"])


def test_no_more_than_allowed_are_in_flight(clock):
    """Two places: the third request waits until one of the first two is over, though its slot has come."""
    gate = gate_of(clock, in_flight_max=2)
    first, _ = sent(gate), sent(gate)
    observed = Observed(gate)
    third = threading.Thread(target=entered, args=(gate,))

    third.start()
    observed.wait_for("queued")
    in_flight_before = gate.in_flight
    gate.leave(first)
    third.join()

    assert (in_flight_before, gate.in_flight, clock.slept) == (2, 2, [1.0, 1.0])


def test_the_spacing_counts_from_the_moment_of_sending(clock):
    """A request that passed the gate at 0 s but sent its first byte at 0.3 s is followed at 1.3 s, not at 1 s."""
    gate = gate_of(clock)
    ticket = entered(gate)
    clock.advance(0.3)
    gate.started(ticket)
    gate.leave(ticket)

    pass_through(gate)

    assert clock.monotonic() == 1001.3


def test_nobody_sets_out_before_the_request_ahead_was_sent(clock):
    """Two places. The first passed the gate at 0 s and sends at 0.9 s; the second, whose slot was 1 s, sets out at 1.9 s."""
    gate = gate_of(clock, in_flight_max=2)
    first = entered(gate)
    observed = Observed(gate)
    second = threading.Thread(target=entered, args=(gate,))

    second.start()
    observed.wait_for("queued")
    time.sleep(0.05)
    clock.advance(0.9)
    gate.started(first)
    second.join()

    assert clock.monotonic() == 1001.9


def test_the_end_of_one_request_is_not_taken_for_the_sending_of_another(clock):
    """Three places. The first ends while the second has its turn and is not yet sent: the third goes on waiting for the second."""
    gate = gate_of(clock, in_flight_max=3)
    first, second = sent(gate), entered(gate)
    observed = Observed(gate)
    third = threading.Thread(target=entered, args=(gate,))

    gate.leave(first)
    third.start()
    observed.wait_for("queued")
    time.sleep(0.05)
    in_flight_before = gate.in_flight
    clock.advance(0.9)
    gate.started(second)
    third.join()

    assert (in_flight_before, clock.monotonic()) == (1, 1002.9)


def test_a_place_that_cannot_come_in_time_is_refused_at_once(clock):
    """Spacing 6 s, 5 s left: refused without waiting, with the seconds, as this server's own queue."""
    gate = gate_of(clock, spacing_s=6.0)
    pass_through(gate)

    error = refused(gate, 5.0)

    assert type(error) is RateLimited
    assert error.message == ("The Toy Library was not asked: this server's own queue for it is too long to start in time; "
                             "a place is free in about 6 s.")
    assert (error.retry_after_s, clock.slept) == (6.0, [])


def test_a_queue_that_does_not_move_ends_at_the_callers_deadline(clock):
    """The only place is taken by a request that does not end; the time left falls to nothing."""
    gate = gate_of(clock)
    entered(gate)
    observed = Observed(gate)
    deadline = clock.monotonic() + 3.0
    errors: list[SourceError] = []

    def request() -> None:
        try:
            entered(gate, remaining_s=lambda: max(0.0, deadline - clock.monotonic()))
        except SourceError as exc:
            errors.append(exc)

    waiting = threading.Thread(target=request)
    waiting.start()
    observed.wait_for("queued")
    clock.advance(3.0)
    gate.nudge()
    waiting.join()

    assert [error.code for error in errors] == ["rate_limited"]


def test_a_waiter_that_gives_up_wakes_at_once_and_leaves_no_hole():
    """Real clock, 0.4 s: the second gives up its reserved slot after 0.1 s; the third sets out in it, not one later."""
    gate = gate_of(Clock(), spacing_s=0.4)
    pass_through(gate)
    observed = Observed(gate)
    begun = time.monotonic()
    given_up = threading.Event()
    times: dict[str, float] = {}

    def second() -> None:
        with pytest.raises(Abandoned):
            entered(gate, gone=given_up.is_set)
        times["second"] = time.monotonic() - begun

    def third() -> None:
        entered(gate)
        times["third"] = time.monotonic() - begun

    threads = [threading.Thread(target=second), threading.Thread(target=third)]
    threads[0].start()
    observed.wait_for("reserved")
    threads[1].start()
    observed.wait_for("queued", 2)
    time.sleep(0.1)
    given_up.set()
    gate.nudge()
    for thread in threads:
        thread.join()

    assert times["second"] < 0.3
    assert 0.395 <= times["third"] < 0.7


def test_a_lane_that_rests_makes_everybody_wait(clock):
    gate = gate_of(clock)
    pass_through(gate)

    gate.postpone(7.0)
    pass_through(gate)

    assert clock.slept == [7.0]


def test_a_limit_is_told_with_what_is_left_and_ends(clock):
    """An hour's silence: after 40 minutes 1200 s are left; after the hour the lane is open."""
    gate = gate_of(clock)
    gate.block(3600.0)
    clock.advance(2400.0)

    error = refused(gate)
    clock.advance(1200.0)
    pass_through(gate)

    assert type(error) is RateLimited
    assert error.message == "The Toy Library asked this client to stay away; nothing is sent for another 1200 s."
    assert error.retry_after_s == 1200.0


def test_a_wall_doubles_its_pause_and_a_good_answer_ends_the_series(clock):
    """60, 120, 200 (the longest), and 60 again after a readable answer."""
    gate = gate_of(clock)
    lengths = []

    for _ in range(3):
        lengths.append(gate.block_wall())
        clock.advance(lengths[-1])
    gate.good()
    lengths.append(gate.block_wall())
    error = refused(gate)

    assert lengths == [60.0, 120.0, 200.0, 60.0]
    assert type(error) is ArchiveUnreachable
    assert error.message == "The Toy Library: blocked by the site's protection; nothing is sent for another 60 s."


def test_two_requests_that_meet_one_wall_count_once(clock):
    gate = gate_of(clock, in_flight_max=2)

    lengths = [gate.block_wall(), gate.block_wall()]

    assert lengths == [60.0, 60.0]


def test_who_waits_in_the_queue_learns_of_a_block(clock):
    gate = gate_of(clock)
    entered(gate)
    observed = Observed(gate)
    errors: list[SourceError] = []
    waiting = threading.Thread(target=lambda: errors.append(refused(gate)))

    waiting.start()
    observed.wait_for("queued")
    gate.block(100.0)
    waiting.join()

    assert [error.code for error in errors] == ["rate_limited"]


def test_no_block_is_believed_for_longer_than_a_day(clock):
    assert gate_of(clock).block(1e15) == 24 * 3600.0


# ---- several processes: two gates with one file are as far apart as two processes ------------------------------------

def test_two_processes_share_one_pace(clock, tmp_path):
    """Alternating requests of two gates set out at 0, 1, 2, 3 s."""
    gates = [gate_of(clock, path=tmp_path / "toy.json") for _ in range(2)]
    starts = []

    for number in range(4):
        pass_through(gates[number % 2])
        starts.append(clock.monotonic() - 1000.0)

    assert starts == [0.0, 1.0, 2.0, 3.0]


def test_a_late_start_elsewhere_moves_the_slot_behind_it(clock, tmp_path):
    """One process had its turn at 1 s and sent at 1.4 s; the other, which held the slot of 2 s, sets out at 2.4 s."""
    path = tmp_path / "toy.json"
    late, other = gate_of(clock, path=path), gate_of(clock, path=path)
    pass_through(late)
    ticket = entered(late)
    slots: list[float] = []

    def sends_late(event: str, moment: float) -> None:
        if event == "reserved":
            slots.append(moment)
            clock.advance(0.4)
            late.started(ticket)

    other.observe = sends_late
    entered(other)

    assert (slots, clock.monotonic(), clock.slept) == ([1002.0], 1002.4, [1.0, 0.6, 0.4])


def test_a_request_elsewhere_that_has_not_been_sent_is_waited_for_but_not_for_ever(clock, tmp_path):
    """It has its turn since 0 s: at 1 s it is looked for again; at 2 s its process is taken for dead."""
    path = tmp_path / "toy.json"
    entered(gate_of(clock, path=path))
    confirmed = []

    for _ in range(2):
        clock.advance(1.0)
        with Ledger(path, 1.0, clock).held() as shared:
            confirmed.append(shared.confirm(clock.monotonic(), 1.0))

    assert confirmed == [1001.005, 1002.0]


def test_a_block_and_its_step_outlive_a_restart(clock, tmp_path):
    """A new process finds the hour of the old one, and the next challenge goes on from where the series was."""
    path = tmp_path / "toy.json"
    gate_of(clock, path=path).block(3600.0)
    error = refused(gate_of(clock, path=path))
    clock.advance(3600.0)
    gate_of(clock, path=path).block_wall()
    clock.advance(60.0)
    restarted = gate_of(clock, path=path)
    pass_through(restarted)

    length = restarted.block_wall()

    assert (error.code, error.retry_after_s) == ("rate_limited", 3600.0)
    assert length == 120.0


def test_a_slot_nobody_uses_is_given_back(clock, tmp_path):
    """One process gives up the slot of 1 s while it waits for it; another sets out in it."""
    path = tmp_path / "toy.json"
    giving_up, other = gate_of(clock, path=path), gate_of(clock, path=path)
    pass_through(other)
    answers = iter([False, True])

    with pytest.raises(Abandoned):
        entered(giving_up, gone=lambda: next(answers))
    pass_through(other)

    assert clock.monotonic() == 1001.0


class StillClock(FakeClock):
    """A clock that only the test moves on."""

    def pause(self, changed: threading.Condition, until: float) -> None:
        self.wait(changed, until)


def test_a_slot_given_up_goes_to_the_next_in_the_queue(tmp_path):
    """One process has the slot of 1 s, another that of 2 s, and a third is told at once that 2.5 s are too short. Whoever is
    next in the first process's queue has its slot, not one behind."""
    clock, path = StillClock(), tmp_path / "toy.json"
    gate, other, third = (gate_of(clock, path=path) for _ in range(3))
    pass_through(other)
    here, there = Observed(gate), Observed(other)
    given_up = threading.Event()

    def gives_up() -> None:
        with pytest.raises(Abandoned):
            entered(gate, gone=given_up.is_set)

    threads = [threading.Thread(target=work) for work in (gives_up, lambda: pass_through(gate), lambda: pass_through(other))]
    for thread, observed, event, times in zip(threads, (here, here, there), ("reserved", "queued", "reserved"), (1, 2, 1), strict=True):
        thread.start()
        observed.wait_for(event, times)
    error = refused(third, 2.5)
    given_up.set()
    gate.nudge()
    threads[0].join()
    for thread in threads[1:]:
        clock.advance(1.0)
        thread.join()

    assert error.retry_after_s == 3.0
    assert (here.moments("reserved"), there.moments("reserved")) == ([1001.0], [1002.0])
    assert (here.moments("granted"), there.moments("granted")) == ([1001.0], [1002.0])


OURS = b'{\n "next_free": '  # how a state file begins, and ends after a crash


@pytest.mark.parametrize("text", [b"", bytes(200), OURS, OURS + b"soon}", OURS + b"9" * 5000,
                                  LaneState(next_free=float("nan")).write(), LaneState(next_free=float("inf")).write(),
                                  LaneState(wall_step=10 ** 300).write(),
                                  LaneState(blocked_at=float("inf"), blocked_s=60.0).write()])
def test_garbage_in_the_file_reads_as_a_fresh_state(clock, tmp_path, text):
    path = tmp_path / "toy.json"
    path.write_bytes(text)

    pass_through(gate_of(clock, path=path))
    pass_through(gate_of(clock, path=path))

    assert clock.slept == [1.0]


def test_a_slot_absurdly_far_ahead_does_not_stop_the_archive(clock, tmp_path):
    path = tmp_path / "toy.json"
    path.write_bytes(LaneState(next_free=clock.monotonic() + 1e6, written=clock.monotonic()).write())

    pass_through(gate_of(clock, path=path))

    assert clock.slept == []


def test_slots_of_another_start_of_the_machine_are_forgotten(clock, tmp_path):
    """Written at a moment this clock has not reached: the machine was started anew since."""
    path = tmp_path / "toy.json"
    path.write_bytes(LaneState(next_free=clock.monotonic() + 30.0, written=clock.monotonic() + 29.0).write())

    pass_through(gate_of(clock, path=path))

    assert clock.slept == []


@pytest.mark.parametrize("step_s", [-86_400.0 * 30, 86_400.0 * 30])
def test_a_clock_set_back_or_forward_neither_stops_an_archive_nor_unpaces_it(clock, tmp_path, step_s):
    """The slots do not go by the wall clock at all; a block of 60 s lasts at most 60 s more, whatever the wall clock does."""
    path = tmp_path / "toy.json"
    gate_of(clock, path=path).block(60.0)
    clock.set_wall(step_s)

    if step_s < 0:
        refused(gate_of(clock, path=path))
    clock.advance(60.0)
    restarted = gate_of(clock, path=path)
    pass_through(restarted)
    pass_through(restarted)

    assert clock.slept == [1.0]


def test_a_folder_that_cannot_be_written_leaves_the_pace_of_the_process(clock, tmp_path):
    """The folder's name is taken by a file; a folder without leave to write fails in the same call."""
    (tmp_path / "state").write_text("not a folder")
    gate = gate_of(clock, path=tmp_path / "state" / "toy.json")

    pass_through(gate)
    pass_through(gate)

    assert clock.slept == [1.0]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with a name on this system")
def test_what_is_not_ours_is_left_as_it_is_and_said_once(clock, tmp_path, caplog):
    """A link, a hard link, another program's file, a pipe, a folder: none is written; each lane goes at this process's own pace."""
    foreign = {name: tmp_path / f"{name}.json" for name in ("link", "hard", "other", "list", "pipe", "folder")}
    target = tmp_path / "precious"
    target.write_bytes(LaneState().write())
    foreign["link"].symlink_to(target)
    foreign["hard"].hardlink_to(target)
    foreign["other"].write_text('{"a": "file of another program"}')
    foreign["list"].write_text("[]")
    os.mkfifo(foreign["pipe"])
    foreign["folder"].mkdir()

    for path in foreign.values():
        gate = gate_of(clock, path=path)
        for _ in range(3):
            clock.advance(100.0)
            pass_through(gate)

    assert (target.read_bytes(), foreign["link"].is_symlink()) == (LaneState().write(), True)
    assert (foreign["other"].read_text(), foreign["list"].read_text()) == ('{"a": "file of another program"}', "[]")
    assert clock.slept == []
    said = [record.message for record in caplog.records if record.levelname == "ERROR"]
    assert [message.partition(": ")[0] for message in said] == [str(path) for path in foreign.values()]
    assert said[2] == (f"{foreign['other']}: pauses and blocks are not shared with other processes: "
                       "a file of that name is not this program's.")


@pytest.mark.skipif(sys.platform == "win32", reason="modes of another kind")
def test_the_state_is_its_owners_alone(clock, tmp_path):
    """0600 in a folder of 0700, whatever the umask."""
    path = tmp_path / "state" / "toy.json"
    umask = os.umask(0)
    try:
        pass_through(gate_of(clock, path=path))
    finally:
        os.umask(umask)

    assert [stat.S_IMODE(place.stat().st_mode) for place in (path.parent, path)] == [0o700, 0o600]


@pytest.mark.parametrize(("fault", "reason"), [
    ({"_try_lock": OSError(errno.ENOLCK, "No locks available")}, "No locks available"), ({"_try_lock": None}, "locks do not hold there"),
    ({"os.write": OSError(errno.ENOSPC, "No space left on device")}, "No space left on device"),
    ({"os.write": 10}, "No space left on device"), ({"os.open": OSError(errno.EROFS, "Read-only file system")}, "Read-only file system")])
def test_a_folder_where_nothing_can_be_shared_is_known(monkeypatch, tmp_path, fault, reason):
    """A real lock is tried, from two sides: some file systems refuse it, and some grant it to everybody."""
    for name, outcome in fault.items():
        def stub(*_: object, outcome: object = outcome, **__: object) -> object:
            if isinstance(outcome, OSError):
                raise outcome
            return outcome
        monkeypatch.setattr(f"sources.transport.ledger.{name}", stub)

    assert unusable(tmp_path / "state") == reason


def test_a_folder_where_the_pace_can_be_shared_is_left_as_it_was(tmp_path, caplog):
    assert unusable(tmp_path / "state") is None
    assert (list((tmp_path / "state").iterdir()), [record for record in caplog.records if record.levelname == "ERROR"]) == ([], [])


def test_a_lock_that_nobody_lets_go_is_not_waited_for_long(tmp_path):
    """Another holder keeps the file: a request sets out within a second all the same, and the next loses no time at all."""
    path = tmp_path / "toy.json"
    gate_of(Clock(), path=path).block(60.0)
    gate = gate_of(Clock(), spacing_s=0.01, path=path)

    with Ledger(path, 1.0, Clock()).held():
        begun = time.monotonic()
        pass_through(gate)
        first_s = time.monotonic() - begun
        pass_through(gate)
        second_s = time.monotonic() - begun - first_s

    assert gate_of(Clock(), path=path).blocked_for() > 50.0
    assert first_s < 1.0
    assert second_s < 0.2


PROCESS = """
import sys, time
from pathlib import Path
from sources.transport.call import Clock
from sources.contract import Archive, Lane
from sources.transport.gate import Gate, Ticket
lane = Lane(key="toy", hosts=(), spacing_s=float(sys.argv[2]), spacing_because="chosen for the tests")
gate = Gate(Archive, lane, clock=Clock(), path=Path(sys.argv[1]))
print("ready", flush=True)
sys.stdin.readline()
for _ in range(int(sys.argv[3])):
    ticket = Ticket(None, lambda: 60.0, lambda: False)
    gate.enter(ticket)
    print(repr(time.monotonic()), flush=True)
    gate.started(ticket)
    gate.leave(ticket)
"""


def start_processes(path: Path, count: int, spacing_s: float, requests: int) -> list[subprocess.Popen[str]]:
    """Processes of their own that wait until told to begin, so that all begin together."""
    command = [sys.executable, "-c", PROCESS, str(path), str(spacing_s), str(requests)]
    root = Path(__file__).resolve().parent.parent
    made = [subprocess.Popen(command, cwd=root, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(count)]
    for process in made:
        assert process.stdout.readline() == "ready\n"
    for process in made:
        process.stdin.write("\n")
        process.stdin.flush()
    return made


@pytest.mark.parametrize(("count", "spacing_s", "requests"), [(3, 0.1, 5), (10, 0.05, 2)])
def test_processes_at_once_keep_one_spacing(tmp_path, count, spacing_s, requests):
    """No two starts closer than the spacing (5 ms of tolerance), and no slot left empty for long."""
    processes = start_processes(tmp_path / "toy.json", count, spacing_s, requests)
    starts = sorted(float(line) for process in processes for line in process.communicate(timeout=30)[0].split())

    gaps = [later - earlier for earlier, later in zip(starts, starts[1:], strict=False)]

    assert len(starts) == count * requests
    assert min(gaps) >= spacing_s - 0.005
    assert starts[-1] - starts[0] < (len(starts) - 1) * spacing_s * 1.5


@pytest.mark.skipif(sys.platform == "win32", reason="no such signal")
def test_a_process_killed_in_the_middle_stops_nobody(tmp_path):
    killed, *others = start_processes(tmp_path / "toy.json", 3, 0.05, 8)
    killed.stdout.readline()
    killed.send_signal(signal.SIGKILL)
    killed.communicate()

    started = [len(process.communicate(timeout=30)[0].split()) for process in others]

    assert started == [8, 8]
