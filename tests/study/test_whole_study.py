"""A whole study, from a file to its data: own pages, a branch, a table, a slider, a bonus, two languages."""

from __future__ import annotations

import csv
import io
import re
import zipfile
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from study.design.blueprint import blueprint_of
from study.design.models import Study
from study.design.preregistration import freeze_study
from study.editor.dry_run_file_page import export_file_states
from study.exports.export_files import write_zip
from study.participation.enter_study import is_study_open
from study.pilot.synthetic.synthetic_participants import SyntheticRequest, make_participants

pytestmark = [pytest.mark.django_db, pytest.mark.servers]
DESIGN = """
slug = "whole"
title = "Cook"
seed = 5
status = "closed"
languages = ["en", "es"]
planned_participants = 4
bonus_rule = { currency = "EUR", base = "1.00", most = "2.00" }
world = { kind = "cuisine", settings = { level = "level_0", alpha = 2.0, beta = 2.5, max_steps = 4 } }
[parts]
consent = { text = "I agree." }
about = { text = "About you." }
[[conditions]]
key = "alone"
name = "Alone"
label = "Team A"
[[conditions]]
key = "pair"
name = "Pair"
label = "Team B"
coplayer = "random"
teammates = 1
[[items]]
key = "plays"
place = "about"
kind = "single"
measure = "Plays"
text = "Do you play?"
options = ["yes", "no"]
[[items]]
key = "fun"
measure = "Fun"
text = "It was fun."
table = "The round"
[[items]]
key = "ease"
measure = "Ease"
text = "It was easy."
table = "The round"
[[items]]
key = "load"
kind = "slider"
measure = "Load"
text = "How hard was it?"
minimum = 0
maximum = 100
[[items]]
key = "mood"
place = "own-halfway"
kind = "single"
measure = "Mood"
text = "How are you?"
options = ["well", "tired"]
[[pages]]
key = "sorry"
before = "rounds"
title = "Sorry"
text = "You said {answer:plays}."
ends = true
show_if = { match = "all", rules = [{ what = "answer:plays", compares = "is", value = "no" }] }
[[pages]]
key = "halfway"
before = "round-2"
title = "Halfway"
text = "You rated {answer:fun} with {team}."
"""
SPANISH = """
title = "Cocina"
"items.fun.text" = "Fue divertido."
"items.fun.table" = "La ronda"
"items.mood.text" = "¿Cómo está?"
"""


def packed() -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("study.toml", DESIGN)
        archive.writestr("translations/es.toml", SPANISH)
    return out.getvalue()


def rows(archive: zipfile.ZipFile, name: str) -> list[dict[str, Any]]:
    (path,) = (one for one in archive.namelist() if one.endswith(f"{name}.csv"))
    return list(csv.DictReader(io.StringIO(archive.read(path).decode("utf-8-sig"), newline="")))


def test_a_study_is_set_up_previewed_tried_closed_frozen_run_and_exported(
    client: Client, tmp_path: Path
) -> None:
    owner = User.objects.create_user("researcher", is_staff=True)
    client.force_login(owner)
    sent = {"file": SimpleUploadedFile("whole.zip", packed())}
    assert client.post(reverse("study:staff-new-file"), sent).status_code == 302
    study = Study.objects.get(slug="whole")
    assert len(blueprint_of(study).pages) == 2

    previews = reverse("study:staff-design-previews", args=["whole"])
    pages = re.findall('name="page" value="([^"]+)"', client.get(previews).content.decode())
    assert {"consent", "about", "own-sorry", "play-middle", "survey", "own-halfway"} <= {*pages}
    for page in (one for one in pages if not one.startswith("end-")):
        given = {"page": page, "condition": "pair", "language": "es"}
        shown = client.post(previews, given, follow=True).content.decode()
        assert "preview-banner" in shown, page
        assert page != "survey" or ("La ronda" in shown and "Fue divertido." in shown)
        assert ("¿Cómo está?" in shown) is (page == "own-halfway")

    assert is_study_open(study, synthetic=True)
    assert not is_study_open(study)
    make_participants(study, SyntheticRequest(2, seed=1, recordings=1), lambda _: None)
    freeze_study(study_id=study.pk, user=owner)
    assert is_study_open(study, synthetic=True)
    make_participants(study, SyntheticRequest(3, seed=2, recordings=1), lambda _: None)

    why = {one.name: one.why for one in export_file_states(study)}
    assert why["messages.csv"] == "In no condition may anybody write messages."
    filled = {"participants", "episodes", "steps", "answers", "asked", "decisions", "payments"}
    assert not {name for name in filled if why[f"{name}.csv"]}
    write_zip(study, tmp_path / "whole.zip")
    with zipfile.ZipFile(tmp_path / "whole.zip") as archive:
        people, answers = rows(archive, "participants"), rows(archive, "answers")
    assert sorted(one["preview"] for one in people) == [*"000001"], "the last preview is marked as one"
    assert sum(int(one["synthetic"]) for one in people) == 5
    loads = {float(one["answer_value"]) for one in answers if one["item"] == "load"}
    assert loads
    assert all(0 <= load <= 100 for load in loads)
    assert {one["item"] for one in answers} == {"plays", "fun", "ease", "load", "mood"}
    assert {one["own-halfway.mood"] for one in people if one["exit_status"] == "complete"} <= {
        "well",
        "tired",
    }
