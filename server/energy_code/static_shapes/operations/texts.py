"""Texts and sound: what `tf.strings` and `tf.signal` give."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from energy_code.static_shapes.operations.arguments import Given, Rule, dtype_of, first_of, named, pick
from energy_code.static_shapes.operations.arrays import whole
from energy_code.static_shapes.values.kinds import Array


def _texts(name: str, bound: Given, numpy: bool) -> Any:
    return Array("string", first_of(bound, numpy).shape)


def _lengths(name: str, bound: Given, numpy: bool) -> Any:
    return Array("int32", first_of(bound, numpy).shape)


def _numbers(name: str, bound: Given, numpy: bool) -> Any:
    kind = dtype_of(pick(bound, "out_type"), "int64" if name.startswith("to_hash") else "float32")
    return Array(kind, first_of(bound, numpy).shape)


def _read(name: str, bound: Given, numpy: bool) -> Any:
    return Array("string", ())


def _short_time(name: str, bound: Given, numpy: bool) -> Any:
    """Frames of a sound, and the frequencies of each: as many as a power of two that holds a frame has."""
    sound = first_of(bound, numpy)
    frame, step = whole(pick(bound, "frame_length")), whole(pick(bound, "frame_step"))
    asked, length = pick(bound, "fft_length"), sound.shape[-1]
    points = 1 << (frame - 1).bit_length() if asked is None else whole(asked)
    frames = None
    if length is not None:
        frames = (
            -(-length // step) if pick(bound, "pad_end") is True else max(0, 1 + (length - frame) // step)
        )
    return Array("complex64", (*sound.shape[:-1], frames, points // 2 + 1))


RULES: Mapping[str, Rule] = {
    **named("lower upper strip regex_replace substr as_string", _texts),
    **named("to_number to_hash_bucket_fast to_hash_bucket", _numbers),
    **named("read_file", _read),
    **named("stft", _short_time),
}
STRING_RULES: Mapping[str, Rule] = {**named("length", _lengths)}
"""Operations of `tf.strings` whose names are taken elsewhere."""
