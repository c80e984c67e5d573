"""What a synthetic participant sees of a page."""

from __future__ import annotations

import pytest

from study.pilot.bots.http_browser import WalkedPage, WalkError, printable_url, read_page, socket_url

SURVEY = """<!doctype html><html><body class="x"><header><form method="post" action="/language/">
<input type="hidden" name="csrfmiddlewaretoken" value="abc">
<button name="language" value="es">Español</button></form></header>
<main id="main" data-page="survey"><br>
<form method="dialog"><button name="close" value="1">Close</button></form>
<form method="post" novalidate><input type="hidden" name="csrfmiddlewaretoken" value="abc&amp;d">
<input type="hidden" name="round" value="2"><input name="skipped" disabled value="no">
<label><input type="radio" name="trust" value="1" id="a"><span>1</span></label>
<label><input type="radio" name="trust" value="2"><span>2</span></label>
<label><input type="radio" name="fun" value="1" checked></label><input type="radio" name="fun" value="2">
<select name="age"><option value="">?</option><option value="3" selected>x</option></select>
<textarea name="words"></textarea>
<input type="checkbox" name="agree"><input type="checkbox" name="known" value="yes" checked>
<button type="submit" name="action" value="send">Send</button></form></main></body></html>"""


def page(html: str, status: int = 200) -> WalkedPage:
    return read_page(html, url="http://host:8000/p/key/?invitation=secret", status=status)


def test_only_posted_forms_count_and_their_fields_are_read() -> None:
    found = page(SURVEY)
    assert found.kind == "survey"
    assert [form.method for form in found.forms] == ["post"]
    fields = found.forms[0].fields
    assert fields["trust"].choices == ["1", "2"]
    assert fields["age"].choices == ["", "3"]
    assert set(fields) == {
        "csrfmiddlewaretoken",
        "round",
        "trust",
        "fun",
        "age",
        "words",
        "agree",
        "known",
        "action",
    }


def test_a_page_of_researchers_has_a_name_of_its_own() -> None:
    form = '<form method="post"><input type="hidden" name="page" value="own-rest"></form>'
    found = page(f'<main data-page="own-asked">{form}</main>')
    assert (found.kind, found.name, page(SURVEY).name) == ("own-asked", "own-rest", "survey")


def test_a_form_sends_what_a_browser_would_send() -> None:
    form = page(SURVEY).forms[0]
    as_it_stands = {"csrfmiddlewaretoken": "abc&d", "round": "2", "fun": "1", "age": "3", "words": ""}
    assert form.filled({}) == {**as_it_stands, "known": "yes"}
    assert form.filled({"trust": "2", "agree": "on"}) == {
        **as_it_stands,
        "known": "yes",
        "trust": "2",
        "agree": "on",
    }


def test_a_form_takes_no_answer_to_a_question_it_does_not_ask() -> None:
    with pytest.raises(KeyError, match="taste"):
        page(SURVEY).forms[0].filled({"taste": "1"})


def test_a_play_page_names_its_websocket() -> None:
    found = page('<main data-page="play"><div ws-connect="/ws/seat/abc/"><p>x</p></div></main>')
    assert socket_url(found) == "ws://host:8000/ws/seat/abc/"
    found.url = "https://host/p/key/"
    assert socket_url(found) == "wss://host/ws/seat/abc/"


def test_the_completion_code_is_read_from_the_last_page() -> None:
    found = page('<main data-page="end"><p><b id="completion-code"> AB<br>CD </b> and more</p></main>')
    assert found.code.replace(" ", "") == "ABCD"


def test_the_alerts_of_a_page_are_read() -> None:
    alert = '<div role="alert"><h2>Not yet</h2><ul><li>Tick the   box.</li></ul></div><p>other</p>'
    assert page(f'<main data-page="welcome">{alert}</main>', 422).errors == "Not yet Tick the box."


def test_a_page_of_another_server_has_no_kind_and_no_form() -> None:
    found = page("<h1>It works!</h1><form action='/search'><input name=q></form>")
    assert (found.kind, found.socket, found.code) == ("", "", "")
    with pytest.raises(WalkError, match="no form"):
        found.form  # noqa: B018 - it raises


def test_invitations_are_not_shown() -> None:
    assert printable_url("http://host/s/demo/?invitation=secret") == "http://host/s/demo/"


def test_a_button_is_sent_only_when_it_is_pressed() -> None:
    form = page(SURVEY).forms[0]
    assert "action" not in form.filled({})
    assert form.filled({"action": "send"})["action"] == "send"


def test_the_link_to_leave_is_read() -> None:
    assert page('<a href="/p/key/withdraw/">Leave</a>').leave == "/p/key/withdraw/"
