"""Store uploaded policy files in the database, delete unused ones, and copy them to this machine.

The database is part of backups. Agents run in programs without a database, so each machine that needs a file
writes a copy of it (`kitchen.agents.policy.policy_folder`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import Any

from django.db import IntegrityError, transaction

from kitchen.agents.policy.policy_card import PolicyFileError
from kitchen.agents.policy.policy_folder import (
    PolicyFile,
    find_policy,
    has_copy,
    named_digests,
    remove_copy,
    shipped_policies,
    store_copy,
)
from kitchen.agents.policy.trial_games import check_and_play
from kitchen.contract.world import Json
from kitchen.play.models import Mind
from kitchen.play.policies.models import UploadedPolicy

KIND = "policy"
ALREADY_HERE = "already_here"
"""The code of a file that is stored already, or that comes with a world."""
MAX_NAME = 60


class PolicyInUseError(Exception):
    """The policy file cannot be deleted. The message is one sentence."""


def store_policy(
    file_name: str, data: bytes, given: Mapping[str, str], uploaded_by: Any = None
) -> UploadedPolicy:
    """Check a policy file, play its trial games, and store it. `given` is metadata that the file does not
    have. Raises PolicyFileError, and then stores nothing."""
    digest = sha256(data).hexdigest()
    _check_new(digest)
    checked = check_and_play(data, given)
    try:
        with transaction.atomic():
            row = UploadedPolicy.objects.create(
                name=policy_name(file_name),
                sha256=digest,
                data=data,
                card=checked.card.to_json(),
                world=checked.world,
                world_settings=dict(checked.settings),
                scores=dict(checked.scores),
                milliseconds=checked.milliseconds,
                uploaded_by=uploaded_by,
            )
    except IntegrityError:  # somebody else uploaded it meanwhile
        _check_new(digest)
        raise
    store_copy(digest, data, row.card)
    return row


def _check_new(digest: str) -> None:
    stored = UploadedPolicy.objects.filter(sha256=digest).values_list("name", flat=True).first()
    shipped = next((one.name for one in shipped_policies() if one.sha256 == digest), None)
    if name := stored or shipped:
        raise PolicyFileError(ALREADY_HERE, f"this file is here already, as {name}")


def policy_name(file_name: str) -> str:
    """Return the name of a policy from the name of its file: letters, digits, dots, `_` and `-`."""
    stem = file_name.replace("\\", "/").rpartition("/")[2].removesuffix(".onnx")
    return re.sub(r"[^A-Za-z0-9_.-]+", "_", stem).lstrip("_.-")[:MAX_NAME] or "policy"


def why_kept(policy: UploadedPolicy) -> str:
    """Return why episodes forbid that the file is deleted, as a sentence; empty if none does."""
    used = Mind.objects.filter(kind=KIND, settings__file__endswith=f":{policy.sha256}")
    count = used.values("episode").distinct().count()
    return f"{count} episode{'s' if count > 1 else ''} used it." if count else ""


def delete_policy(policy: UploadedPolicy) -> None:
    """Delete a policy file that no episode used. Raises PolicyInUseError."""
    with transaction.atomic():
        if why := why_kept(policy):
            raise PolicyInUseError(why)
        policy.delete()
    remove_copy(policy.sha256)


def copy_to_this_machine(settings: Iterable[Json]) -> None:
    """Write copies of the uploaded files that these settings name, if this machine does not have them."""
    missing = {digest for one in settings for digest in named_digests(one) if not has_copy(digest)}
    if missing:
        for row in UploadedPolicy.objects.filter(sha256__in=missing):
            store_copy(row.sha256, bytes(row.data), row.card)


def policies_on_this_machine() -> list[PolicyFile]:
    """Return all policy files, first those that come with worlds. Uploaded ones are copied to this machine if
    they are missing."""
    rows = list(UploadedPolicy.objects.defer("data"))
    copy_to_this_machine([row.reference for row in rows])
    return [*shipped_policies(), *(find_policy(row.reference) for row in rows)]
