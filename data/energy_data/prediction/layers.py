"""Features of Keras layers: what one pass over a batch moves and computes, and the parameters that training updates.

A layer is one or more *parts*, each of a kind with coefficients of its own: a `Dense` with an activation is a dense part
and an elementwise one, a `SeparableConv2D` a depthwise and a pointwise one, a `Bidirectional` two of what it wraps.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from energy_data.prediction.api_families import FAMILY_OF, KERAS_OPS
from energy_data.prediction.applications import APPLICATION, drawn
from energy_data.prediction.families import features, numbers, pair, sides
from energy_data.prediction.layer_outputs import output_shape
from energy_data.prediction.specs import CallSpec, LayerSpec, Tensor

FLOAT = 4


@dataclass(frozen=True, slots=True)
class CostPart:
    """A piece of a layer: the kind whose coefficients it takes, its features, how often it occurs."""

    kind: str
    features: tuple[float, ...]
    times: int = 1


@dataclass(frozen=True, slots=True)
class LayerCost:
    """What a layer consists of."""

    parts: tuple[CostPart, ...]
    output: Tensor
    variables: int = 0
    """Trainable variables."""
    parameters: int = 0
    """Numbers in them."""


Rule = Callable[[LayerSpec], LayerCost]


class UnknownLayerError(ValueError):
    """A layer whose class or configuration no rule knows."""


def layer_cost(spec: LayerSpec) -> LayerCost:
    """The parts of a layer; raise `UnknownLayerError` where its class or its configuration is not known."""
    rule = _application if spec.kind.startswith(APPLICATION) else RULES.get(spec.kind)
    if rule is None:
        raise UnknownLayerError(f"{spec.kind} was not calibrated")
    if spec.config.get("data_format") == "channels_first":
        raise UnknownLayerError(f"{spec.kind}: only channels that come last were calibrated")
    try:
        found = rule(spec)
    except UnknownLayerError:
        raise
    except (KeyError, IndexError, TypeError, ValueError) as error:
        raise UnknownLayerError(f"{spec.kind}: its configuration is not known") from error
    if spec.config.get("trainable") is False:
        found = LayerCost(found.parts, found.output)
    activation = spec.config.get("activation")
    if activation in (None, "linear") or spec.kind in _OWN_ACTIVATION:
        return found
    extra = _activation(str(activation), found.output)
    return LayerCost((*found.parts, extra), found.output, found.variables, found.parameters)


_OWN_ACTIVATION = {"Operation", "Activation", "LSTM", "GRU", "SimpleRNN", "ConvLSTM2D"}


def _whole(spec: LayerSpec, name: str, default: int | None = None) -> int:
    value = spec.config.get(name, default)
    if isinstance(value, bool) or not isinstance(value, int):
        raise UnknownLayerError(f"{spec.kind}: {name} is not known")
    return value


def _bias(spec: LayerSpec) -> int:
    return 0 if spec.config.get("use_bias") is False else 1


def _made(shape: Sequence[int]) -> Tensor:
    return Tensor("float32", tuple(shape))


def _activation(name: str, tensor: Tensor) -> CostPart:
    kind = f"Activation:{name}" if name in ACTIVATIONS else "Activation:tanh"
    return CostPart(kind, (float(2 * tensor.bytes),))


ACTIVATIONS = ("relu", "tanh", "sigmoid", "softmax", "gelu", "silu", "elu")


def _dense(spec: LayerSpec) -> LayerCost:
    image, units = spec.inputs[0], _whole(spec, "units")
    inner = image.shape[-1]
    rows = image.elements // max(inner, 1)
    out = _made((*image.shape[:-1], units))
    weights = (inner + _bias(spec)) * units
    kind = "Dense" if len(image.shape) == 2 else "Dense:nd"
    part = CostPart(
        kind, (float(image.bytes + out.bytes), 2.0 * rows * inner * units, float(weights * FLOAT))
    )
    return LayerCost((part,), out, 1 + _bias(spec), weights)


def _conv(spec: LayerSpec) -> LayerCost:
    image, filters = spec.inputs[0], _whole(spec, "filters")
    groups = _whole(spec, "groups", 1)
    batch, *space, channels = image.shape
    kernel, padding = spec.config["kernel_size"], spec.config.get("padding", "valid")
    strides = spec.config.get("strides", 1)
    spread = pair(spec.config.get("dilation_rate"))
    if len(space) == 1:
        wide = numbers(kernel)[0]
        reach = (wide - 1) * spread[0] + 1
        step = numbers(strides)[0]
        before = "valid" if padding != "causal" else "same"
        size: tuple[int, ...] = sides(
            space[0], 1, (reach, 1), (step, 1), padding if padding != "causal" else before
        )[:1]
        window = wide
    elif len(space) == 2:
        tall, wide = pair(kernel)
        reaching = ((tall - 1) * spread[0] + 1, (wide - 1) * spread[1] + 1)
        size = sides(space[0], space[1], reaching, strides, padding)
        window = tall * wide
    else:
        raise UnknownLayerError(f"{spec.kind}: only one and two dimensions were calibrated")
    if not math.prod(size):
        raise UnknownLayerError(f"{spec.kind}: the window is larger than the image")
    places = batch * math.prod(size)
    weights = window * channels // groups * filters + _bias(spec) * filters
    out = _made((batch, *size, filters))
    patches = places * window * channels * FLOAT
    pointwise = window == 1 and len(space) == 2
    kind = f"{spec.kind}:pointwise" if pointwise else spec.kind
    flops = 2.0 * places * window * channels // groups * filters
    features = (
        (float(image.bytes + out.bytes), flops)
        if pointwise
        else (float(image.bytes + out.bytes), flops, float(patches))
    )
    return LayerCost((CostPart(kind, features),), out, 1 + _bias(spec), weights)


def _conv_transpose(spec: LayerSpec) -> LayerCost:
    image, filters = spec.inputs[0], _whole(spec, "filters")
    batch, height, width, channels = image.shape
    tall, wide = pair(spec.config["kernel_size"])
    steps = pair(spec.config.get("strides"))
    grow = (
        (0, 0)
        if str(spec.config.get("padding", "valid")) == "same"
        else (max(tall - steps[0], 0), max(wide - steps[1], 0))
    )
    out = _made((batch, height * steps[0] + grow[0], width * steps[1] + grow[1], filters))
    weights = tall * wide * channels * filters + _bias(spec) * filters
    flops = 2.0 * batch * height * width * tall * wide * channels * filters
    patches = batch * height * width * tall * wide * filters * FLOAT
    part = CostPart("Conv2DTranspose", (float(image.bytes + out.bytes), flops, float(patches)))
    return LayerCost((part,), out, 1 + _bias(spec), weights)


def _depthwise(spec: LayerSpec) -> LayerCost:
    image, multiplier = spec.inputs[0], _whole(spec, "depth_multiplier", 1)
    batch, height, width, channels = image.shape
    tall, wide = pair(spec.config["kernel_size"])
    size = sides(
        height, width, (tall, wide), spec.config.get("strides", 1), spec.config.get("padding", "valid")
    )
    out = _made((batch, *size, channels * multiplier))
    weights = (tall * wide + _bias(spec)) * channels * multiplier
    part = CostPart("DepthwiseConv2D", (float(image.bytes + out.bytes), 2.0 * out.elements * tall * wide))
    return LayerCost((part,), out, 1 + _bias(spec), weights)


def _separable(spec: LayerSpec) -> LayerCost:
    deep = _depthwise(LayerSpec("DepthwiseConv2D", spec.inputs, {**spec.config, "use_bias": False}))
    flat = {
        "filters": spec.config["filters"],
        "kernel_size": 1,
        "use_bias": spec.config.get("use_bias", True),
    }
    point = _conv(LayerSpec("Conv2D", (deep.output,), flat))
    return LayerCost(
        (*deep.parts, *point.parts),
        point.output,
        deep.variables + point.variables,
        deep.parameters + point.parameters,
    )


def _pooling(spec: LayerSpec) -> LayerCost:
    image = spec.inputs[0]
    window = spec.config.get("pool_size", 2)
    steps = spec.config.get("strides") or window
    padding = spec.config.get("padding", "valid")
    batch, *space, channels = image.shape
    if len(space) == 1:
        wide = numbers(window)[0]
        size: tuple[int, ...] = sides(space[0], 1, (wide, 1), (numbers(steps)[0], 1), padding)[:1]
        cells = wide
    else:
        size = sides(space[0], space[1], window, steps, padding)
        cells = math.prod(pair(window))
    out = _made((batch, *size, channels))
    return LayerCost(
        (CostPart(spec.kind, (float(image.bytes + out.bytes), float(out.elements * cells))),), out
    )


def _global_pooling(spec: LayerSpec) -> LayerCost:
    image = spec.inputs[0]
    flat = (image.shape[0], image.shape[-1])
    kept = (1,) * (len(image.shape) - 2)
    shape = (flat[0], *kept, flat[1]) if spec.config.get("keepdims") else flat
    return LayerCost((CostPart(spec.kind, (float(image.bytes),)),), _made(shape))


def _same(variables: int = 0) -> Rule:
    """Layers whose result has the shape of their input; those with weights have them for each channel."""

    def rule(spec: LayerSpec) -> LayerCost:
        image = spec.inputs[0]
        out = Tensor(image.dtype if image.dtype.startswith("float") else "float32", image.shape)
        part = CostPart(spec.kind, (float(image.bytes + out.bytes),))
        left_out = sum(spec.config.get(name) is False for name in ("center", "scale")) if variables else 0
        weights = variables - left_out
        return LayerCost((part,), out, weights, weights * image.shape[-1])

    return rule


def _named_activation(spec: LayerSpec) -> LayerCost:
    name = {"ReLU": "relu", "Softmax": "softmax", "LeakyReLU": "elu", "ELU": "elu"}.get(spec.kind)
    image = spec.inputs[0]
    return LayerCost((_activation(name or str(spec.config["activation"]), image),), image)


def _out(spec: LayerSpec) -> Tensor:
    """What a layer gives that changes no numbers."""
    shape = output_shape(spec.kind, spec.config, [tensor.shape for tensor in spec.inputs])
    if not isinstance(shape, tuple):
        raise UnknownLayerError(f"{spec.kind}: of several outputs")
    return Tensor(spec.inputs[0].dtype, shape)


def _view(spec: LayerSpec) -> LayerCost:
    """The same numbers in another shape."""
    return LayerCost((CostPart("Flatten", ()),), _out(spec))


def _moved(spec: LayerSpec) -> LayerCost:
    """The same numbers at other places, some of them repeated or left out."""
    image, out = spec.inputs[0], _out(spec)
    kind = spec.kind if spec.kind in ("UpSampling2D", "ZeroPadding2D", "Resizing") else "Concatenate"
    return LayerCost((CostPart(kind, (float(image.bytes + out.bytes),)),), out)


def _joined(spec: LayerSpec) -> LayerCost:
    """Several tensors as one."""
    out = _out(spec)
    kind = "Concatenate" if spec.kind == "Concatenate" else "Add"
    read = sum(tensor.bytes for tensor in spec.inputs)
    return LayerCost((CostPart(kind, (float(read + out.bytes),)),), out)


def _dot(spec: LayerSpec) -> LayerCost:
    """Products of the rows of two tensors."""
    out, (left, right) = _out(spec), spec.inputs[:2]
    asked = spec.config.get("axes")
    axis = asked if isinstance(asked, int) else numbers(asked)[0]
    moved = float(left.bytes + right.bytes + out.bytes)
    return LayerCost((CostPart("Dense:nd", (moved, 2.0 * out.elements * left.shape[axis], 0.0)),), out)


def _plain_attention(spec: LayerSpec) -> LayerCost:
    """Scores of queries against values, and values by them, without weights that are worth counting."""
    query, value = spec.inputs[0], spec.inputs[1]
    batch, length, width = query.shape
    scores = _made((batch, length, value.shape[1]))
    work = 4.0 * scores.elements * width
    product = CostPart("Dense:nd", (float(query.bytes + value.bytes + 2 * scores.bytes), work, 0.0))
    return LayerCost((product, _activation("softmax", scores)), _made((batch, length, value.shape[2])))


def _embedding(spec: LayerSpec) -> LayerCost:
    words, width = _whole(spec, "input_dim"), _whole(spec, "output_dim")
    out = _made((*spec.inputs[0].shape, width))
    part = CostPart("Embedding", (float(out.bytes), float(words * width * FLOAT)))
    return LayerCost((part,), out, 1, words * width)


GATES = {"LSTM": 4, "GRU": 3, "SimpleRNN": 1}


def _recurrent(spec: LayerSpec) -> LayerCost:
    gates, units = GATES[spec.kind], _whole(spec, "units")
    batch, length, width = spec.inputs[0].shape
    flops = 2.0 * batch * length * gates * units * (width + units)
    moved = float(batch * length * gates * units * FLOAT)
    # Every step of the loop reads the recurrent weights again, however small the batch is.
    weights = float(length * gates * units * units * FLOAT)
    out = (batch, length, units) if spec.config.get("return_sequences") else (batch, units)
    parameters = gates * units * (width + units + (2 if spec.kind == "GRU" else 1) * _bias(spec))
    part = CostPart(spec.kind, (float(length), moved, flops, weights))
    return LayerCost((part,), _made(out), 2 + _bias(spec), parameters)


def _cell(spec: LayerSpec) -> LayerCost:
    """A cell in a loop: as the layer that is the loop of such cells."""
    cell = spec.config["cell"]
    if not isinstance(cell, Mapping):
        raise UnknownLayerError(f"{spec.kind}: several cells were not calibrated")
    kind = str(cell["kind"]).removesuffix("Cell")
    config = {**cell["config"], "return_sequences": spec.config.get("return_sequences", False)}
    return layer_cost(LayerSpec(kind, spec.inputs, config))


def _attention(spec: LayerSpec) -> LayerCost:
    query = spec.inputs[0]
    value = spec.inputs[1] if len(spec.inputs) > 1 else query
    heads, depth = _whole(spec, "num_heads"), _whole(spec, "key_dim")
    batch, length, width = query.shape
    wide, other = heads * depth, value.shape[1]
    projections = 2.0 * batch * wide * width * (2 * length + 2 * other)
    scores = 4.0 * batch * length * other * wide
    parameters = 4 * wide * width + (3 * wide + width) * _bias(spec)
    part = CostPart(
        "MultiHeadAttention",
        (
            float(batch * (length + other) * wide * 2 * FLOAT),
            projections + scores,
            float(batch * heads * length * other * FLOAT),
        ),
    )
    asked = spec.config.get("output_shape")
    out = width if asked is None else numbers(asked)[-1]
    return LayerCost((part,), _made((batch, length, out)), 4 * (1 + _bias(spec)), parameters)


def _wrapped(spec: LayerSpec) -> LayerSpec:
    inner = spec.config.get("layer")
    if not isinstance(inner, Mapping):
        raise UnknownLayerError(f"{spec.kind}: what it wraps is not known")
    config = inner.get("config", {})
    return LayerSpec(str(inner["kind"]), spec.inputs, config if isinstance(config, Mapping) else {})


def _bidirectional(spec: LayerSpec) -> LayerCost:
    inner = layer_cost(_wrapped(spec))
    out = _made((*inner.output.shape[:-1], inner.output.shape[-1] * 2))
    parts = tuple(CostPart(part.kind, part.features, part.times * 2) for part in inner.parts)
    joined = CostPart("Concatenate", (float(2 * out.bytes),))
    return LayerCost((*parts, joined), out, 2 * inner.variables, 2 * inner.parameters)


def _time_distributed(spec: LayerSpec) -> LayerCost:
    image = spec.inputs[0]
    batch, length, *rest = image.shape
    once = _wrapped(LayerSpec(spec.kind, (Tensor(image.dtype, (batch, *rest)),), spec.config))
    inner = layer_cost(once)
    parts = tuple(CostPart(part.kind, part.features, part.times * length) for part in inner.parts)
    out = _made((batch, length, *inner.output.shape[1:]))
    return LayerCost(parts, out, inner.variables, inner.parameters)


def _operation(spec: LayerSpec) -> LayerCost:
    """An operation of TensorFlow in a model of the program's own: as the layer that does about the same."""
    api = str(spec.config["api"])
    call = CallSpec(KERAS_OPS.get(api, api), spec.inputs, spec.config, "graph")
    family, given = FAMILY_OF.get(call.api), features(call)
    image = spec.inputs[0]
    if family is None or given is None:
        raise UnknownLayerError(f"{call.api} in a model was not calibrated")
    moved = given[0] or float(2 * image.bytes)
    if family == "constant":
        part = CostPart("Flatten", ())
    elif family in ("matmul", "einsum", "tensordot", "matvec"):
        part = CostPart("Dense:nd", (moved, given[1], 0.0))
    elif family == "reduction":
        part = CostPart("GlobalAveragePooling1D", (moved,))
    elif family == "normalisation":
        part = CostPart("Activation:softmax", (moved,))
    elif family == "created":
        part = CostPart("Dropout", (float(2 * image.bytes),))
    elif family in ("copy", "tile", "repeat", "pad", "cropped", "gather", "one_hot"):
        part = CostPart("Concatenate", (moved,))
    elif family == "elementwise":
        part = CostPart("Add", (moved,))
    else:
        raise UnknownLayerError(f"{call.api} in a model was not calibrated")
    return LayerCost((part,), image)


def _weights(spec: LayerSpec) -> LayerCost:
    """Weights that a class of the program makes itself: an optimizer updates them."""
    return LayerCost((), spec.inputs[0], _whole(spec, "variables"), _whole(spec, "parameters"))


def _application(spec: LayerSpec) -> LayerCost:
    """A model of `keras.applications`: the parts of all its layers."""
    image = spec.inputs[0]
    shape, layers = drawn(spec.kind.removeprefix(APPLICATION), spec.config, image.shape)
    costs = [layer_cost(each) for each in layers]
    amounts = Counter[tuple[str, tuple[float, ...]]]()
    for each in costs:
        for part in each.parts:
            amounts[part.kind, part.features] += part.times
    return LayerCost(
        tuple(CostPart(kind, features, times) for (kind, features), times in amounts.items()),
        _made(shape),
        sum(each.variables for each in costs),
        sum(each.parameters for each in costs),
    )


def _lent(kind: str, rule: Rule) -> Rule:
    """A layer that was not calibrated, as one that does about the same."""

    def lent(spec: LayerSpec) -> LayerCost:
        return rule(LayerSpec(kind, spec.inputs, spec.config))

    return lent


RULES: Mapping[str, Rule] = {
    "Operation": _operation,
    "Weights": _weights,
    "Dense": _dense,
    **dict.fromkeys(("Conv1D", "Conv2D"), _conv),
    "Conv2DTranspose": _conv_transpose,
    "DepthwiseConv2D": _depthwise,
    "SeparableConv2D": _separable,
    **dict.fromkeys(("MaxPooling1D", "MaxPooling2D", "AveragePooling1D", "AveragePooling2D"), _pooling),
    **dict.fromkeys(
        (
            "GlobalAveragePooling1D", "GlobalAveragePooling2D", "GlobalMaxPooling1D", "GlobalMaxPooling2D",
        ),
        _global_pooling,
    ),
    "BatchNormalization": _same(2),
    "LayerNormalization": _same(2),
    **dict.fromkeys(("GroupNormalization", "RMSNormalization", "UnitNormalization"), _lent("LayerNormalization", _same(2))),
    "Normalization": _lent("Rescaling", _same()),
    **dict.fromkeys(("Dropout", "Rescaling"), _same()),
    **dict.fromkeys(
        ("GaussianNoise", "GaussianDropout", "AlphaDropout", "SpatialDropout1D", "SpatialDropout2D"),
        _lent("Dropout", _same()),
    ),
    **dict.fromkeys(
        ("Identity", "ActivityRegularization", "InputLayer", "Flatten", "Reshape"), _view
    ),
    **dict.fromkeys(("Activation", "ReLU", "Softmax", "LeakyReLU", "ELU"), _named_activation),
    **dict.fromkeys(
        (
            "Permute", "RepeatVector", "UpSampling1D", "UpSampling2D", "ZeroPadding1D", "ZeroPadding2D", "Cropping1D",
            "Cropping2D", "CenterCrop", "RandomCrop", "Resizing",
        ),
        _moved,
    ),
    **dict.fromkeys(("RandomFlip", "RandomRotation", "RandomContrast"), _same()),
    **dict.fromkeys(
        ("RandomZoom", "RandomTranslation", "RandomShear", "RandomPerspective"), _lent("RandomRotation", _same())
    ),
    "RandomBrightness": _lent("RandomContrast", _same()),
    "RNN": _cell,
    **dict.fromkeys(("Add", "Subtract", "Multiply", "Average", "Maximum", "Minimum", "Concatenate"), _joined),
    "Dot": _dot,
    "Attention": _plain_attention,
    "Masking": _lent("Rescaling", _same()),
    "Embedding": _embedding,
    **dict.fromkeys(GATES, _recurrent),
    "MultiHeadAttention": _attention,
    "Bidirectional": _bidirectional,
    "TimeDistributed": _time_distributed,
}  # fmt: skip
