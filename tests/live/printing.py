"""Print the results of `make load` as tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from tests.live.company import Stretch
from tests.live.table import markdown, short
from tests.live.verdicts import Verdict

STRETCH = (
    "people",
    "steps/s",
    "p50 ms",
    "p95 ms",
    "p99 ms",
    "above 1 s",
    "too late",
    "errors",
    "pages p99 ms",
    "% of a core",
    "memory MB",
    "database: waiting at most",
)
VERDICT = ("", "at first", "at last", "an hour", "interval", "bound", "verdict", "")


def stretch_table(stretches: Iterable[Stretch]) -> str:
    """Return a table with a line for each number of people."""
    return markdown(STRETCH, (stretch_cells(stretch) for stretch in stretches))


def stretch_cells(stretch: Stretch) -> tuple[str, ...]:
    """Return the cells of one line of the table."""
    played = stretch.played
    pages = short(stretch.pages.p99) if stretch.pages.times else ""
    return (
        str(stretch.people),
        short(played.rate),
        *(short(played.quantile(share)) for share in (0.5, 0.95, 0.99)),
        str(stretch.slow),
        str(stretch.late),
        str(stretch.errors.total()),
        pages,
        processors(stretch),
        short(sum(stretch.memory.values()) / 2**20),
        stretch.waiting.most,
    )


def processors(stretch: Stretch) -> str:
    """Return the percentage of one core that each program used, and the players."""
    seconds = stretch.played.seconds
    used = {**stretch.played.used, "players": stretch.played.driver}
    return ", ".join(
        f"{name} {100 * spent / seconds:.0f}" for name, spent in used.items() if spent > 0.01 * seconds
    )


def told(say: Callable[[str], None], stretch: Stretch) -> Stretch:
    """Print one line about a measurement."""
    played, errors = stretch.played, stretch.errors.total()
    say(
        f"{stretch.people} people: {played.rate:.1f} steps/s ({stretch.share:.0%} of what was to be), "
        f"p50 {played.p50:.1f} ms, p99 {played.p99:.0f} ms, {stretch.slow} above 1 s, {errors} errors"
    )
    return stretch


def troubles(stretch: Stretch) -> Iterator[str]:
    """Return a line for each unexpected event."""
    for what, times in stretch.errors.most_common():
        yield f"{stretch.people} people: {times} x {what}"
    for why in stretch.told.get("failed", ()):
        yield f"{stretch.people} people: did not finish the study: {why}"


def verdict_table(verdicts: Iterable[Verdict]) -> str:
    """Return a table with a line for each judged value."""
    return markdown(VERDICT, (verdict_cells(verdict) for verdict in verdicts))


def bytes_a_step(tables: Mapping[str, float]) -> str:
    """Return one line with the largest database tables, in bytes per step."""
    largest = sorted(tables.items(), key=lambda one: -one[1])[:8]
    told = ", ".join(f"{table} {size:,.0f}" for table, size in largest)
    return f"bytes for each step, indexes and empty tables counted: {sum(tables.values()):,.0f}: {told}"


def verdict_cells(verdict: Verdict) -> tuple[str, ...]:
    """Return the cells of one line of the table."""
    slope = verdict.slope
    return (
        verdict.what,
        f"{short(verdict.first)} {verdict.unit}".strip(),
        f"{short(verdict.last)} {verdict.unit}".strip(),
        f"{slope.value:+.2g}" if slope else "",
        f"{slope.low:+.2g} to {slope.high:+.2g}" if slope else "",
        f"{verdict.bound:g}" if verdict.bound else "",
        verdict.word,
        verdict.why,
    )
