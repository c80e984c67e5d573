"""Static files are squeezed where the browser can, and served as they are where they cannot be."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pytest
from csp.utils import build_policy
from django.contrib.staticfiles import finders
from django.http import HttpResponse
from django.test import Client, RequestFactory

from brigade.middleware import CompressedStaticMiddleware, compressed
from kitchen.play.live.render_page import play_page_response
from tests.kitchen.factories import make_episode

DRAWING = "worlds/cuisine/pictures.svg"


def fetched(**headers: str) -> tuple[Any, bytes]:
    """The answer for a large drawing, and what is in it."""
    answer: Any = Client().get(f"/static/{DRAWING}", headers=headers)
    return answer, b"".join(answer.streaming_content)


def test_a_drawing_is_a_third_as_long_for_who_takes_gzip() -> None:
    plain, whole = fetched()
    short, content = fetched(**{"accept-encoding": "gzip, deflate, br"})
    assert (plain.has_header("content-encoding"), short["content-encoding"]) == (False, "gzip")
    assert gzip.decompress(content) == whole == Path(str(finders.find(DRAWING))).read_bytes()
    assert len(content) == int(short["content-length"]) < len(whole) / 3
    assert short["vary"] == plain["vary"] == "Accept-Encoding"
    assert {name: short[name] for name in ("etag", "content-type")} == {
        name: plain[name] for name in ("etag", "content-type")
    }


def test_what_has_changed_is_squeezed_anew_and_what_cannot_be_kept_is_not(
    tmp_path: Path, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.VAR_DIR = tmp_path
    style = tmp_path / "one.css"
    style.write_text("a { color: red }\n" * 100)
    first = compressed(style)
    assert first is not None
    assert compressed(style) == first
    style.write_text("b { color: red }\n" * 100)
    second = compressed(style)
    assert second is not None
    assert second != first
    assert gzip.decompress(second.read_bytes()) == style.read_bytes()
    assert sorted((tmp_path / "static").iterdir()) == sorted([first, second])
    settings.VAR_DIR = tmp_path / "nowhere"
    assert compressed(style) is None
    style.write_text("a {}")
    assert compressed(style) is None


def test_a_page_of_the_documentation_has_the_policy_of_all_pages(
    tmp_path: Path, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "index.html").write_text("<p>How to begin")
    settings.STATICFILES_DIRS = [("documentation", tmp_path)]
    monkeypatch.setattr(finders, "get_finders", lambda: [finders.FileSystemFinder()])
    served: Any = CompressedStaticMiddleware(lambda request: HttpResponse(status=404))
    answer = served(RequestFactory().get("/static/documentation/index.html"))
    assert answer["content-security-policy"] == build_policy()


@pytest.mark.django_db
def test_the_play_page_is_squeezed_and_holds_nothing_that_came_with_the_request() -> None:
    seat = make_episode().seats.get()
    request = RequestFactory().get(
        "/p/needle/?needle=1", headers={"accept-encoding": "gzip", "referer": "/needle/"}
    )
    answer = play_page_response(request, seat=seat, continue_url="/")
    assert answer["content-encoding"] == "gzip"
    page = gzip.decompress(answer.content)
    assert b"needle" not in page
    assert len(answer.content) < len(page) / 3
