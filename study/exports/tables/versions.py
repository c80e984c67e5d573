"""What the versions of a study say about its data: what was preregistered, and what was changed since."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from study.design.blueprint import blueprint_of
from study.design.models import Study
from study.design.preregistration import program, program_differences
from study.design.versions import freeze_states


def changed_versions(study: Study) -> set[int]:
    """Numbers of the versions that came after a preregistration and are not what was preregistered."""
    return {one.version for one in freeze_states(study).values() if one.changed_since_freeze}


def design_document(study: Study) -> dict[str, Any]:
    """Every version with its document, and the present design: design.json."""
    return {
        "study": study.slug,
        "program": program(),
        "present": {"digest": blueprint_of(study).digest, "document": blueprint_of(study).to_json()},
        "versions": [
            {
                "number": one.number,
                "digest": one.digest,
                "created_at": one.created_at.isoformat(),
                "frozen_at": one.frozen_at.isoformat() if one.frozen_at else None,
                "changed_since_freeze": one.number in changed_versions(study),
                "document": one.document,
                "bundle_digest": one.bundle_digest or None,
                "bundle": one.bundle,
                "program_differences": [asdict(each) for each in program_differences(one.bundle)]
                if one.bundle
                else [],
            }
            for one in study.versions.order_by("number")
        ],
    }
