"""List the texts of a condition's probes and slider, translate them, and say in words when probes are asked.

A path is `conditions.hard.probes.trust.q1.low` or `conditions.hard.rating_slider.text`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from kitchen.contract.probes import (
    CHOICE,
    LIKERT,
    REFUSED,
    SLIDER,
    SLIDER_END,
    Probe,
    ProbeItem,
    RatingSlider,
    stored_probes,
)
from kitchen.contract.world import Json
from kitchen.registry.world_registry import get_world, known_worlds

SLIDER_TEXTS = ("text", "low", "high")


def probe_texts(condition: Any) -> Iterator[tuple[str, str]]:
    """Yield (path, text) for each text of a condition's probes and slider that participants read."""
    for path, item in _items(condition):
        for field, text in item.texts.items():
            yield f"{path}.{field}", text
    for field in SLIDER_TEXTS:
        if text := condition.rating_slider.get(field):
            yield f"conditions.{condition.key}.rating_slider.{field}", text


def _items(condition: Any) -> Iterator[tuple[str, ProbeItem]]:
    for probe in stored_probes(condition.probes):
        for item in probe.items:
            yield f"conditions.{condition.key}.probes.{probe.key}.{item.key}", item


def translated_probes(
    condition: Any, texts: Mapping[str, Mapping[str, str]], language: str = ""
) -> list[Json]:
    """Return the probes of a condition with their translations. `texts` has the design's translations by
    language and path. `language` is the design's own one, and empty if it has no other."""
    probes = stored_probes(condition.probes)
    return [
        replace(
            probe,
            items=tuple(
                replace(
                    item,
                    words=_words(item.texts, f"{_path(condition, probe)}.{item.key}", texts),
                    language=language,
                )
                for item in probe.items
            ),
        ).to_json()
        for probe in probes
    ]


def _path(condition: Any, probe: Probe) -> str:
    return f"conditions.{condition.key}.probes.{probe.key}"


def translated_slider(
    condition: Any, texts: Mapping[str, Mapping[str, str]], language: str = ""
) -> dict[str, Json]:
    """Return the slider of a condition with its translations, as `translated_probes`. Empty without one."""
    slider = dict(condition.rating_slider)
    if not slider:
        return {}
    own = {field: slider.get(field, "") for field in SLIDER_TEXTS}
    words = _words(own, f"conditions.{condition.key}.rating_slider", texts)
    more = {"words": words, "language": language}
    return {**slider, **{name: value for name, value in more.items() if value}}


def _words(
    own: Mapping[str, str], path: str, texts: Mapping[str, Mapping[str, str]]
) -> dict[str, dict[str, Json]] | None:
    """Return the translations of these texts, by language. Options are a list in which a missing translation
    is empty. None without any translation."""
    found: dict[str, dict[str, Json]] = {}
    for language, there in texts.items():
        known = {field: there.get(f"{path}.{field}", "") for field in own}
        if any(known.values()):
            options = [text for field, text in known.items() if field.startswith("options.")]
            words: dict[str, Json] = {field: known[field] for field in SLIDER_TEXTS if known.get(field)}
            found[language] = {**words, **({"options": options} if any(options) else {})}
    return found or None


def time_in_words(probe: Probe, world: str) -> str:
    """Return when a probe is asked, as text: `every 10 steps`, `when an order was served`."""
    if probe.event:
        labels = {**_event_labels(world), REFUSED: "an action was refused"}
        when = f"when {labels.get(probe.event, probe.event)}"
    elif probe.step:
        when = f"after step {probe.step}"
    else:
        when = (
            f"every {probe.every_steps} steps"
            if probe.every_steps
            else f"every {probe.every_seconds} seconds"
        )
    return f"{when}, at most {probe.at_most} times" if probe.at_most else when


def _event_labels(world: str) -> Mapping[str, str]:
    return get_world(world).event_kinds if world in known_worlds() else {}


def answers_in_words(item: ProbeItem) -> str:
    """Return how an item is answered, as text: `1 (not at all) to 7 (completely)`."""
    if item.kind == LIKERT:
        return f"1 ({item.low}) to {item.points} ({item.high})"
    if item.kind == SLIDER:
        return f"slider from 0 ({item.low}) to {SLIDER_END} ({item.high})"
    return f"one of {', '.join(item.options)}" if item.kind == CHOICE else "a short text"


def probes_in_words(world: str, probes: Sequence[Json]) -> str:
    """Return the probes of a condition as text. Empty without any."""
    return "; ".join(
        f"{time_in_words(probe, world)}, for {probe.limit_seconds} s: "
        + ", ".join(f"“{item.text}” ({answers_in_words(item)})" for item in probe.items)
        for probe in stored_probes(probes)
    )


def slider_in_words(given: Mapping[str, Json]) -> str:
    """Return the slider of a condition as text. Empty without one."""
    slider = RatingSlider.read(given)
    return f"“{slider.text}”, from 0 ({slider.low}) to {SLIDER_END} ({slider.high})" if slider else ""
