"""Read the head of an ONNX file: metadata, operator domains, names and shapes of inputs and outputs.

An ONNX file is a message of protocol buffers (`onnx.proto`). This module reads the few fields that it needs,
skips the weights, and runs nothing. So any process can read a file without onnxruntime.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

VARINT, FIXED_64, BYTES, FIXED_32 = 0, 1, 2, 5
"""Wire types of protocol buffers."""
GRAPH, OPERATORS, METADATA = 7, 8, 14
"""Fields of the message `ModelProto`."""
GRAPH_INPUT, GRAPH_OUTPUT = 11, 12
"""Fields of `GraphProto`."""
MOST_BITS = 63
LARGEST_SIZE = 2**31
"""Sizes from here on are no fixed sizes: negative numbers are written so."""


class OnnxHeaderError(ValueError):
    """Raised if the bytes are no ONNX file. The message is one line."""


@dataclass(frozen=True, slots=True)
class OnnxHeader:
    """What an ONNX file says about itself."""

    metadata: Mapping[str, str]
    domains: tuple[str, ...]
    """Operator domains that the file uses. The default domain is an empty text."""
    inputs: Mapping[str, tuple[int | None, ...]]
    """The shape of each input by name; None for a dimension without a fixed size."""
    outputs: Mapping[str, tuple[int | None, ...]]


def read_onnx_header(data: bytes) -> OnnxHeader:
    """Return the head of an ONNX file. Raises OnnxHeaderError if it cannot be read."""
    try:
        return _header(memoryview(data))
    except (IndexError, UnicodeDecodeError) as error:
        raise OnnxHeaderError("the file is damaged") from error


def _header(data: memoryview) -> OnnxHeader:
    metadata, domains = dict[str, str](), list[str]()
    shapes: dict[int, dict[str, tuple[int | None, ...]]] = {GRAPH_INPUT: {}, GRAPH_OUTPUT: {}}
    found_graph = False
    for number, value in _fields(data):
        if number == GRAPH and isinstance(value, memoryview):
            found_graph = True
            for part, one in _fields(value):
                if part in shapes and isinstance(one, memoryview):
                    name, shape = _named_shape(one)
                    shapes[part][name] = shape
        elif number == OPERATORS and isinstance(value, memoryview):
            domains.append(_text(value, 1))
        elif number == METADATA and isinstance(value, memoryview):
            metadata[_text(value, 1)] = _text(value, 2)
    if not found_graph:
        raise OnnxHeaderError("the file holds no network")
    return OnnxHeader(metadata, tuple(domains), shapes[GRAPH_INPUT], shapes[GRAPH_OUTPUT])


def _fields(data: memoryview) -> Iterator[tuple[int, int | memoryview]]:
    """Yield (number, value) of each field of a message. Raises OnnxHeaderError and IndexError for bytes that
    are no message."""
    at = 0
    while at < len(data):
        key, at = _varint(data, at)
        number, kind = key >> 3, key & 7
        if kind == VARINT:
            value, at = _varint(data, at)
            yield number, value
            continue
        if kind not in {BYTES, FIXED_32, FIXED_64}:
            raise OnnxHeaderError("the file is no ONNX file")
        size, at = _varint(data, at) if kind == BYTES else ({FIXED_32: 4, FIXED_64: 8}[kind], at)
        if size > len(data) - at:
            raise OnnxHeaderError("the file is no ONNX file, or it is cut off")
        yield number, data[at : at + size]
        at += size


def _varint(data: memoryview, at: int) -> tuple[int, int]:
    """Return (number, position after it)."""
    value = 0
    for shift in range(0, MOST_BITS + 1, 7):
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
    raise OnnxHeaderError("the file is no ONNX file")


def _text(data: memoryview, field: int) -> str:
    return next(
        (bytes(value).decode() for number, value in _fields(data) if _is_part(number, value, field)), ""
    )


def _is_part(number: int, value: int | memoryview, field: int) -> bool:
    return number == field and isinstance(value, memoryview)


def _part(data: memoryview, field: int) -> memoryview:
    """Return the message in this field; empty if there is none."""
    for number, value in _fields(data):
        if number == field and isinstance(value, memoryview):
            return value
    return data[:0]


def _named_shape(data: memoryview) -> tuple[str, tuple[int | None, ...]]:
    """Return the name and shape of a `ValueInfoProto`."""
    shape = _part(_part(_part(data, 2), 1), 2)  # type, tensor_type, shape
    sizes = [one for number, one in _fields(shape) if number == 1 and isinstance(one, memoryview)]
    return _text(data, 1), tuple(_size(one) for one in sizes)


def _size(data: memoryview) -> int | None:
    sizes = (value for number, value in _fields(data) if number == 1 and isinstance(value, int))
    return next((size for size in sizes if size < LARGEST_SIZE), None)
