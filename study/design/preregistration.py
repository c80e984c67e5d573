"""Freeze a study's design as a preregistration, and verify the hashes of a preregistration.

A preregistration is stored as a JSON object, the *bundle*. Its field `content` is the planned design.
`frozen` is the time and the user, and `program` the version of the app. `content_sha256` is the SHA-256 of
`content` in canonical JSON. The same design gives the same hash, if code and default model are the same.
`sha256` is the hash of `format`, `content`, `frozen` and `program` together.
"""

from __future__ import annotations

import shutil
import subprocess
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from kitchen.agents.make_situation import make_situation, situation_in_organisation
from kitchen.contract.agent import Situation
from kitchen.contract.world import Json, World
from kitchen.contract.world_errors import WorldError
from kitchen.play.episode.create_episode import MindPlan
from kitchen.registry.dotted_paths import UnknownNameError
from kitchen.registry.world_registry import get_world
from study.design.blueprint import Blueprint, ConditionPlan, document_digest
from study.design.condition_seats import all_minds, other_people_seats, planned_organisation, seats_of
from study.design.counterbalancing import get_scheme
from study.design.models import Study, Version
from study.design.readiness_checks import blocking_problems
from study.design.round_plans import plan_problem, plan_sequences
from study.design.study_errors import DesignError
from study.design.study_versions import Difference, current_version

FORMAT = 2
UNDER_THE_HASH = ("format", "content", "frozen", "program")
"""The fields of a bundle that its hash covers, since format 2."""
HASHES = ("content_sha256", "sha256")
"""The other fields of a bundle."""
MOST_SEQUENCES = 1000
"""The largest block that is written out in full.

A scheme with more sequences is recorded by its rule alone.
"""


def content_of(design: Blueprint) -> dict[str, Json]:
    """Return the content that the hash covers: the design, and everything that follows from it, such as
    prompts, models, worlds and orders."""
    worlds = sorted({one.world for one in design.conditions})
    return {
        "design": design.to_json(),
        "design_sha256": design.digest,
        "orders": orders_of(design),
        "prompts": {one.key: prompts_of(one) for one in design.conditions},
        "models": {one.key: model_of(one) for one in design.conditions},
        "worlds": {name: get_world(name).version for name in worlds},
    }


def program_differences(bundle: Mapping[str, Json]) -> list[Difference]:
    """Return how the running version of the application treats the preregistered design differently from the
    version that froze it.

    Compared are prompts (by their SHA-256), models, versions of worlds, orders, and the application's version
    and commit.
    """
    content, was, now = bundle["content"], bundle["program"], program()
    differences = [
        Difference("program", name, was.get(name), now[name])
        for name in ("version", "commit")
        if was.get(name) and now[name] and was[name] != now[name]
    ]
    try:
        present = content_of(Blueprint.from_json(content["design"]))
    except (WorldError, UnknownNameError) as error:
        return [*differences, Difference("program", "the design can no longer be played", None, str(error))]
    return [*differences, *_content_differences(content, present)]


def _content_differences(old: Mapping[str, Json], new: Mapping[str, Json]) -> Iterator[Difference]:
    for key, prompts in old["prompts"].items():
        if prompts != new["prompts"][key]:
            was, now = (document_digest({"prompts": each}) for each in (prompts, new["prompts"][key]))
            yield Difference(f"condition {key}", "prompts, SHA-256", was, now)
    for key, model in old.get("models", {}).items():  # older bundles have no models
        if model != new["models"][key]:
            yield Difference(f"condition {key}", "language model", model, new["models"][key])
    for name, version in old["worlds"].items():
        if version != new["worlds"][name]:
            yield Difference(f"world {name}", "version of its rules", version, new["worlds"][name])
    if old["orders"] != new["orders"]:
        yield Difference("study", "orders that follow from the scheme", old["orders"], new["orders"])


def prompts_of(condition: ConditionPlan) -> list[str]:
    """Return the prompt texts that are the same in every episode of this condition, in full and without
    repeats. The result is empty if no language model plays."""
    minds = all_minds(condition)
    if not minds:
        return []
    world = get_world(condition.world).create(seats=seats_of(condition), settings=condition.settings)
    world.reset(0)  # fixed messages do not depend on chance
    told = [mind.fixed_messages(_situation(condition, world, plan)) for plan, mind in minds]
    return list(dict.fromkeys(message for messages in told for message in messages))


def _situation(condition: ConditionPlan, world: World, mind: MindPlan) -> Situation:
    others = other_people_seats(condition, mind)
    people = tuple(seat for seat in others if seat < world.seats)
    member = min(mind.seats, default=world.seats)
    made = planned_organisation(condition, others)
    return situation_in_organisation(make_situation(world, mind.seats, people=people), made, member=member)


def model_of(condition: ConditionPlan) -> str:
    """Return the names of the language models that play in this condition, joined by commas. Return an
    empty string if none plays.

    If the settings name no model, the default model of this process is returned.
    """
    models = dict.fromkeys(mind.model() for _, mind in all_minds(condition))
    return ", ".join(model for model in models if model)


def orders_of(design: Blueprint) -> dict[str, Json]:
    """Return the rule for the order of conditions, and its sequences. The sequences are left out if there is
    no fixed set of them, or if the set has more than `MOST_SEQUENCES`.

    With between-subjects groups, the sequences of all groups are in one list. Each names its group.
    """
    name = str(design.study["orders"])
    scheme, sequences, block = get_scheme(name), [], 0
    for group in design.groups or ("",):
        plan = design.round_plan(group)
        found = () if plan_problem(plan) or not plan.conditions else plan_sequences(plan)
        block = len(found)
        whose = {"group": group} if group else {}
        sequences += [
            {**whose, "id": one.id, "order": list(one.order)}
            for one in (found if block <= MOST_SEQUENCES else ())
        ]
    return {"scheme": name, "meaning": scheme.meaning, "block": block, "sequences": sequences}


def bundle_of(design: Blueprint, *, at: str, by: str, version: int) -> dict[str, Json]:
    """Return the complete preregistration bundle of a design.

    `at` is an ISO 8601 time, `by` a user name, `version` the number of the version.
    """
    content = content_of(design)
    told: dict[str, Json] = {
        "format": FORMAT,
        "content": content,
        "frozen": {"at": at, "by": by, "version": version},
        "program": program(),
    }
    return {**told, "content_sha256": document_digest(content), "sha256": document_digest(told)}


def date_is_hashed(bundle: Mapping[str, Json]) -> bool:
    """Return whether the bundle's hash also covers the time of freezing and the user who froze it."""
    return bundle.get("format") != 1


def has_content(bundle: Any) -> bool:
    """Return whether `bundle` may be a preregistration: a mapping whose entry `content` is a mapping, too.
    Hashes are not checked."""
    return isinstance(bundle, Mapping) and isinstance(bundle.get("content"), Mapping)


def bundle_problem(bundle: Any) -> str:
    """Return why `bundle` is not an unchanged preregistration. Return an empty string if it is."""
    if not has_content(bundle):
        return "This is no preregistration: it has no content."
    if not isinstance(bundle.get("frozen", {}), Mapping):
        return "This is no preregistration: it does not say when it was frozen."
    if bundle.get("format") not in (1, FORMAT):
        return f"This program does not know the format {bundle.get('format')!r}."
    if more := sorted(bundle.keys() - {*UNDER_THE_HASH, *HASHES}):
        return f"No preregistration has {', '.join(more)}: it was written in afterwards."
    if problem := _hash_problem(bundle):
        return problem
    design = bundle["content"].get("design")
    if not isinstance(design, Mapping) or document_digest(design) != bundle["content"].get("design_sha256"):
        return "The design's own hash does not fit."
    return ""


def _hash_problem(bundle: Mapping[str, Json]) -> str:
    digest = document_digest(bundle["content"])
    if digest != (said := bundle.get("content_sha256" if date_is_hashed(bundle) else "sha256")):
        return f"The content was changed: its SHA-256 is {digest}, not {said}."
    if date_is_hashed(bundle):
        whole = document_digest({name: bundle.get(name) for name in UNDER_THE_HASH})
        if whole != bundle.get("sha256"):
            return (
                "When, by whom or with which program it was frozen was changed: the SHA-256 is "
                f"{whole}, not {bundle.get('sha256')}."
            )
    return ""


@cache
def program() -> dict[str, str]:
    """Return the application's name and version, and its commit if it runs from a git clone."""
    root = Path(settings.BASE_DIR)
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return {"name": project["name"], "version": project["version"], "commit": _commit(root)}


def _commit(root: Path) -> str:
    git = shutil.which("git")
    if git is None or not (root / ".git").exists():
        return ""
    asked = [git, "-C", str(root), "rev-parse", "HEAD"]
    completed = subprocess.run(asked, capture_output=True, text=True, check=False)  # noqa: S603 - no input of anybody
    return completed.stdout.strip() if completed.returncode == 0 else ""


@transaction.atomic
def freeze_study(*, study_id: int, user: Any) -> Version:
    """Preregister the current design with its hash and date, and return its version. Freezing the same design
    again changes nothing.

    Raises DesignError while a problem prevents the study from taking participants.
    """
    study = Study.objects.select_for_update().get(pk=study_id)
    if missing := blocking_problems(study):
        raise DesignError(f"Nothing is frozen. First: {missing[0].words}")
    version = current_version(study_id=study_id)
    if version.frozen_at is None:
        version = current_version(study_id=study_id, whole=True)
    if version.frozen_at is None:
        version.frozen_at, version.frozen_by = timezone.now(), user
        version.bundle = bundle_of(
            version.blueprint,
            at=version.frozen_at.isoformat(timespec="seconds"),
            by=user.get_username(),
            version=version.number,
        )
        version.bundle_digest = version.bundle["sha256"]
        version.save(update_fields=["frozen_at", "frozen_by", "bundle", "bundle_digest"])
    return version
