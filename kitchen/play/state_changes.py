"""Store the large parts of a state as what each step changes of them, and read them again.

A world says which parts of its state are large (`World.large`). `Episode.state` has the root of each, and
`StateChange` the entries: all of them when the episode begins, then what each step changed. Once the changes
since the last whole row are longer than the part itself, the next row is a whole one. So what is read to go
on with an episode is at most about twice as long as its parts, and so is what is written for a change.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from uuid import UUID

from kitchen.contract.large_state import Changes, FrozenMap, LargeMap, WorldState
from kitchen.contract.world import Json, StateError
from kitchen.machine.statements import Values
from kitchen.play.models import Episode, StateChange
from kitchen.registry.names import UnknownNameError
from kitchen.registry.worlds import get_world

DAMAGED = "{part}: what is stored of this part of the state does not lead to its hash"


@dataclass(slots=True)
class LargeParts:
    """The large parts of an episode's state as they were after a step."""

    key: UUID
    """Of the episode."""
    step: int
    maps: Mapping[str, LargeMap]
    lengths: dict[str, int]
    """By part: characters of the changes since its last whole row."""

    def read_on(self, episode: Episode) -> bool:
        """Apply what was stored later; False if that does not lead to the episode's state."""
        if self.key != episode.key:
            return False
        later = StateChange.objects.filter(
            episode=episode, step__gt=self.step, step__lte=episode.step, part__in=self.maps
        )
        self._apply(later.order_by("step"))
        self.step = episode.step
        return all(part.freeze().root == episode.state.get(name) for name, part in self.maps.items())

    def _apply(self, rows: Iterable[StateChange]) -> None:
        for row in rows:
            change_apply(self.maps[row.part], row)
            length = len(row.changed) + len(row.removed)
            self.lengths[row.part] = 0 if row.is_whole else self.lengths.get(row.part, 0) + length


def change_apply(part: LargeMap, row: StateChange) -> None:
    """Change the part to what it was after this row's step. StateError for a row that cannot be read."""
    if row.is_whole:
        part.clear()
    try:
        part.apply(Changes(row.changed, row.removed))
    except (TypeError, ValueError) as error:
        raise StateError(DAMAGED.format(part=row.part)) from error


def large_parts(episode: Episode) -> LargeParts:
    """The large parts of an episode as they are stored; no maps where its world has none. StateError where
    nothing is stored of one."""
    names = get_world(episode.world).large
    parts = LargeParts(episode.key, episode.step, {name: LargeMap() for name in names}, {})
    for name in names:
        rows = StateChange.objects.filter(episode=episode, part=name, step__lte=episode.step)
        whole = rows.filter(is_whole=True).order_by("-step").first()
        if whole is None:
            raise StateError(DAMAGED.format(part=name))
        parts._apply([whole, *rows.filter(step__gt=whole.step).order_by("step")])
    return parts


def parts_verified(episode: Episode, known: LargeParts | None) -> LargeParts:
    """The large parts of an episode, read on from what is `known` where that leads to the episode's state.
    StateError where what is stored does not lead to it."""
    if known is not None and known.read_on(episode):
        return known
    parts = large_parts(episode)
    for name, part in parts.maps.items():
        if part.freeze().root != episode.state.get(name):
            raise StateError(DAMAGED.format(part=name))
    return parts


def changes_verify(episode: Episode) -> Iterator[tuple[int, str]]:
    """Yield each step whose stored changes of a part do not lead to the hash that is stored with them, with
    the name of the part. After one of them the next whole row is the next that is looked at. A part that is
    not what the state says is found at the episode's present step. The world need not be known here."""
    parts: dict[str, LargeMap] = {}
    found: set[str] = set()
    rows = StateChange.objects.filter(episode=episode, step__lte=episode.step)
    for row in rows.order_by("step", "part").iterator(chunk_size=20):
        if row.is_whole:
            parts[row.part] = LargeMap()
            found.discard(row.part)
        part = parts.get(row.part)
        if row.part not in found and (part is None or not _leads_to(part, row)):
            found.add(row.part)
            yield row.step, row.part
    for name in sorted({*_large_names(episode.world), *parts} - found):
        if name not in parts or parts[name].freeze().root != episode.state.get(name):
            yield episode.step, name


def _leads_to(part: LargeMap, row: StateChange) -> bool:
    try:
        change_apply(part, row)
    except StateError:
        return False
    return part.freeze().root == row.root


def _large_names(world: str) -> tuple[str, ...]:
    try:
        return get_world(world).large
    except UnknownNameError:
        return ()


def first_rows(episode_id: int, state: WorldState) -> list[Values]:
    """Return the rows to store when an episode begins in this state."""
    return [_row(episode_id, 0, name, part, part.whole(), True) for name, part in state.parts.items()]


def rows_of_step(
    episode: Episode, before: WorldState, after: WorldState, lengths: dict[str, int]
) -> Iterator[Values]:
    """Yield the rows to store of the step that the episode has just taken. This updates `lengths`, as
    `LargeParts` has them."""
    for name, part in after.parts.items():
        if changes := part.changes_since(before.parts[name]):
            lengths[name] = lengths.get(name, 0) + changes.length
            is_whole = lengths[name] > part.length
            if is_whole:
                changes, lengths[name] = part.whole(), 0
            yield _row(episode.pk, episode.step, name, part, changes, is_whole)


def _row(
    episode_id: int, step: int, name: str, part: FrozenMap, changes: Changes, is_whole: bool
) -> dict[str, Json]:
    return {
        "episode_id": episode_id,
        "step": step,
        "part": name,
        "is_whole": is_whole,
        "changed": changes.changed,
        "removed": changes.removed,
        "root": part.root,
    }
