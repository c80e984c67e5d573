"""What a step was, in lines for staff: who was commanded what, and what else happened."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from kitchen.contract.world import Json
from kitchen.play.models import Step


@dataclass(frozen=True, slots=True)
class CommandLine:
    """One command of a step."""

    seat: int
    text: str
    chosen_by: str
    fallback: str
    reasons: str
    """Codes of a refusal; empty if the command was carried out."""


def command_lines(step: Step) -> tuple[CommandLine, ...]:
    """Its commands, in the order in which they ran."""
    refused = [event for event in step.events if event["kind"] == "refused"]
    return tuple(_line(entry, refused) for entry in step.commands)


def happened(step: Step) -> tuple[str, ...]:
    """What was no seat's command: what the world, or the house, did by itself."""
    return tuple(_told(event) for event in step.events if event["kind"] not in {"refused", "performed"})


def _line(entry: Mapping[str, Json], refused: list[Mapping[str, Json]]) -> CommandLine:
    same = (
        event
        for event in refused
        if event["seat"] == entry["seat"] and list(event.get("command", [])) == list(entry["command"])
    )
    reasons = next((event.get("reasons") or ["refused"] for event in same), [])
    return CommandLine(
        seat=entry["seat"],
        text=" ".join(str(part) for part in entry["command"]),
        chosen_by=entry["chosen_by"],
        fallback=entry["fallback"],
        reasons=", ".join(str(reason) for reason in reasons),
    )


def _told(event: Mapping[str, Json]) -> str:
    details = [f"{name} {value}" for name, value in event.items() if name not in {"kind", "seat"}]
    return " ".join([event["kind"].replace("_", " "), *details])
