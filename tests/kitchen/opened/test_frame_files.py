"""Images of environments as files."""

from __future__ import annotations

import io

import numpy
import pytest
from PIL import Image

from kitchen.opened.frame_files import frame_file, media_type


@pytest.mark.parametrize(
    ("width", "clocked", "kind", "shown"),
    [
        (640, True, "image/webp", 640),
        (1280, True, "image/jpeg", 640),
        (1000, True, "image/jpeg", 640),
        (1000, False, "image/webp", 1000),
    ],
)
def test_only_a_wide_image_under_a_clock_is_shrunk(width: int, clocked: bool, kind: str, shown: int) -> None:
    image = numpy.zeros((width // 2, width, 3), numpy.uint8)
    file = frame_file(image, clocked=clocked)
    assert media_type(file) == kind
    assert Image.open(io.BytesIO(file)).size == (shown, shown // 2)
