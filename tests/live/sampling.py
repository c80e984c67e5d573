"""Measure the resources that a running app uses at one moment: each process, the database, Redis and the
logs.
"""

from __future__ import annotations

import re
import sqlite3
import time
from collections import Counter
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
import redis

from tests.live.stack import SERVERS, Running, numbers_of

Sample = dict[str, float]
"""The measured values by name. The names of a process's values begin with its kind and number."""

MB = 2**20
_NUMBERS = re.compile(r"\d+|[0-9a-f]{8,}")


class Sampler:
    """Measures the resources of one running app."""

    def __init__(self, stack: Running) -> None:
        self.var = Path(stack.environment["BRIGADE_VAR"])
        self.stack = stack
        self.database = stack.environment.get("DATABASE_URL", "")
        self.broker = redis.Redis.from_url(stack.environment["REDIS_URL"])
        self.names: dict[int, str] = {}
        """The name of each process."""
        self.began = time.monotonic()

    def take(self) -> Sample:
        """Return one sample of all resources. Takes some tens of milliseconds."""
        sample: Sample = {"minutes": (time.monotonic() - self.began) / 60}
        for pid, name in self._named().items():
            if name.split()[0] not in SERVERS:
                sample |= {f"{name}: {what}": value for what, value in process_uses(pid).items()}
        sample |= self._servers()
        sample |= postgres_holds(self.database) if self.database else sqlite_holds(self.var / "db.sqlite3")
        sample |= broker_holds(self.broker)
        return sample | files_hold(self.var)

    def tables(self) -> dict[str, int]:
        """Return the bytes of each table with its indexes. Reads the whole database."""
        return postgres_tables(self.database) if self.database else sqlite_tables(self.var / "db.sqlite3")

    def _named(self) -> dict[int, str]:
        """Return the app's processes with lasting names: `web 1`, `web 2`. A process that was started again
        gets the next number."""
        now = self.stack.processes()
        for pid, kind in sorted(now.items()):
            if pid not in self.names:
                number = 1 + sum(name.rpartition(" ")[0] == kind for name in self.names.values())
                self.names[pid] = f"{kind} {number}"
        return {pid: self.names[pid] for pid in now}

    def _servers(self) -> Sample:
        """Return the resources of PostgreSQL and of Redis, each as the sum of its processes, because their
        number changes."""
        whole: Sample = {}
        for pid, kind in self.stack.processes().items():
            if kind in SERVERS:
                for what, value in process_uses(pid).items():
                    whole[f"{kind}: {what}"] = whole.get(f"{kind}: {what}", 0.0) + value
        return whole


def process_uses(pid: int) -> Sample:
    """Return a process's memory in MB, open files by kind, and threads; empty if the process is gone."""
    try:
        rollup = Path(f"/proc/{pid}/smaps_rollup").read_text()
        kinds = Counter(kind_of(link) for link in open_files(pid))
    except OSError:
        return {}
    memory = {name: _kilobytes(rollup, name) / 1024 for name in ("Rss", "Pss", "Private_Dirty")}
    files = {f"open {kind}": float(number) for kind, number in kinds.items()}
    threads = float((numbers_of(pid) or ["0"] * 18)[17])
    return (
        {"RSS": memory["Rss"], "PSS": memory["Pss"], "private": memory["Private_Dirty"]}
        | files
        | {"threads": threads}
    )


def _kilobytes(rollup: str, name: str) -> float:
    found = re.search(rf"^{name}:\s+(\d+) kB", rollup, re.MULTILINE)
    return float(found[1]) if found else 0.0


def open_files(pid: int) -> list[str]:
    """Return what each of a process's open files is. Raises OSError if the process is gone."""
    links = []
    for entry in Path(f"/proc/{pid}/fd").iterdir():
        try:
            links.append(str(entry.readlink()))
        except OSError:
            continue
    return links


def kind_of(link: str) -> str:
    """Return the kind of an open file: sockets, pipes, databases, or files."""
    if link.startswith("socket:"):
        return "sockets"
    if link.startswith(("pipe:", "anon_inode:")):
        return "pipes"
    return "databases" if "sqlite3" in link else "files"


def sqlite_holds(file: Path) -> Sample:
    """Return sizes in MB, and the numbers of steps and episodes, of an SQLite database."""
    wal = file.with_name(f"{file.name}-wal")
    with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True, timeout=5)) as connection:
        ask = connection.execute
        pages, free, size = (
            ask(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "freelist_count", "page_size")
        )
        (steps,) = ask("SELECT count(*) FROM kitchen_step").fetchone()
        (episodes,) = ask("SELECT count(*) FROM kitchen_episode").fetchone()
    return {
        "database": (pages - free) * size / MB,
        "WAL": wal.stat().st_size / MB if wal.exists() else 0.0,
        "steps": float(steps),
        "episodes": float(episodes),
    }


def sqlite_tables(file: Path) -> dict[str, int]:
    """Return the bytes of each table and of its indexes; empty if SQLite was built without `dbstat`."""
    query = """SELECT m.tbl_name, sum(s.pgsize) FROM dbstat s JOIN sqlite_master m ON m.name = s.name
        WHERE s.aggregate = TRUE GROUP BY m.tbl_name"""
    with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True, timeout=5)) as connection:
        try:
            return dict(connection.execute(query).fetchall())
        except sqlite3.OperationalError:
            return {}


def postgres_tables(url: str) -> dict[str, int]:
    """Return the bytes of each table and of its indexes in PostgreSQL."""
    query = "SELECT relname, pg_total_relation_size(relid) FROM pg_stat_user_tables"
    with psycopg.connect(url) as connection:
        return {str(name): int(size) for name, size in connection.execute(query)}


def postgres_holds(url: str) -> Sample:
    """Return sizes in MB, and the numbers of steps and episodes, of a PostgreSQL database."""
    with psycopg.connect(url) as connection:
        row = connection.execute(
            "SELECT pg_database_size(current_database()), (SELECT sum(size) FROM pg_ls_waldir()),"
            " (SELECT count(*) FROM kitchen_step), (SELECT count(*) FROM kitchen_episode),"
            " (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend')"
        ).fetchone()
    assert row
    size, wal, steps, episodes, clients = (float(value) for value in row)
    return {
        "database": size / MB,
        "WAL": wal / MB,
        "steps": steps,
        "episodes": episodes,
        "database connections": clients,
    }


def broker_holds(broker: redis.Redis) -> Sample:
    """Return Redis' memory in MB, connections, keys, keys that never expire, and waiting tasks."""
    told: Mapping[str, Any] = broker.info()
    keys = list(broker.scan_iter(count=500))
    lasting = [key for key in keys if broker.ttl(key) == -1]
    lists = [key for key in lasting if broker.type(key) == b"list"]
    kinds = Counter(_NUMBERS.sub("*", key.decode(errors="replace"))[:40] for key in lasting)
    return {
        "broker: memory": told["used_memory"] / MB,
        "broker: connections": float(told["connected_clients"]),
        "broker: channels": float(told["pubsub_channels"]),
        "broker: keys": float(len(keys)),
        "broker: keys that never expire": float(len(lasting)),
        "broker: tasks that wait": float(sum(broker.llen(key) for key in lists)),
        **{f"broker: {kind}": float(number) for kind, number in kinds.items()},
    }


def files_hold(var: Path) -> Sample:
    """Return the MB of logs and of other files except the database, and the number of files."""
    files = [path for path in var.rglob("*") if path.is_file() and not path.name.startswith("db.sqlite3")]
    logs = [path for path in files if path.suffix == ".log"]
    return {
        "logs": sum(path.stat().st_size for path in logs) / MB,
        "other files": float(len(files) - len(logs)),
        "other files, MB": sum(path.stat().st_size for path in files if path not in logs) / MB,
    }
