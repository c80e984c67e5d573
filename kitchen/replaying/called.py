"""What staff read instead of numbers: players as their pages call them, with the number of the seat."""

from __future__ import annotations

from collections.abc import Iterable

from kitchen.contract.organisation import Organisation
from kitchen.play.models import Mind
from kitchen.replaying.record import Record


def seat_called(record: Record, number: int) -> str:
    """The name that its page has, and the number of the seat."""
    name = next((seat.name for seat in record.seats if seat.number == number), "A player")
    return f"{name} (seat {number})"


def mind_called(record: Record, mind: Mind) -> str:
    """By the seats that it commands; by its own number where there are none."""
    seats = [seat.number for seat in record.seats if seat.mind_id == mind.pk and seat.acts]
    return _joined(record, seats) or f"Co-player {mind.number}"


def member_called(record: Record, number: int | None) -> str:
    """Who takes part in what is said: by its own name, else by its seats. None is the house."""
    if number is None:
        return "The house"
    stored = record.episode.organisation
    members = Organisation.from_json(stored).members if stored else ()
    member = next((one for one in members if one.number == number), None)
    return (member and (member.name or _joined(record, member.seats))) or f"Member {number}"


def _joined(record: Record, seats: Iterable[int]) -> str:
    return ", ".join(seat_called(record, seat) for seat in seats)
