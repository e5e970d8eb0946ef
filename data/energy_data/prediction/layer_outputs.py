"""The shape that every Keras layer gives for the shapes it is given: `compute_output_shape` without Keras.

All sizes are numbers here; who knows some sizes only asks twice, with two numbers in their place: what differs is unknown.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from energy_data.prediction.families import broadcast, numbers

Shape = tuple[int, ...]
Config = Mapping[str, Any]
Output = Shape | list[Shape]
"""One shape, or those of several tensors: a recurrent layer that returns its state."""


class UnknownShapeError(ValueError):
    """A layer, or a configuration of one, whose output no rule tells."""


def output_shape(kind: str, config: Config, inputs: Sequence[Shape]) -> Output:
    """What a layer gives; raises `UnknownShapeError` where that is not known."""
    rule = OUTPUTS.get(kind)
    if rule is None:
        raise UnknownShapeError(f"{kind}: its output is not known")
    try:
        found = rule(kind, config, inputs)
    except UnknownShapeError:
        raise
    except (LookupError, TypeError, ValueError, ZeroDivisionError, OverflowError) as error:
        raise UnknownShapeError(f"{kind}: its configuration is not known") from error
    for shape in found if isinstance(found, list) else [found]:
        if min(shape, default=1) < 0:
            raise UnknownShapeError(f"{kind}: its window is larger than what goes in")
    return found


def repeated(value: object, count: int) -> list[int]:
    """A size for each of so many dimensions, however it was written: 2, (2, 2)."""
    found = numbers(value)
    if len(found) == 1:
        return found * count
    if len(found) != count:
        raise UnknownShapeError(f"{value}: not {count} sizes")
    return found


def window_length(length: int, window: int, step: int, padding: object, spread: int = 1) -> int:
    """How many places a window takes along a dimension."""
    if str(padding).lower() in ("same", "causal"):
        return -(-length // step)
    return (length - ((window - 1) * spread + 1)) // step + 1


def _whole(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise UnknownShapeError("a size is not known")
    return value


def _same(kind: str, config: Config, inputs: Sequence[Shape]) -> Output:
    return inputs[0]


def _spatial(
    config: Config, shape: Shape, sizes: Callable[[Sequence[int]], Sequence[int]], channels: int | None
) -> Shape:
    """The dimensions between batch and channels changed, wherever the channels stand."""
    first = config.get("data_format") == "channels_first"
    space, depth = (shape[2:], shape[1]) if first else (shape[1:-1], shape[-1])
    after, depth = tuple(sizes(space)), depth if channels is None else channels
    return (shape[0], depth, *after) if first else (shape[0], *after, depth)


def _rank(kind: str, shape: Shape) -> None:
    """Layers that say their number of dimensions take no others."""
    for count in (1, 2, 3):
        if kind.removesuffix("Transpose").endswith(f"{count}D") and len(shape) != count + 2:
            raise UnknownShapeError(f"{kind}: given {len(shape)} dimensions")


def _convolution(kind: str, config: Config, inputs: Sequence[Shape]) -> Output:
    shape = inputs[0]
    _rank(kind, shape)
    count = len(shape) - 2
    window, step = repeated(config["kernel_size"], count), repeated(config.get("strides", 1), count)
    spread = repeated(config.get("dilation_rate", 1), count)
    padding = config.get("padding", "valid")
    depth = shape[1] if config.get("data_format") == "channels_first" else shape[-1]
    filters = (
        depth * _whole(config.get("depth_multiplier", 1))
        if kind.startswith("Depthwise")
        else _whole(config["filters"])
    )

    def sizes(space: Sequence[int]) -> list[int]:
        return [
            window_length(size, window[at], step[at], padding, spread[at]) for at, size in enumerate(space)
        ]

    return _spatial(config, shape, sizes, filters)


def _transposed(kind: str, config: Config, inputs: Sequence[Shape]) -> Output:
    shape = inputs[0]
    _rank(kind, shape)
    count = len(shape) - 2
    window, step = repeated(config["kernel_size"], count), repeated(config.get("strides", 1), count)
    spread = repeated(config.get("dilation_rate", 1), count)
    extra = config.get("output_padding")
    more = None if extra is None else repeated(extra, count)
    same = str(config.get("padding", "valid")).lower() == "same"

    def sizes(space: Sequence[int]) -> list[int]:
        found = []
        for at, size in enumerate(space):
            reach = (window[at] - 1) * spread[at] + 1
            if more is not None:
                found.append((size - 1) * step[at] + reach - (2 * (reach // 2) if same else 0) + more[at])
            else:
                found.append(size * step[at] + (0 if same else max(reach - step[at], 0)))
        return found

    return _spatial(config, shape, sizes, _whole(config["filters"]))


def _pooling(kind: str, config: Config, inputs: Sequence[Shape]) -> Output:
    shape = inputs[0]
    _rank(kind, shape)
    count = len(shape) - 2
    window = repeated(config.get("pool_size", 2), count)
    strides = config.get("strides")
    step = window if strides is None else repeated(strides, count)
    padding = config.get("padding", "valid")
    return _spatial(
        config,
        shape,
        lambda space: [window_length(size, window[at], step[at], padding) for at, size in enumerate(space)],
        None,
    )


def _global_pooling(kind: str, config: Config, inputs: Sequence[Shape]) -> Output:
    _rank(kind, inputs[0])
    if config.get("keepdims") is True:
        return _spatial(config, inputs[0], lambda space: [1] * len(space), None)
    first = config.get("data_format") == "channels_first"
    return inputs[0][0], inputs[0][1] if first else inputs[0][-1]


def _adaptive(kind: str, config: Config, inputs: Sequence[Shape]) -> Output:
    return _spatial(config, inputs[0], lambda space: repeated(config["output_size"], len(space)), None)


def _around(value: object, count: int) -> list[tuple[int, int]]:
    """Sizes before and after each dimension: 1, (1, 2), ((1, 2), (3, 4))."""
    if isinstance(value, (list, tuple)) and any(isinstance(each, (list, tuple)) for each in value):
        return [(repeated(each, 2)[0], repeated(each, 2)[1]) for each in value]
    if count == 1:
        one = repeated(value, 2)
        return [(one[0], one[1])]
    return [(size, size) for size in repeated(value, count)]


def _padded(sign: int) -> Callable[[str, Config, Sequence[Shape]], Output]:
    def rule(kind: str, config: Config, inputs: Sequence[Shape]) -> Output:
        _rank(kind, inputs[0])
        count = len(inputs[0]) - 2
        asked = config.get("padding" if sign > 0 else "cropping", 1 if sign > 0 else 0)
        if sign < 0 and "cropping" not in config:
            asked = 1 if count != 2 else 0
        around = _around(asked, count)
        return _spatial(
            config,
            inputs[0],
            lambda space: [size + sign * sum(each) for size, each in zip(space, around, strict=True)],
            None,
        )

    return rule


def _upsampled(kind: str, config: Config, inputs: Sequence[Shape]) -> Output:
    _rank(kind, inputs[0])
    times = repeated(config.get("size", 2), len(inputs[0]) - 2)
    return _spatial(
        config, inputs[0], lambda space: [size * times[at] for at, size in enumerate(space)], None
    )


def _resized(kind: str, config: Config, inputs: Sequence[Shape]) -> Output:
    height, width = _whole(config["height"]), _whole(config["width"])
    shape = inputs[0]
    if config.get("data_format") == "channels_first":
        return (*shape[:-2], height, width)
    return (*shape[:-3], height, width, shape[-1])


def _dense(kind: str, config: Config, inputs: Sequence[Shape]) -> Output:
    return (*inputs[0][:-1], _whole(config["units"]))


def _einsum_dense(kind: str, config: Config, inputs: Sequence[Shape]) -> Output:
    left, _, right = str(config["equation"]).replace(" ", "").partition("->")
    term = left.split(",")[0]
    asked = config["output_shape"]
    given: list[int | None] = [
        None if each is None else _whole(each)
        for each in (asked if isinstance(asked, (list, tuple)) else [asked])
    ]
    shape = inputs[0]
    known: dict[str, int] = {}
    before, _, after = term.partition("...")
    known.update(zip(before, shape, strict=False))
    if after or "..." in term:
        known.update(zip(after[::-1], shape[::-1], strict=False))
    ending = right.replace("...", "")
    middle = shape[len(before) : len(shape) - len(after)] if "..." in term else ()
    while len(given) < len(ending):
        given.insert(0, None)
    found = [
        known[letter] if size is None else size
        for letter, size in zip(ending, given[-len(ending) :], strict=True)
    ]
    if "..." in right:
        place = right.index("...")
        found[place:place] = middle
    return tuple(found)


def _embedding(kind: str, config: Config, inputs: Sequence[Shape]) -> Output:
    return (*inputs[0], _whole(config["output_dim"]))


def _flatten(kind: str, config: Config, inputs: Sequence[Shape]) -> Output:
    return inputs[0][0], math.prod(inputs[0][1:])


def _reshape(kind: str, config: Config, inputs: Sequence[Shape]) -> Output:
    target = numbers(config["target_shape"]) if config["target_shape"] not in ((), []) else []
    known = math.prod(size for size in target if size >= 0)
    elements = math.prod(inputs[0][1:])
    if -1 not in target and elements != known:
        raise UnknownShapeError("a reshape that does not fit")
    if -1 in target and elements % known:
        raise UnknownShapeError("a reshape that does not fit")
    return (inputs[0][0], *(elements // known if size < 0 else size for size in target))


def _permute(kind: str, config: Config, inputs: Sequence[Shape]) -> Output:
    return (inputs[0][0], *(inputs[0][place] for place in numbers(config["dims"])))


def _repeat_vector(kind: str, config: Config, inputs: Sequence[Shape]) -> Output:
    batch, width = inputs[0]
    return batch, _whole(config["n"]), width


def _merged(kind: str, config: Config, inputs: Sequence[Shape]) -> Output:
    return broadcast(inputs)


def _concatenated(kind: str, config: Config, inputs: Sequence[Shape]) -> Output:
    first = inputs[0]
    axis = _whole(config.get("axis", -1)) % len(first)
    return (*first[:axis], sum(shape[axis] for shape in inputs), *first[axis + 1 :])


def _dot(kind: str, config: Config, inputs: Sequence[Shape]) -> Output:
    axes = config["axes"]
    left, right = (axes, axes) if isinstance(axes, int) else axes
    one, other = inputs[0], inputs[1]
    kept = [size for place, size in enumerate(one) if place != left % len(one)]
    more = [size for place, size in enumerate(other) if place not in (0, right % len(other))]
    found = (*kept, *more)
    return found if len(found) > 1 else (*found, 1)


def _recurrent(kind: str, config: Config, inputs: Sequence[Shape]) -> Output:
    batch, length = inputs[0][:2]
    units = _whole(config["units"])
    out = (batch, length, units) if config.get("return_sequences") else (batch, units)
    if not config.get("return_state"):
        return out
    return [out, *[(batch, units)] * (2 if kind == "LSTM" else 1)]


def _cell(kind: str, config: Config, inputs: Sequence[Shape]) -> Output:
    out = (inputs[0][0], _whole(config["units"]))
    return [out, *[out] * (2 if kind == "LSTMCell" else 1)]


def _rnn(kind: str, config: Config, inputs: Sequence[Shape]) -> Output:
    cell = config.get("cell")
    cells = cell if isinstance(cell, (list, tuple)) else [cell]
    if isinstance(cell, Mapping) and cell.get("kind") == "StackedRNNCells":
        cells = cell["config"]["cells"]
    last: Any = cells[-1]
    return _recurrent(
        str(last["kind"]).removesuffix("Cell"), {**config, "units": last["config"]["units"]}, inputs
    )


def _conv_recurrent(kind: str, config: Config, inputs: Sequence[Shape]) -> Output:
    batch, length, *rest = inputs[0]
    once = _convolution(f"Conv{kind[-2:]}", config, [(batch, *rest)])
    assert isinstance(once, tuple)
    out = (batch, length, *once[1:]) if config.get("return_sequences") else once
    return [out, once, once] if config.get("return_state") else out


def wrapped(config: Config) -> tuple[str, Config]:
    """The class and the configuration of the layer that another wraps."""
    inner = config["layer"]
    if not isinstance(inner, Mapping):
        raise UnknownShapeError("what it wraps is not known")
    return str(inner["kind"]), inner.get("config", {})


def _bidirectional(kind: str, config: Config, inputs: Sequence[Shape]) -> Output:
    found = output_shape(*wrapped(config), inputs)
    states = found[1:] if isinstance(found, list) else []
    out = found[0] if isinstance(found, list) else found
    mode = config.get("merge_mode", "concat")
    outs = [out, out] if mode is None else [(*out[:-1], out[-1] * 2) if mode == "concat" else out]
    return [*outs, *states, *states] if states or mode is None else outs[0]


def _time_distributed(kind: str, config: Config, inputs: Sequence[Shape]) -> Output:
    batch, length, *rest = inputs[0]
    inner = output_shape(*wrapped(config), [(batch, *rest)])
    if isinstance(inner, list):
        raise UnknownShapeError(f"{kind}: of a layer with several outputs")
    return (batch, length, *inner[1:])


def _wrapper(kind: str, config: Config, inputs: Sequence[Shape]) -> Output:
    return output_shape(*wrapped(config), inputs)


def _multi_head(kind: str, config: Config, inputs: Sequence[Shape]) -> Output:
    asked = config.get("output_shape")
    query = inputs[0]
    out = query if asked is None else (*query[:-1], *numbers(asked))
    if config.get("return_attention_scores"):
        key = inputs[-1]
        return [out, (query[0], _whole(config["num_heads"]), query[1], key[1])]
    return out


def _grouped_query(kind: str, config: Config, inputs: Sequence[Shape]) -> Output:
    return inputs[0]


def _attention(kind: str, config: Config, inputs: Sequence[Shape]) -> Output:
    query, value = inputs[0], inputs[1]
    batch = value[0] if query[0] == 1 else query[0]
    out = (batch, *query[1:-1], value[-1])
    return [out, (batch, *query[1:-1], value[-2])] if config.get("return_attention_scores") else out


def _category(kind: str, config: Config, inputs: Sequence[Shape]) -> Output:
    width, shape = _whole(config["num_tokens"]), inputs[0]
    mode = config.get("output_mode", "multi_hot")
    if mode == "one_hot":
        return (*(shape[:-1] if shape and shape[-1] == 1 else shape), width)
    return (*shape[:-1], width) if len(shape) > 1 else (width,)


def _looked_up(kind: str, config: Config, inputs: Sequence[Shape]) -> Output:
    if config.get("output_mode", "int") != "int":
        raise UnknownShapeError(f"{kind}: its width depends on the data")
    return inputs[0]


def _vectorized(kind: str, config: Config, inputs: Sequence[Shape]) -> Output:
    if config.get("output_mode", "int") == "int":
        length = _whole(config["output_sequence_length"])
    elif config.get("pad_to_max_tokens"):
        length = _whole(config["max_tokens"])
    else:
        raise UnknownShapeError(f"{kind}: its width depends on the data")
    return inputs[0][0], length


def _pipeline(kind: str, config: Config, inputs: Sequence[Shape]) -> Output:
    shape: Output = inputs[0]
    for each in config["layers"]:
        shape = output_shape(str(each["kind"]), each["config"], [shape])  # type: ignore[list-item]
    return shape


Rule = Callable[[str, Config, Sequence[Shape]], Output]


def _named(names: str, rule: Rule) -> dict[str, Rule]:
    return dict.fromkeys(names.split(), rule)


OUTPUTS: Mapping[str, Rule] = {
    **_named(
        """Activation ActivityRegularization AlphaDropout BatchNormalization Dropout ELU GaussianDropout GaussianNoise
        GroupNormalization Identity InputLayer LayerNormalization LeakyReLU Masking Normalization PReLU RMSNormalization
        ReLU Rescaling Softmax SpatialDropout1D SpatialDropout2D SpatialDropout3D SyncBatchNormalization ThresholdedReLU
        UnitNormalization Highway AugMix AutoContrast CutMix MixUp Equalization RandAugment Solarization Hashing
        ContrastLimitedAdaptiveHistogramEqualization RandomBrightness RandomColorDegeneration RandomColorJitter
        RandomContrast RandomElasticTransform RandomErasing RandomFlip RandomGaussianBlur RandomGrayscale RandomHue
        RandomInvert RandomPerspective RandomPosterization RandomRotation RandomSaturation RandomSharpness RandomShear
        RandomTranslation RandomZoom""",
        _same,
    ),
    **_named(
        "Conv1D Conv2D Conv3D DepthwiseConv1D DepthwiseConv2D SeparableConv1D SeparableConv2D", _convolution
    ),
    **_named("Conv1DTranspose Conv2DTranspose Conv3DTranspose", _transposed),
    **_named(
        "MaxPooling1D MaxPooling2D MaxPooling3D AveragePooling1D AveragePooling2D AveragePooling3D", _pooling
    ),
    **_named(
        """GlobalAveragePooling1D GlobalAveragePooling2D GlobalAveragePooling3D GlobalMaxPooling1D GlobalMaxPooling2D
        GlobalMaxPooling3D""",
        _global_pooling,
    ),
    **_named(
        """AdaptiveAveragePooling1D AdaptiveAveragePooling2D AdaptiveAveragePooling3D AdaptiveMaxPooling1D
        AdaptiveMaxPooling2D AdaptiveMaxPooling3D""",
        _adaptive,
    ),
    **_named("ZeroPadding1D ZeroPadding2D ZeroPadding3D", _padded(1)),
    **_named("Cropping1D Cropping2D Cropping3D", _padded(-1)),
    **_named("UpSampling1D UpSampling2D UpSampling3D", _upsampled),
    **_named("Resizing CenterCrop RandomCrop", _resized),
    **_named("Add Subtract Multiply Average Maximum Minimum", _merged),
    **_named("LSTM GRU SimpleRNN CuDNNLSTM CuDNNGRU", _recurrent),
    **_named("LSTMCell GRUCell SimpleRNNCell", _cell),
    **_named("ConvLSTM1D ConvLSTM2D ConvLSTM3D", _conv_recurrent),
    **_named("Attention AdditiveAttention", _attention),
    **_named("IntegerLookup StringLookup Discretization HashedCrossing", _looked_up),
    "Bidirectional": _bidirectional,
    "CategoryEncoding": _category,
    "Concatenate": _concatenated,
    "Dense": _dense,
    "Dot": _dot,
    "EinsumDense": _einsum_dense,
    "Embedding": _embedding,
    "Flatten": _flatten,
    **_named("GroupQueryAttention GroupedQueryAttention", _grouped_query),
    "MultiHeadAttention": _multi_head,
    "Permute": _permute,
    "Pipeline": _pipeline,
    "RNN": _rnn,
    "RepeatVector": _repeat_vector,
    "Reshape": _reshape,
    "ReversibleEmbedding": _embedding,
    "SpectralNormalization": _wrapper,
    "TextVectorization": _vectorized,
    "TimeDistributed": _time_distributed,
}
