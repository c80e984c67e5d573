"""Settings of a world that are drawn, in the forms of the console: a layout of one's own of the grids."""

from __future__ import annotations

from html import unescape
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from study.design.blueprint import blueprint_of
from study.design.models import Condition, Study
from study.design.preregistration import freeze_study
from study.design.readiness_checks import readiness_problems
from tests.nightly import nightly
from tests.study.factories import make_study

pytestmark = pytest.mark.django_db

NAME = "world__overcooked__own_layout"
ROWS = ("XXPXX", "O  2O", "X1  X", "XDXSX")
LINES = {"title": "Ours", "orders": "OOO", "bonus": "", "value": "20", "time": "20"}
GRID = "".join(f'    "{row}",\n' for row in ROWS)
DRAWN = f'title = "Ours"\ngrid = [\n{GRID}]\norders = ["OOO"]\nbonus = []\nvalue = 20\ntime = 20'
WRITTEN = f"# by hand\n{DRAWN}"


@pytest.fixture
def study(client: Client) -> Study:
    study = make_study(conditions=1)
    study.conditions.update(
        world="overcooked", settings={"layout": "own", "own_layout": WRITTEN}, coplayer="stay", teammates=1
    )
    user = User.objects.create_user("researcher", is_staff=True)
    study.memberships.create(user=user, role="owner")
    client.force_login(user)
    return study


def drawn(*rows: str, kept: str = WRITTEN, **lines: str) -> dict[str, str]:
    """What the drawing sends."""
    told = {f"{NAME}__line_{name}": value for name, value in {**LINES, **lines}.items()}
    return {**told, f"{NAME}__rows": "\r\n".join(rows or ROWS), f"{NAME}__kept": kept}


def send(client: Client, study: Study, **changes: Any) -> Any:
    row = study.conditions.get(key="c0")
    world = {"layout": "own", "cooking": "auto", "ticks": "400", "clock": "turn", "tick_ms": "167"}
    sent = {f"world__overcooked__{name}": value for name, value in {**world, "start": "layout"}.items()}
    sent |= {"key": row.key, "name": row.name, "label": row.label, "world": "overcooked", "teammates": "1"}
    shown = {"_shown": ["world__overcooked"], "coplayer": "stay"}
    address = reverse("study:staff-design-condition", args=[study.slug, row.pk])
    return client.post(address, {**sent, **shown, **changes})


def settings(study: Study) -> dict[str, Any]:
    stored: dict[str, Any] = study.conditions.get(key="c0").settings
    return stored


def test_what_is_drawn_is_stored_as_a_layout_file_and_is_part_of_the_design(
    client: Client, study: Study
) -> None:
    assert send(client, study, **drawn("XXPXX", "O  2O", "P1  X", "XDXSX")).status_code == 302
    text = settings(study)["own_layout"]
    assert text == DRAWN.replace('"X1  X"', '"P1  X"')
    (condition,) = blueprint_of(study).conditions
    assert condition.settings["own_layout"] == text


def test_a_text_written_by_hand_stays_as_it_is_while_the_same_is_drawn(client: Client, study: Study) -> None:
    assert send(client, study, **drawn(kept=WRITTEN.replace("\n", "\r\n"))).status_code == 302
    assert settings(study)["own_layout"] == WRITTEN


def test_what_is_refused_stays_drawn_and_nothing_is_stored(client: Client, study: Study) -> None:
    answer = send(client, study, **drawn("XXPXX", "O  2 ", "X1  X", "XDXSX", title="Mine"))
    page = unescape(answer.content.decode())
    assert answer.status_code == 422 and settings(study)["own_layout"] == WRITTEN
    assert page.count("The border must be closed, and there is floor in it: row 2, column 5.") == 3
    assert "rid[2]" not in page
    assert "XXPXX\nO  2 \nX1  X\nXDXSX</textarea>" in page and 'value="Mine"' in page


def test_it_is_checked_while_it_is_drawn(client: Client, study: Study) -> None:
    asked = {"_show_settings": f"told {NAME}"}
    page = unescape(
        send(client, study, **drawn("XXPXX", "OX X2", "X1  X", "XDXSX"), **asked).content.decode()
    )
    assert "there is floor in it: row 2, column 4" not in page and "<form" not in page
    assert "There is no start 2 (seat 1)" not in page and "row 2, column 5" in page
    page = send(client, study, **drawn("XXXXXX", "O1DX2X", "XXPXSX"), **asked).content.decode()
    assert "No soup can ever be served here" in page and "Seat 1 reaches a serving place" in page
    other = {"world__overcooked__layout": "cramped_room"}
    page = unescape(send(client, study, **drawn(), **asked, **other).content.decode())
    assert "It is not played: the layout chosen above is “Cramped room”." in page


def test_one_draws_on_from_what_comes_along_another_condition_or_a_file(client: Client, study: Study) -> None:
    own = {"layout": "own", "own_layout": WRITTEN.replace("Ours", "Of the other")}
    other = Condition.objects.create(
        study=study, key="b", name="B", label="Team B", world="overcooked", settings=own
    )
    begin, read = {"_show_settings": f"begin {NAME}"}, {"_show_settings": f"read {NAME}"}
    for asked, title in (
        ({**begin, f"{NAME}__begin": "forced_coordination"}, "Forced coordination"),
        ({**begin, f"{NAME}__begin": f"condition-{other.pk}"}, "Of the other"),
        ({**read, f"{NAME}__given": WRITTEN.replace("Ours", "From a file")}, "From a file"),
        ({**begin, f"{NAME}__begin": "nothing there"}, "Mine"),
    ):
        other_layout = {"world__overcooked__layout": "cramped_room"} if title != "Mine" else {}
        answer = send(client, study, **drawn(title="Mine"), **asked, **other_layout)
        page = unescape(answer.content.decode())
        assert ("Previous drawing</option>" in page) == (title != "Mine")
        assert f'value="{title}"' in page and '<option value="own" selected>' in page
    assert settings(study)["own_layout"] == WRITTEN


def test_a_file_that_was_given_and_not_drawn_yet_is_saved_or_refused(client: Client, study: Study) -> None:
    wrong = send(client, study, **drawn(title="Mine"), **{f"{NAME}__given": "colour = 'red'"})
    page = unescape(wrong.content.decode())
    assert wrong.status_code == 422 and "Colour: unknown key" in page
    assert 'value="Mine"' in page and "<drawn-grid" in page and "colour = 'red'</textarea>" in page
    assert settings(study)["own_layout"] == WRITTEN
    file = WRITTEN.replace("Ours", "From a file")
    given = {f"{NAME}__given": file, "world__overcooked__layout": "cramped_room"}
    assert send(client, study, **drawn(), **given).status_code == 302
    assert (settings(study)["layout"], settings(study)["own_layout"]) == ("own", file.strip())


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("a = " + "[" * 3_000, "nested deeper than 50 levels"),
        ("grid = [" + '"X",' * 10_000 + "]", "40009 characters is above 4000"),
        *nightly(("[" * 3_000, "Not TOML")),
    ],
    ids=["deep", "wide", "wrong"],
)
def test_a_hostile_drawing_is_refused(client: Client, study: Study, text: str, why: str) -> None:
    for asked in ({}, {"_show_settings": f"read {NAME}"}):
        page = unescape(send(client, study, **{f"{NAME}__given": text}, **asked).content.decode())
        assert why.lower() in page.lower()
    assert settings(study)["own_layout"] == WRITTEN


def test_what_cannot_be_drawn_is_written_and_refused_as_ever(client: Client, study: Study) -> None:
    asked = {"_show_settings": f"read {NAME}", f"{NAME}__given": "colour = 'red'"}
    page = unescape(send(client, study, **drawn(title="Mine"), **asked).content.decode())
    assert "cannot be read as a layout, so the last drawing is kept: colour: unknown key" in page
    assert 'value="Mine"' in page and "XDXSX</textarea>" in page and "colour = 'red'</textarea>" in page
    answer = send(client, study, **{NAME: "colour = 'red'"})
    assert answer.status_code == 422 and "Colour: unknown key" in unescape(answer.content.decode())


def test_practice_is_drawn_likewise_and_other_worlds_are_not(client: Client, study: Study) -> None:
    practice = reverse("study:staff-design-part", args=[study.slug, "practice"])
    page = client.get(practice).content.decode()
    assert f'name="{NAME}__rows"' in page
    sent = {"world": "overcooked", "_show_settings": f"told {NAME}", **drawn("XXPXX", "O 12O", "XXXXX")}
    assert "There are no dishes (D)" in client.post(practice, sent).content.decode()
    world = {"layout": "own", "cooking": "auto", "ticks": "40", "clock": "turn", "tick_ms": "167"}
    whole = {f"world__overcooked__{name}": value for name, value in {**world, "start": "layout"}.items()}
    rest = {"enabled": "on", "coplayer": "stay", "teammates": "1", "_shown": "world__overcooked"}
    del sent["_show_settings"]
    saved = client.post(practice, sent | whole | rest)
    assert saved.status_code == 422
    assert "<li>A layout of your own: There is no serving place (S).</li>" in saved.content.decode()
    study.conditions.update(world="cuisine", settings={})
    address = reverse("study:staff-design-condition", args=[study.slug, study.conditions.get().pk])
    assert "drawn-grid" not in client.get(address).content.decode()


def test_what_nobody_reaches_is_said_again_when_it_is_saved(client: Client, study: Study) -> None:
    walled = drawn("XXPXXXX", "O  2XTX", "X1  XXX", "XDXSXXX")
    cooking = {"world__overcooked__cooking": "interact"}
    design = client.get(send(client, study, **walled, **cooking).headers["Location"]).content.decode()
    assert "But mind: No seat can reach: tomatoes (row 2, column 6)." in design
    told = [one.words for one in readiness_problems(study)]
    assert "Condition 0: No seat can reach: tomatoes (row 2, column 6)." in told
    study.conditions.update(settings={**settings(study), "layout": "cramped_room"})
    assert "No seat can reach" not in str(readiness_problems(study))


def test_a_frozen_drawing_is_read_line_by_line_and_so_is_what_was_changed(
    client: Client, study: Study
) -> None:
    version = freeze_study(study_id=study.pk, user=User.objects.get())
    read = reverse("study:staff-preregistration-readable", args=[study.slug, version.number])
    assert (
        unescape(client.get(read).content.decode()).count(f'<pre class="drawing-file">{WRITTEN}</pre>') == 1
    )
    send(client, study, **drawn("XXPXX", "O  2O", "P1  X", "XDXSX"))
    page = client.get(reverse("study:staff-preregistration", args=[study.slug])).content.decode()
    assert '<div class="as-written">' in page and "P1  X" in page
