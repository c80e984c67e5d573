"""Data and reports name the file, the hash, the encoding and the choice of a trained policy."""

from __future__ import annotations

from pathlib import Path

import pytest

from kitchen.agents.policy.policy_folder import remove_copy
from kitchen.agents.policy.upload_checks import check_policy
from kitchen.play.policies.policy_storage import store_policy
from study.design.models import Condition
from study.design.study_versions import version_blueprints
from study.exports.design_columns import setting_columns, settings_of
from study.reporting.report_output import _condition
from tests.kitchen.agents.policy.onnx_files import LOSSLESS, policy
from tests.study.factories import make_study

pytestmark = pytest.mark.django_db


def test_columns_and_report_name_a_policy(var: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = "kitchen.play.policies.policy_storage.check_and_play"
    monkeypatch.setattr(path, lambda data, given: check_policy(data, given))
    row, study = store_policy("run.onnx", policy(), {}), make_study(conditions=0)
    remove_copy(row.sha256)  # as on another machine
    Condition.objects.create(
        study=study,
        key="net",
        name="Net",
        label="Net",
        world="overcooked",
        settings={"layout": "cramped_room"},
        coplayer="policy",
        coplayer_settings={"file": row.reference},
        teammates=1,
    )
    columns = {column.name: column.meaning for column in setting_columns(study)}
    assert {"coplayer.file", "coplayer.choice", "coplayer.temperature", "coplayer.encoding"} <= columns.keys()
    (design,) = version_blueprints(study)
    values = settings_of(design.conditions[0])
    assert values["coplayer", "file"] == f"run:{row.sha256}"
    assert (values["coplayer", "choice"], values["coplayer", "encoding"]) == ("drawn", LOSSLESS)
    told = _condition(design.conditions[0])[3]
    assert row.sha256 in told and LOSSLESS in told
