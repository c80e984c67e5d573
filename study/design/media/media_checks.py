"""Check a file for a study's pages by its name, its size and its whole content. The module imports no Django.

A file must be of the type that its name says, from its first byte to its last. So a file that is two things
at once is refused: an image with a web page behind it, or a PDF that is also a ZIP.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from study.design.media.download_checks import check_pdf, check_text, check_zip
from study.design.media.image_checks import gif_size, jpeg_size, png_size, webp_size
from study.design.media.media_errors import MediaError
from study.design.media.media_limits import CONTENT_TYPES, KINDS, MIB, media_limits
from study.design.media.sound_and_video_checks import check_mp3, check_mp4, check_ogg, check_wav, check_webm

LONGEST_NAME = 80
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*\.[a-z0-9]+")
"""A stored name: letters, digits, hyphens and underscores, one dot, and an ending."""
ACTIVE = re.compile(rb"<script|<html|<!doctype|<\?php|<iframe|<svg[\s>]", re.IGNORECASE)
"""Beginnings of texts that a browser or server could run."""


@dataclass(frozen=True, slots=True)
class CheckedMedia:
    """A file that passed all checks."""

    name: str
    data: bytes
    kind: str
    """`image`, `sound`, `video` or `download`."""
    content_type: str
    sha256: str
    width: int = 0
    height: int = 0


def stored_name(name: str) -> str:
    """Return a file's name as it is stored: spaces and brackets become hyphens, and the ending is in small
    letters. Raises MediaError for a name that cannot be stored."""
    stem, dot, ending = name.strip().rpartition(".")
    ending = ending.lower()
    if not dot or not stem:
        raise MediaError(f"The name “{printable(name)}” has no ending, such as .png.")
    if ending in {"svg", "svgz"}:
        raise MediaError("An SVG image can contain programs, so it is not accepted. Save it as PNG.")
    if ending not in KINDS:
        raise MediaError(f"Files with the ending .{printable(ending)} are not accepted: only {endings()}.")
    plain = re.sub(r"[\s()\[\]-]+", "-", stem).strip("-")
    found = f"{plain}.{ending}"
    if len(found) > LONGEST_NAME:
        raise MediaError(f"The name is too long: at most {LONGEST_NAME} characters.")
    if not NAME.fullmatch(found):
        raise MediaError(
            f"The name “{printable(name)}” has other characters than letters from a to z, digits, hyphens "
            "and underscores. Name the file anew."
        )
    return found


def printable(name: str) -> str:
    """Return at most 60 characters of a name. Characters that are not shown are left out."""
    return "".join(one for one in name if one.isprintable())[:60]


def endings() -> str:
    """Return the accepted endings as text."""
    return ", ".join(KINDS)


def kind_of_name(name: str) -> str:
    """Return the kind of a file by its stored name."""
    return KINDS[name.rpartition(".")[2]]


def check_size(name: str, size: int) -> None:
    """Raise MediaError if a file with this stored name and size is empty or too large."""
    kind = kind_of_name(name)
    if size == 0:
        raise MediaError(f"“{name}” is empty.")
    if size > (limit := media_limits()[kind]):
        words = {"image": "An image", "sound": "A sound", "video": "A video", "download": "A download"}[kind]
        raise MediaError(f"{words} may have at most {limit // MIB} MiB, and “{name}” has more.")


def check_media(name: str, data: bytes) -> CheckedMedia:
    """Return the file with its type and digest, or raise MediaError with the reason in words."""
    name = stored_name(name)
    check_size(name, len(data))
    ending = name.rpartition(".")[2]
    kind = KINDS[ending]
    if kind != "download" and ACTIVE.search(data):
        raise MediaError(f"“{name}” contains a web page or a program, so it is not accepted.")
    found = CHECKS[ending](data)
    width, height = found or (0, 0)
    digest = hashlib.sha256(data).hexdigest()
    return CheckedMedia(name, data, kind, CONTENT_TYPES[ending], digest, width, height)


CHECKS: Mapping[str, Callable[[bytes], tuple[int, int] | None]] = {
    "png": png_size,
    "jpg": jpeg_size,
    "jpeg": jpeg_size,
    "webp": webp_size,
    "gif": gif_size,
    "mp3": check_mp3,
    "ogg": check_ogg,
    "wav": check_wav,
    "m4a": lambda data: check_mp4(data, sound=True),
    "mp4": check_mp4,
    "webm": check_webm,
    "pdf": check_pdf,
    "csv": check_text,
    "zip": check_zip,
    "txt": check_text,
}
"""The check of a file's content, by the ending of its name. Checks of images return width and height."""
