"""`python -m brigade.runner` as a whole: one instance, nothing left behind, what dies is started again."""

from __future__ import annotations

import contextlib
import json
import os
import re
import resource
import signal
import socket
import subprocess
import sys
import threading
import traceback
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from prometheus_client.mmap_dict import MmapedDict

from brigade import restart, runner
from brigade.paths import base_dir
from brigade.server_limits import open_file_limit
from tests.nightly import nightly
from tests.servers import wait_until
from tests.template import Template

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")


ONE_OF_EACH = {"valkey", "fork-server", "staff", "daphne-1", "worker-1", "experiments", "ticker-1"}
EVERY = {*ONE_OF_EACH, "daphne-2", "worker-2"}
"""What runs where two daphne and one ticker are wanted."""


def children_of(pid: int) -> dict[str, int]:
    """Processes that this one started, by the names of the logs that they write."""
    found = {}
    for task in Path(f"/proc/{pid}/task").iterdir():
        for child in started_by(task):
            with contextlib.suppress(OSError):
                log = Path(f"/proc/{child}/fd/2").readlink()
                found.update({log.stem: int(child)} if log.suffix == ".log" else {})
    return found


def started_by(task: Path) -> list[str]:
    """Processes that a thread started; none where it has just ended."""
    with contextlib.suppress(OSError):
        return (task / "children").read_text().split()
    return []


def alive(pid: int) -> bool:
    """Whether a process runs; one that ended and was not yet waited for does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"


def few_files() -> None:
    """As many open files as most systems allow a program that does not ask for more."""
    resource.setrlimit(resource.RLIMIT_NOFILE, (1024, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))


def files_of(pid: int) -> int:
    """How many open files a process may have."""
    (line,) = re.findall(r"^Max open files +(\d+)", Path(f"/proc/{pid}/limits").read_text(), re.MULTILINE)
    return int(line)


def heaps_of(pid: int) -> int:
    """How many heaps its threads have beside the one that all may use: glibc keeps 64 MB for each, from a
    multiple of that on, of which the first part can be written."""
    maps = Path(f"/proc/{pid}/maps").read_text()
    own = r"^([0-9a-f]+)-([0-9a-f]+) rw-p 00000000 00:00 0 *\n\2-([0-9a-f]+) ---p"
    places = [(int(start, 16), int(end, 16)) for start, _, end in re.findall(own, maps, re.MULTILINE)]
    return sum(start % 2**26 == 0 and end - start == 2**26 for start, end in places)


def environment_in(var: Path, **more: str) -> dict[str, str]:
    """The environment of a runner on a port that is free, in this `var`."""
    ours = ("BRIGADE_", "MAKE", "DATABASE_URL", "REDIS_URL", "DJANGO_")
    plain = {key: value for key, value in os.environ.items() if not key.startswith(ours)}
    wanted = {"BRIGADE_VAR": str(var), "BRIGADE_PORT": "0", "BRIGADE_WEB": "2", "BRIGADE_TICKERS": "1"}
    return plain | wanted | more


def run_forked(var: Path, **more: str) -> tuple[int, list[str]]:
    """Run a runner that ends by itself, in a fork of this process, which has loaded it. Return its exit code
    and its lines."""
    said = var.with_name("said.txt")
    if (child := os.fork()) == 0:
        code = 1
        try:
            signal.alarm(60)
            with said.open("wb") as file:
                os.dup2(file.fileno(), 1)
                os.dup2(file.fileno(), 2)
            sys.stdout = sys.stderr = os.fdopen(1, "w")
            environment = environment_in(var, **more)
            os.environ.clear()
            os.environ.update(environment)
            sys.argv[1:] = []
            vars(runner)["CAN_FORK"] = False  # it ends before anything would be forked
            code = runner.main()
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            os._exit(code)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return code, said.read_text().splitlines()


class Running:
    """A runner on a port that was free, in a `var` of its own; its lines as they come."""

    def __init__(self, var: Path, **more: str) -> None:
        self.environment = environment_in(var, **more)
        self.lines: list[str] = []
        self.process = subprocess.Popen(
            [sys.executable, "-m", "brigade.runner"],
            cwd=base_dir(),
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            preexec_fn=few_files,
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stdout
        for line in self.process.stdout:
            self.lines.append(line.rstrip())

    @property
    def said(self) -> str:
        """All its lines so far."""
        return "\n".join(self.lines)

    def wait_for(self, pattern: str) -> re.Match[str]:
        """The first match in what it says; TimeoutError with all of it."""
        try:
            wait_until(lambda: re.search(pattern, self.said) is not None, pattern)
        except TimeoutError as error:
            raise TimeoutError(f"{error}; it said:\n{self.said}") from None
        found = re.search(pattern, self.said)
        assert found
        return found

    def wait_ready(self) -> str:
        """The address that it serves."""
        self.wait_for("ready after")
        return self.wait_for(r"administration: +(http://\S+)/admin/")[1]

    def ends(self) -> int:
        """Its exit code, once it has ended and all was read."""
        code = self.process.wait(60)
        self._reader.join(10)
        return code

    def children(self) -> dict[str, int]:
        """What it runs now, by name."""
        return children_of(self.process.pid)


@pytest.fixture(scope="module")
def starting(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """One runner for all these tests, on a database that has all migrations; the last of them ends it."""
    var = tmp_path_factory.mktemp("runner") / "var"
    Template("").copy_to_file(var / "db.sqlite3")
    runner = Running(var)
    yield runner
    runner.process.kill()
    runner.process.wait()


@pytest.fixture(scope="module")
def running(starting: Running) -> Running:
    """The runner once it is ready."""
    starting.wait_ready()
    return starting


def status(url: str) -> int:
    """The status of a page."""
    try:
        with urllib.request.urlopen(url, timeout=60) as answer:  # noqa: S310 - our own server
            return int(answer.status)
    except urllib.error.HTTPError as error:
        return error.code


@pytest.mark.parametrize("program", [runner, restart])
@pytest.mark.parametrize(
    "arguments", [["--bogus"], ["--wait", "--migrate"], ["--migrat"], ["--wait", "extra"]]
)
def test_a_wrong_option_gets_one_line_and_starts_nothing(
    program: ModuleType,
    arguments: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(sys, "argv", [program.__name__, *arguments])
    monkeypatch.setattr(runner, "hold_instance_lock", pytest.fail)
    monkeypatch.setattr(restart, "running_process", pytest.fail)
    with pytest.raises(SystemExit) as ended:
        program.main()
    told = capsys.readouterr()
    assert ended.value.code == 2 and not told.out
    assert told.err.count("\n") == 1 and told.err.startswith(f"python -m {program.__name__}: ")


@pytest.mark.parametrize(("program", "option"), [(runner, "--migrate"), (restart, "--wait")])
def test_help_names_the_option_and_starts_nothing(
    program: ModuleType, option: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", [program.__name__, "--help"])
    with pytest.raises(SystemExit) as ended:
        program.main()
    assert ended.value.code == 0 and option in capsys.readouterr().out


def test_a_taken_port_gets_one_line(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        code, lines = run_forked(tmp_path / "var", BRIGADE_PORT=str(port))
    assert code == 2
    assert lines == [f"brigade: port {port} is taken: `make run PORT={port + 1}` takes another"]


@pytest.mark.parametrize(
    ("variables", "says"),
    [
        ({"BRIGADE_PORT": "eighty"}, "'eighty' is no port"),
        ({"BRIGADE_HOST": "192.0.2.1"}, "no address of this machine"),
        ({"REDIS_URL": "redis://:word@127.0.0.1:9/0"}, "no answer from 127.0.0.1"),
        ({"DATABASE_URL": "postgres://127.0.0.1:9/brigade"}, "the database does not answer"),
        ({"BRIGADE_VAR": "/proc/nowhere"}, "/proc/nowhere"),
        ({"BRIGADE_URL": "http://[::1"}, "brigade: BRIGADE_URL: 'http://[::1'"),
        (
            {"BRIGADE_STAFF_SOCKET": "staff.sock"},
            "BRIGADE_STAFF_SOCKET: 'staff.sock' is not an absolute path",
        ),
        ({"REDIS_URL": "foo"}, "REDIS_URL: an address with redis://"),
        *nightly(
            ({"BRIGADE_WEB": "0"}, "BRIGADE_WEB: '0' is not a number from 1 to 64"),
            ({"BRIGADE_PORT": "70000"}, "'70000' is no port"),
            ({"BRIGADE_TICKERS": "two"}, "BRIGADE_TICKERS: 'two' is not a number from 1 to 64"),
            ({"BRIGADE_PLANNERS": "some"}, "BRIGADE_PLANNERS: 'some' is not a number"),
            ({"BRIGADE_HOST": "no such name"}, "no address of this machine"),
        ),
    ],
)
def test_what_cannot_work_gets_one_line(tmp_path: Path, variables: dict[str, str], says: str) -> None:
    code, lines = run_forked(tmp_path / "var", **variables)
    assert code == 2
    assert len(lines) == 1, lines
    assert says in lines[0]
    assert "word@" not in lines[0]


def test_asked_to_end_while_it_prepares_it_ends(tmp_path: Path) -> None:
    Template("").copy_to_file(tmp_path / "var" / "db.sqlite3")
    runner = Running(tmp_path / "var")
    wait_until(lambda: "prepare" in runner.children(), "prepare")
    children = runner.children()
    runner.process.send_signal(signal.SIGINT)
    assert runner.ends() == 0
    assert not any(map(alive, children.values()))
    assert "Traceback" not in runner.said


@pytest.mark.nightly  # while one is exchanged nobody waits: below
def test_while_daphne_starts_and_is_killed_connections_wait_for_it(starting: Running) -> None:
    url = starting.wait_for(r"administration: +(http://\S+)/admin/")[1]
    wait_until(lambda: "daphne-1" in starting.children(), "daphne")
    os.kill(starting.children()["daphne-1"], signal.SIGKILL)
    socket.create_connection(("127.0.0.1", int(url.rpartition(":")[2])), timeout=60).close()
    assert status(f"{url}/admin/login/") == 200
    assert "daphne-1 was killed by SIGKILL: starting it again" in starting.said


def test_it_serves_and_says_where(running: Running) -> None:
    url = running.wait_ready()
    assert status(f"{url}/admin/login/") == 200
    assert status(running.wait_for(r"for participants: +(\S+)")[1]) == 200
    wait_until(lambda: set(running.children()) == EVERY, "all of them")


def test_its_programs_may_have_more_files_open_than_they_were_started_with(running: Running) -> None:
    running.wait_ready()
    wait_until(lambda: set(running.children()) == EVERY, "all of them")
    found = {name: files_of(pid) for name, pid in running.children().items()}
    assert {name for name, files in found.items() if files < open_file_limit()} == set()


def test_threads_of_its_programs_share_one_heap(running: Running) -> None:
    running.wait_ready()
    wait_until(lambda: set(running.children()) == EVERY, "all of them")
    found = {name: heaps_of(pid) for name, pid in running.children().items() if name != "valkey"}
    assert {name for name, heaps in found.items() if heaps} == set()


def test_a_worker_shares_all_that_it_counts_also_what_is_counted_as_soon_as_it_is_loaded(
    running: Running,
) -> None:
    """A figure without labels, such as the time that commands wait for locks, is made for one process alone
    where its module is loaded before the folder is known."""
    running.wait_ready()
    wait_until(lambda: set(running.children()) == EVERY, "all of them")
    files = f"histogram_*~{running.children()['worker-1']}~*.db"

    def is_shared() -> bool:
        found = map(str, (Path(running.environment["BRIGADE_VAR"]) / "metrics").glob(files))
        shared = (key for file in found for key, *_ in MmapedDict.read_all_values_from_file(file))
        return "brigade_database_lock_wait_seconds" in {json.loads(key)[0] for key in shared}

    wait_until(is_shared, "a worker that shares it")


def test_the_admins_password_is_shown_and_written_nowhere(running: Running) -> None:
    running.wait_ready()
    word = running.wait_for(r"password \(shown once\): +(\S+)")[1].encode()
    files = [file for file in Path(running.environment["BRIGADE_VAR"]).rglob("*") if file.is_file()]
    assert len(word) >= 16
    assert [file for file in files if word in file.read_bytes()] == []


def test_the_password_is_said_before_anything_else_can_fail(running: Running) -> None:
    running.wait_ready()
    places = [running.said.index(word) for word in ("admin password", "changepassword admin", "ready after")]
    assert max(places[:2]) < places[2]


@pytest.mark.nightly  # the first test kills it before it has served
def test_while_daphne_is_away_connections_wait_for_it(running: Running) -> None:
    url = running.wait_ready()
    wait_until(lambda: running.children().keys() >= {"daphne-1", "daphne-2"}, "both daphne")
    for name in ("daphne-1", "daphne-2"):
        os.kill(running.children()[name], signal.SIGKILL)
    socket.create_connection(("127.0.0.1", int(url.rpartition(":")[2])), timeout=60).close()
    assert status(f"{url}/admin/login/") == 200


ALIKE = ("fork-server", "staff", "daphne-1", "worker-1", "experiments", "ticker-1")
"""Children that are kept running as `worker-2` is."""


@pytest.mark.parametrize("name", ["valkey", "worker-2", *nightly(*ALIKE)])
def test_what_is_killed_is_started_again_and_said(running: Running, name: str) -> None:
    url = running.wait_ready()
    wait_until(lambda: name in running.children(), name)
    before = running.children()[name]
    os.kill(before, signal.SIGKILL)
    running.wait_for(f"{name} was killed by SIGKILL: starting it again")
    wait_until(lambda: running.children().get(name, before) != before, f"a new {name}")
    assert status(f"{url}/admin/login/") == 200  # on the same port; a connection waits for a new daphne


def test_a_second_one_in_the_same_folder_says_so_in_one_line(running: Running) -> None:
    url = running.wait_ready()
    second = Running(Path(running.environment["BRIGADE_VAR"]))
    assert second.ends() == 2
    assert second.lines == [f"brigade: is running here already: {url} (process {running.process.pid})"]


@pytest.mark.nightly
def test_asked_to_restart_it_exchanges_what_runs(running: Running) -> None:
    """All the others go on while it does so. It is ended by the next test, before it has exchanged all."""
    url = running.wait_ready()
    wait_until(lambda: set(running.children()) == EVERY, "all of them")
    running.process.send_signal(signal.SIGUSR1)
    running.wait_for("daphne-1: a new one has taken over")
    assert status(f"{url}/admin/login/") == 200


def test_asked_to_end_it_stops_last_what_others_need(running: Running) -> None:
    """Nothing is left behind."""
    running.wait_ready()
    wait_until(lambda: set(running.children()) == EVERY, "all of them")
    children = running.children()
    needed = children.pop("valkey")
    os.kill(children["worker-1"], signal.SIGSTOP)  # does not hear that it is to end; is killed after a while
    running.process.send_signal(signal.SIGINT)  # which gives them five seconds
    wait_until(lambda: not alive(needed), "the end of valkey")
    assert not any(map(alive, children.values()))
    assert running.ends() == 0


SOON = {"valkey", "fork-server", "staff", "daphne-1", "worker-1"}


@pytest.mark.parametrize("ready", [False, *nightly(True)])
def test_started_again_it_goes_on_with_the_same_data_and_killed_it_leaves_nothing_behind(
    running: Running, ready: bool
) -> None:
    """It shows no password again, since the data has an administrator."""
    assert running.process.poll() == 0, "the test before has ended it"
    again = Running(Path(running.environment["BRIGADE_VAR"]), BRIGADE_WEB="1")
    try:
        again.wait_for("administration: ")
        if ready:
            assert status(f"{again.wait_ready()}/s/demo/") == 200
        expected = EVERY - {"daphne-2"} if ready else SOON
        wait_until(lambda: set(again.children()) == expected, "all of them")
        assert "password" not in again.said
        children = again.children()
        again.process.kill()
        assert again.ends() == -9
        wait_until(lambda: not any(map(alive, children.values())), "the end of all children", 10)
    finally:
        again.process.kill()
        again.process.wait()
