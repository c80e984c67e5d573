"""Encode the image that an environment draws as a file for pages: lossless WebP, or JPEG.

Under a clock, images are at most 640 pixels wide. An image that fits is sent without loss. A shrunk one has
many colours, so it is sent as JPEG. By turns, images keep their size and are sent without loss.
"""

from __future__ import annotations

import io
from typing import Any

WIDEST = 640
"""The most pixels of an image's width under a clock."""
JPEG_QUALITY = 80


def frame_file(image: Any, *, clocked: bool) -> bytes:
    """Return the image, an array (height, width, 3) of uint8, as a WebP or JPEG file. `clocked`: pages get
    one at every tick."""
    from PIL import Image

    drawn, file = Image.fromarray(image, "RGB"), io.BytesIO()
    if clocked and drawn.width > WIDEST:
        factor, rest = divmod(drawn.width, WIDEST)
        size = WIDEST, max(1, round(drawn.height * WIDEST / drawn.width))
        shrunk = drawn.resize(size, Image.Resampling.BILINEAR) if rest else drawn.reduce(factor)
        shrunk.save(file, "JPEG", quality=JPEG_QUALITY)
    else:
        drawn.save(file, "WEBP", lossless=True, method=0)
    return file.getvalue()


def media_type(file: bytes) -> str:
    """Return the media type of a file that `frame_file` made."""
    return "image/webp" if file.startswith(b"RIFF") else "image/jpeg"
