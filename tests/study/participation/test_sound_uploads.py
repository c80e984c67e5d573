"""Sound is recorded only where a study says so and a microphone works, stored in order, and erased."""

from __future__ import annotations

import io
import zipfile
from datetime import timedelta
from typing import Any
from unittest.mock import Mock

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.db import connection
from django.test import Client, RequestFactory
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from kitchen.play.episode.end_episode import end_episode
from kitchen.play.models import Episode
from study.design.blueprint import blueprint_of
from study.design.consent_checks import missing_statements
from study.design.models import Study
from study.exports.export_table import EVERYBODY
from study.exports.sound_files import sound_zip_pieces
from study.management.commands import transcribe_sound
from study.monitor import replay_sound
from study.monitor.replay_sound import part_response
from study.participants import sound_recordings
from study.participants.end_and_erase_participation import (
    erase_names,
    participant_end,
    participant_withdraw,
)
from study.participants.models import GroupMember, Participant
from study.participants.sound_recordings import GRACE, LARGEST_PIECE, SoundPiece, SoundTake, sound_kind
from study.participation.page_progress import finish_page
from study.participation.sound_uploads import sound_answer
from tests.study.factories import enter, make_shared_study, make_study
from tests.study.participation.test_views import text_of

pytestmark = [pytest.mark.django_db, pytest.mark.servers]
WEBM = b"\x1aE\xdf\xa3\x9fB\x86\x81\x01B\xf7\x81\x01B\x82\x84webm" + b"\0" * 40


def playing(answer: str = "", **settings: Any) -> Participant:
    """Return a participant at the first round, who gave this answer on the page of the microphone."""
    study = make_study(conditions=1, **{"think_aloud": "optional", **settings})
    person = enter(study, f"of {study.think_aloud}")
    finish_page(participant_id=person.pk, page="guide")
    if answer:
        Client().post(person.get_absolute_url(), {"page": "microphone", "microphone": answer})
    return Participant.objects.get(pk=person.pk)


def sent(person: Participant, piece: int, data: bytes = WEBM, **more: Any) -> Any:
    episode = person.rounds.get().episode
    assert episode
    address = reverse("study:sound", args=[person.key, episode.key])
    said = {"take": "a1", "number": piece, "ms": 5000 * (piece + 1), "steps": f"{5000 * piece}:{piece}"}
    query = "&".join(f"{name}={value}" for name, value in {**said, **more}.items())
    return Client().post(f"{address}?{query}", data, content_type="application/octet-stream")


def test_the_microphone_is_tested_before_play_and_only_these_pages_may_use_it() -> None:
    person = playing()
    page = Client().get(person.get_absolute_url())
    assert 'data-page="microphone"' in text_of(page) and "microphone=(self)" in page["Permissions-Policy"]
    assert "Go on without a microphone" in text_of(page)
    Client().post(person.get_absolute_url(), {"page": "microphone", "microphone": "yes"})
    play = Client().get(person.get_absolute_url())
    assert "data-recording=" in text_of(play) and "microphone=(self)" in play["Permissions-Policy"]


def test_a_group_meets_only_after_the_test_of_the_microphone() -> None:
    study = make_shared_study()
    study.think_aloud = "optional"
    study.save(update_fields=["think_aloud"])
    person = enter(study, "one")
    finish_page(participant_id=person.pk, page="guide")
    assert 'data-page="microphone"' in text_of(Client().get(person.get_absolute_url()))
    assert not GroupMember.objects.exists()
    Client().post(person.get_absolute_url(), {"page": "microphone", "microphone": "yes"})
    assert 'data-page="lobby"' in text_of(Client().get(person.get_absolute_url()))
    assert GroupMember.objects.get().participant_id == person.pk


def test_a_preview_goes_on_without_a_microphone_even_where_the_study_needs_one() -> None:
    person = playing(think_aloud="required")
    Participant.objects.filter(pk=person.pk).update(preview=True)
    assert "This is a preview." in text_of(Client().get(person.get_absolute_url()))
    Client().post(person.get_absolute_url(), {"page": "microphone", "microphone": "no"})
    assert Participant.objects.get(pk=person.pk).microphone is False


def test_who_has_no_microphone_goes_on_or_leaves_as_the_study_says() -> None:
    person = playing("no")
    page = Client().get(person.get_absolute_url())
    assert 'data-page="play"' in text_of(page) and "data-recording=" not in text_of(page)
    assert "microphone=()" in page.get("Permissions-Policy", "microphone=()")
    assert sent(person, 0).status_code == 422
    Study.objects.all().update(slug="other")
    strict = playing("no", think_aloud="required")
    assert strict.microphone is None
    assert "This study needs a microphone." in text_of(Client().get(strict.get_absolute_url()))
    Client().post(strict.get_absolute_url(), {"page": "microphone", "microphone": "leave"})
    strict.refresh_from_db()
    assert (strict.status, strict.end_reason) == (Participant.Status.TECHNICAL, "no microphone")


def test_pieces_are_stored_once_in_their_order_and_wrong_ones_are_refused() -> None:
    person = playing("yes")
    assert sent(person, 1).json() == {"next": 0}  # the first is missing
    assert [
        sent(person, number, data).json() for number, data in ((0, WEBM), (0, WEBM), (2, b"c"), (1, b"b"))
    ] == [
        {"next": 1},
        {"next": 1},
        {"next": 1},
        {"next": 2},
    ]
    take = SoundTake.objects.get()
    assert timezone.now() - take.began_at > timedelta(seconds=5)  # its first piece came at its end
    assert b"".join(take.file_pieces()) == WEBM + b"b" and take.steps == [[0, 0], [5000, 1]]
    assert (take.kind, take.milliseconds) == ("webm", 10000)
    for wrong in (b"<svg><script>", b"GIF89a", b"MZ"):
        assert sent(person, 0, wrong, take="b2").status_code == 422
    assert sent(person, 2, b"x" * (LARGEST_PIECE + 1)).status_code == 413
    wrong_queries: list[dict[str, Any]] = [
        {"take": "../x"},
        {"number": "-1"},
        {"ended": "no"},
        {"steps": "1:2:3"},
    ]
    for query in wrong_queries:
        assert sent(person, 2, b"x", **query).status_code == 422
    assert SoundTake.objects.count() == 1


def test_sound_is_accepted_while_one_takes_part_and_shortly_after_the_end_of_an_episode() -> None:
    person = playing("yes")
    sent(person, 0)
    episode = Episode.objects.get(rounds__participant=person)
    end_episode(episode_id=episode.pk, reason="enough")
    assert sent(person, 1, b"b").json() == {"next": 2}
    Episode.objects.update(ended_at=timezone.now() - GRACE)
    assert sent(person, 2, b"c").status_code == 422
    Episode.objects.update(ended_at=timezone.now())
    participant_end(participant_id=person.pk, status=Participant.Status.TIMED_OUT)
    assert sent(person, 2, b"c").status_code == 422
    assert SoundTake.objects.get().pieces == 2


def test_a_piece_that_does_not_say_its_length_is_measured() -> None:
    person = playing("yes")
    request = RequestFactory().post("/?take=a1&number=0&ms=1", WEBM + bytes(LARGEST_PIECE), "audio/webm")
    request.META["CONTENT_LENGTH"] = ""
    request._body = WEBM + bytes(LARGEST_PIECE)
    assert sound_answer(request, person, person.rounds.get().episode).status_code == 413


def test_takes_are_transcribed_once_nothing_can_be_added(monkeypatch: pytest.MonkeyPatch) -> None:
    person = playing("yes")
    sent(person, 0)
    model = Mock(return_value=lambda path: [(0.0, 1.0, "I wait")])
    monkeypatch.setattr(transcribe_sound, "load_speech_model", model)
    call_command("transcribe_sound", "small", stdout=io.StringIO())
    end_episode(episode_id=SoundTake.objects.get().episode_id, reason="enough")
    call_command("transcribe_sound", "small", stdout=io.StringIO())
    assert SoundTake.objects.get().transcript is None
    Episode.objects.update(ended_at=timezone.now() - GRACE)
    call_command("transcribe_sound", "small", stdout=io.StringIO())
    assert SoundTake.objects.get().transcript == [[0.0, 1.0, "I wait"]]


def test_sound_leaves_with_the_person_and_with_the_names() -> None:
    person = playing("yes")
    sent(person, 0)
    erase_names([person.pk])
    assert not SoundPiece.objects.exists()
    sent(person, 0, take="c3")
    participant_withdraw(participant_id=person.pk)
    assert not SoundPiece.objects.exists() and not SoundTake.objects.exists()


def test_sound_is_erased_in_small_transactions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sound_recordings, "ERASED_PIECES", 2)
    person = playing("yes")
    for erase in (lambda: erase_names([person.pk]), lambda: participant_withdraw(participant_id=person.pk)):
        for number in range(5):
            sent(person, number)
        with CaptureQueriesContext(connection) as queries:
            erase()
        erased = [
            one["sql"]
            for one in queries
            if 'DELETE FROM "study_soundpiece" WHERE "study_soundpiece"."id"' in one["sql"]
        ]
        assert [sql.count(",") for sql in erased] == [1, 1, 0]
        assert not SoundPiece.objects.exists()


def test_staff_download_all_files_with_a_manifest_and_hear_them_at_the_replay(client: Client) -> None:
    person = playing("yes")
    sent(person, 0)
    sent(person, 1, b"b")
    SoundTake.objects.update(transcript=[[1, 2, "No"], [5.5, 6.0, "Yes", [[5.6, 6.0, "Yes"]]]])
    later = SoundTake.objects.get().began_at + timedelta(seconds=12)
    sent(
        person, 0, take="b2", steps="4900:1", ms=4500, ended="microphone"
    )  # a step in what was lost at the end
    SoundTake.objects.filter(key="b2").update(began_at=later)
    data = b"".join(sound_zip_pieces(person.study, EVERYBODY))
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert archive.read(f"small-sound/{person.code}-1.webm") == WEBM + b"b"
        rows = archive.read("small-sound/sound.csv").decode().splitlines()
    assert [row.split(",")[7:14] for row in rows[1:]] == [
        ["", "", "step", "0", "5000", "0", ""],
        ["", "", "step", "5000", "10000", "1", ""],
        ["", "", "words", "1000", "2000", "0", "No"],
        ["", "", "words", "5500", "6000", "1", "Yes"],
        ["", "", "word", "5600", "6000", "1", "Yes"],
        ["2000", "microphone", "step", "4900", "4900", "1", ""],
    ]
    user = User.objects.create_user("vera", is_staff=True)
    person.study.memberships.create(user=user, role="viewer")
    client.force_login(user)
    episode = person.rounds.get().episode
    assert episode
    page = text_of(client.get(reverse("study:staff-replay", args=["small", episode.key])))
    assert 'data-sound="0:0,5000:1"' in page and 'data-sound-at="5.50"' in page
    there = reverse(
        "study:staff-replay-sound", args=["small", episode.key, SoundTake.objects.get(key="a1").pk]
    )
    part = client.get(there, headers={"Range": "bytes=0-3"})
    assert (part.status_code, part.content) == (206, WEBM[:4])
    assert "recorded" in str(client.get("/staff/small/data/").content).lower()


def test_a_part_of_a_file_is_read_and_sent_as_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    person = playing("yes")
    for number, data in enumerate((WEBM, b"bcd", b"efg")):
        sent(person, number, data)
    take, here = SoundTake.objects.get(), len(WEBM)
    for wanted, status, content in (
        (f"bytes={here + 2}-", 206, b"defg"),
        (f"bytes={here - 1}-{here + 3}", 206, b"\0bcde"),
        ("bytes=-2", 206, b"fg"),
        ("bytes=999-", 416, b""),
    ):
        answer: Any = part_response(take, wanted)
        assert (answer.status_code, answer.content) == (status, content)
        assert answer.get("Content-Security-Policy") == "sandbox; default-src 'none'" or status == 416
    monkeypatch.setattr(replay_sound, "LARGEST_PART", 2)
    answer = part_response(take, "bytes=0-")
    assert (answer.content, answer["Content-Range"]) == (WEBM[:2], f"bytes 0-1/{here + 6}")
    with CaptureQueriesContext(connection) as queries:
        assert take.file_part(here, here + 1) == b"b"
    assert queries[-1]["sql"].count("IN (1)"), "the other pieces are not read"


def test_the_consent_names_the_recording_and_the_design_seals_it() -> None:
    study = make_study(think_aloud="optional")
    assert any("recorded" in one for one in missing_statements(blueprint_of(study)))
    study.parts.filter(kind="consent").update(text="We record your microphone.")
    design = blueprint_of(Study.objects.get())
    assert not any("recorded" in one for one in missing_statements(design))
    assert design.meant("think_aloud") == "optional" and design.in_format(15).meant("think_aloud") == ""


def test_only_sound_is_sound() -> None:
    assert sound_kind(b"OggS" + b"\0" * 24 + b"OpusHead") == "ogg"
    assert sound_kind(b"\0\0\0\x20ftypisom") == "mp4"
    assert sound_kind(b"RIFF") == ""
