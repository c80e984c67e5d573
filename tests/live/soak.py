"""Let the same number of people play for a long time, and report what grows and whether the growth is
explained.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from tests.live.company import Company, Stretch, quantile
from tests.live.sampling import Sample, Sampler
from tests.live.soak_companions import TIMES, Companions
from tests.live.verdicts import Verdict, explained, judged, restarted

MINUTE = 60.0
"""Seconds between two samples."""
WARM = 0.2
"""The share of samples at the start that is not judged, because code and caches are still loaded."""
BOUNDS: Mapping[str, float] = {
    r"(web|staff|ticker|worker|experiments|planner|runner|valkey|helper) \d+: (RSS|PSS|private)$": 6.0,
    r"(postgres|redis): PSS": 12.0,
    r": open ": 4.0,
    r": threads$": 4.0,
    r"^broker: (memory)$": 1.0,
    r"^broker: ": 10.0,
    r"^WAL$": 4.0,
    r"^logs$": 1.0,
    r"^other files": 10.0,
    r"^database connections$": 4.0,
}
"""The maximum growth per hour of each value, by the sample's name: in MB, or a number."""
PROCESS = re.compile(r"((?:web|staff|ticker|worker|experiments|planner|runner|valkey) \d+): RSS$")
"""Kinds of process that run from the beginning to the end, unless something goes wrong."""
KIND, PAGES_HOLD = re.compile(r"(\w+) \d+: "), re.compile(r"open (sockets|databases)$")
ERROR = "error, "
"""The beginning of the names of error counts."""
COMPANION = "companion, "
"""The beginning of the names of the companions' values."""
BYTES_A_STEP = 4096
"""The maximum growth of the database per step of the log, in bytes."""


async def soaked(
    company: Company,
    people: int,
    minutes: float,
    report: Callable[[Sample], None],
    file: Path | None = None,
) -> dict[str, float]:
    """Take a sample each minute while this number of people plays beside companions of other kinds
    (`tests.live.soak_companions`). Write each sample to the file at once, and report it.

    Return the bytes that each table has per step of the log.
    """
    await company.become(people)
    sampler = Sampler(company.stack)
    async with Companions(company) as companions:
        for _ in range(max(1, round(60 * minutes / MINUTE))):
            stretch = await company.measure(warm=0, seconds=MINUTE)
            sample = played_as(stretch) | companion_sample(*companions.report())
            sample |= await asyncio.to_thread(sampler.take)
            if file:
                await asyncio.to_thread(add_line, file, sample)
            report(sample)
    tables = await asyncio.to_thread(sampler.tables)
    steps = max(1.0, sample["steps"])
    return {table: size / steps for table, size in tables.items()}


def played_as(stretch: Stretch) -> Sample:
    """Return the numbers about this minute's play that players notice, such as slow steps."""
    played = stretch.played
    return {
        "steps a second": played.rate,
        "p50": quantile(played, 0.5) or 0.0,
        "p99": quantile(played, 0.99) or 0.0,
        "slow": float(stretch.slow),
        "finished the study": float(stretch.told.get("finished", 0)),
        **{f"{name}: seconds": spent for name, spent in played.used.items()},
        **{f"{ERROR}{what}": float(number) for what, number in stretch.errors.items()},
    }


def companion_sample(values: Mapping[str, float], errors: Mapping[str, int]) -> Sample:
    """Return this minute's numbers about the companions."""
    values = {f"{COMPANION}{what}": value for what, value in values.items()}
    return {**values, **{f"{ERROR}{what}": float(number) for what, number in errors.items() if number}}


def companion_totals(samples: Sequence[Sample]) -> dict[str, float]:
    """Return the sums of the companions' counts, and the highest of their times."""
    totals: dict[str, float] = {}
    for name, value in ((name, value) for sample in samples for name, value in sample.items()):
        if name.startswith(COMPANION):
            what = name.removeprefix(COMPANION)
            before = totals.get(what, 0.0)
            totals[what] = max(before, value) if what in TIMES else before + value
    return totals


def errors_in(samples: Sequence[Sample]) -> Counter[str]:
    """Count the errors in the samples, by kind."""
    found: Counter[str] = Counter()
    for sample in samples:
        found.update(
            {name.removeprefix(ERROR): int(n) for name, n in sample.items() if name.startswith(ERROR)}
        )
    return found


def add_line(file: Path, sample: Sample) -> None:
    """Append one sample to the file as a line of JSON."""
    with file.open("a") as out:
        print(json.dumps(sample), file=out)


def verdicts(samples: Sequence[Sample]) -> list[Verdict]:
    """Return a verdict for each sampled value with a bound, for the database, and for each process that came
    or went."""
    kept = [pooled(sample) for sample in samples[round(WARM * len(samples)) :]]
    judgements = (one for name in names(kept) if (one := verdict(name, kept)))
    return [*process_verdicts(samples), *database_verdicts(kept), *judgements]


def process_verdicts(samples: Sequence[Sample]) -> Iterator[Verdict]:
    """Return a verdict for each process that came or went. The process that replaces another has the next
    number. A planner process starts when the first call needs it."""
    everyone = {name: found[1] for sample in samples for name in sample if (found := PROCESS.match(name))}
    for name, process in sorted(everyone.items()):
        there = [name in sample for sample in samples]
        late = process.startswith("planner") and there == sorted(there)
        if not (all(there) or late):
            yield restarted(process, there)


def pooled(sample: Sample) -> Sample:
    """Sum the open files over all processes of a kind, because pages move from one process to another."""
    found: Sample = {}
    for name, value in sample.items():
        kind, what = KIND.match(name), PAGES_HOLD.search(name)
        name = f"{kind[1]}, all: {what[0]}" if kind and what else name
        found[name] = found.get(name, 0.0) + value
    return found


def names(samples: Sequence[Sample]) -> Iterator[str]:
    """Return the names of all values that every sample has."""
    return (name for name in (samples[0] if samples else ()) if all(name in sample for sample in samples))


def verdict(name: str, samples: Sequence[Sample]) -> Verdict | None:
    """Return the verdict for one value, or None if it has no bound."""
    bound = next((bound for pattern, bound in BOUNDS.items() if re.search(pattern, name)), None)
    if bound is None:
        return None
    unit = "MB" if re.search(r"RSS|PSS|private|memory|^WAL|^logs|MB$", name) else ""
    return judged(name, unit, column("minutes", samples), column(name, samples), bound)


def database_verdicts(samples: Sequence[Sample]) -> list[Verdict]:
    """Return whether the database grows by the same amount for each step of the log."""
    if not samples:
        return []
    size = [2**20 * value for value in column("database", samples)]
    minutes, steps = column("minutes", samples), column("steps", samples)
    return [explained("database", "bytes", minutes, size, steps, cause="step", most=BYTES_A_STEP)]


def column(name: str, samples: Sequence[Sample]) -> list[float]:
    """Return one value of every sample."""
    return [sample[name] for sample in samples]
