"""Files for a study's pages are accepted if they are wholly what their name says, and refused in words."""

from __future__ import annotations

import tracemalloc

import pytest

from study.design.media.media_checks import check_media, check_size, stored_name
from study.design.media.media_errors import MediaError
from study.design.media.media_limits import MIB, MediaLimitError, largest_upload, limits_of
from tests.study.media_samples import (
    PDF,
    gif,
    interlaced_png_of_nine_by_nine,
    jpeg,
    mp3,
    mp4,
    ogg,
    packed,
    png,
    recorded_webm,
    wav,
    webm,
    webp,
)

PAGE = b"<script>alert(1)</script>"
ACCEPTED = {
    "a.png": png(),
    "a.gif": gif(),
    "a.jpg": jpeg(),
    "a.jpeg": jpeg(),
    "a.webp": webp(),
    "a.wav": wav(),
    "a.mp3": mp3(),
    "a.ogg": ogg(),
    "a.mp4": mp4(),
    "a.m4a": mp4(b"soun", b"M4A "),
    "a.webm": webm(),
    "a.pdf": PDF,
    "a.zip": packed({"notes/one.txt": b"1"}),
    "a.csv": "näme,value\n1,2\n".encode(),
    "a.txt": b"Plain text",
}


@pytest.mark.parametrize("name", ACCEPTED)
def test_a_file_is_accepted_under_its_own_ending_and_under_no_other(name: str) -> None:
    checked = check_media(name, ACCEPTED[name])
    assert (checked.name, checked.data) == (name, ACCEPTED[name])
    alike = {"a.jpg": {"a.jpeg"}, "a.jpeg": {"a.jpg"}, "a.csv": {"a.txt"}, "a.txt": {"a.csv"}}
    for other in ACCEPTED.keys() - {name} - alike.get(name, set()):
        if (name, other) == ("a.pdf", "a.txt") or (name, other) == ("a.pdf", "a.csv"):
            continue  # the sample is plain text, too, and is served as such
        with pytest.raises(MediaError):
            check_media(other, ACCEPTED[name])


def test_images_have_their_size() -> None:
    names = ("a.png", "a.gif", "a.jpg", "a.webp")
    sizes = [(one.width, one.height) for name in names if (one := check_media(name, ACCEPTED[name]))]
    assert sizes == [(2, 2), (1, 1), (4, 3), (5, 6)]


@pytest.mark.parametrize(
    ("name", "data", "words"),
    [
        ("a.svg", b"<svg onload='alert(1)'/>", "SVG"),
        ("a.png", b"<svg onload='alert(1)'/>", "web page or a program"),
        ("a.exe", b"MZ", "not accepted"),
        ("a.gif", gif(b"/*\x01\0"), "run as a program"),
        ("a.jpg", jpeg() + b"<p>behind</p>", "hidden behind"),
        ("a.jpg", jpeg() + PAGE, "web page or a program"),
        ("a.png", png() + packed({"x": b""}), "hidden behind"),
        ("a.png", png()[:-6], "damaged"),
        ("a.png", png(rows=5000), "unpacks to more"),
        ("a.png", png(rows=0), "damaged"),
        ("a.png", png(rows=1), "damaged"),
        ("a.png", png(behind=PAGE), "web page or a program"),
        ("a.png", png(behind=b"behind"), "hidden behind"),
        ("a.png", png(40_000, 40_000, rows=1), "pixels"),
        ("a.webp", webp() + b"PK", "hidden behind"),
        ("a.mp3", mp3() + PDF, "hidden behind"),
        ("a.ogg", ogg() + PDF, "hidden behind"),
        ("a.mp4", mp4() + b"\0\0\0\x0cevil" + bytes(4), "hidden behind"),
        ("a.mp4", mp4()[:-3], "end of this video is missing"),
        ("a.webm", webm() + PDF, "hidden behind"),
        ("a.webm", recorded_webm(PDF), "hidden behind"),
        ("a.webm", recorded_webm(b"\x18\x53\x80\x67\x84" + bytes(4)), "hidden behind"),
        ("a.webm", recorded_webm()[:-1], "end of this video is missing"),
        ("a.pdf", PDF.replace(b"<<>>", b"<</J#61vaScript 1>>"), "a program, or another file"),
        ("a.pdf", PDF + packed({"x": b""}) + b"%%EOF", "a PDF and a ZIP at once"),
        ("a.pdf", PDF + b"more", "hidden behind"),
        ("a.pdf", PDF.replace(b"<<>>", b"<</JavaScript 1>>"), "a program, or another file"),
        ("a.zip", packed({"x": b""}) + PDF, "hidden behind"),
        ("a.zip", packed({"bomb": bytes(20 * MIB)}), "unpacks to far more"),
        ("a.zip", packed({"../x": b""}), "outside its own folder"),
        ("a.zip", packed({"x.zip": b""}), "further archive"),
        ("a.zip", packed({str(number): b"" for number in range(1001)}), "more than 1000 files"),
        ("a.txt", b"<!DOCTYPE html><p>", "web page"),
        ("a.csv", b"a,b\0", "not plain text"),
        ("a.csv", b"\xff\xfe1", "UTF-8"),
        ("a.png", b"", "empty"),
    ],
)
def test_a_hostile_or_wrong_file_is_refused_in_words(name: str, data: bytes, words: str) -> None:
    with pytest.raises(MediaError) as error:
        check_media(name, data)
    assert words in str(error.value)


def test_the_pixels_of_an_image_are_unpacked_in_pieces() -> None:
    large = png(4000, 1000)
    tracemalloc.start()
    try:
        check_media("a.png", large)
        assert tracemalloc.get_traced_memory()[1] < 10**6
    finally:
        tracemalloc.stop()


def test_an_interlaced_image_has_the_pixels_of_its_passes() -> None:
    checked = check_media("a.png", interlaced_png_of_nine_by_nine())
    assert (checked.width, checked.height) == (9, 9)


def test_a_video_that_a_browser_recorded_is_accepted() -> None:
    assert check_media("a.webm", recorded_webm()).data == recorded_webm()


def test_a_name_is_plain_or_refused() -> None:
    assert stored_name("My picture (1).PNG") == "My-picture-1.png"
    for name in ("a", ".png", "../a.png", "a\u202egnp.png", "a.php.png", "ä.png", "a" * 90 + ".png"):
        with pytest.raises(MediaError):
            stored_name(name)


def test_each_kind_has_a_limit_that_the_environment_can_change() -> None:
    with pytest.raises(MediaError, match="at most 5 MiB"):
        check_size("a.png", 4 * 2**30)
    assert largest_upload() < 60 * MIB, "a request with 4 GiB is refused before it is read"
    assert limits_of("image=8, video=100") == {**limits_of(""), "image": 8 * MIB, "video": 100 * MIB}
    for wrong in ("film=3", "image=0", "image=much", "image=999"):
        with pytest.raises(MediaLimitError, match="BRIGADE_MEDIA_MIB"):
            limits_of(wrong)
