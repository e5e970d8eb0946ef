"""The laws of the lattice, for joins before unions are capped, and what they mean for a program."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from energy_code.interpreter.domain.definitions import Module, UserClass, UserInstance
from energy_code.interpreter.domain.lattice import combined, join
from energy_code.interpreter.domain.values import (
    NONE,
    UNKNOWN,
    ApiClass,
    ApiInstance,
    Constant,
    External,
    Mapping,
    Sequence,
    Union,
    Value,
)
from energy_code.interpreter.limits import MAX_OPTIONS
from energy_code.workspace.document import Document

CLASSES = [UserClass(module, name) for module in [Module("one")] for name in ("A", "B")]
LEAVES = st.one_of(
    st.just(UNKNOWN),
    st.just(NONE),
    st.sampled_from([Constant(one) for one in (True, False, 0, 1, 2.5, "", "dense", "conv")]),
    st.builds(External, st.sampled_from(["numpy.array", "functools.partial"])),
    st.builds(ApiClass, st.sampled_from(["keras.layers.Dense", "keras.layers.Conv2D"])),
    st.builds(
        ApiInstance, st.sampled_from(["keras.Model", "tensorflow.Tensor"]), st.sampled_from([0.5, 0.8, 1.0])
    ),
    st.builds(UserInstance, st.sampled_from(CLASSES)),
)


def containers(inner: st.SearchStrategy[Value]) -> st.SearchStrategy[Value]:
    items = st.lists(inner, max_size=3).map(tuple)
    return st.one_of(
        st.builds(Sequence, st.sampled_from(["list", "tuple"]), items),
        st.builds(Sequence, st.just("list"), st.none(), inner),
        st.builds(ApiInstance, st.just("tensorflow.data.Dataset"), st.just(1.0), inner),
        st.builds(UserInstance, st.sampled_from(CLASSES), inner.map(lambda value: (("x", value),))),
        st.builds(Mapping, inner.map(lambda value: ((Constant("key"), value),))),
        st.lists(inner, min_size=2, max_size=3).map(all_of),
    )


def all_of(values: list[Value]) -> Value:
    result = values[0]
    for value in values[1:]:
        result = combined(result, value)
    return result


VALUES = st.recursive(LEAVES, containers, max_leaves=6)


def alike(value: object) -> object:
    """A value without the order of its alternatives, which says only what is likelier."""
    if isinstance(value, Union):
        return frozenset(map(alike, value.options))
    if isinstance(value, Sequence):
        items = None if value.items is None else tuple(map(alike, value.items))
        return ("sequence", value.kind, items, alike(value.element))
    if isinstance(value, Mapping):
        return ("mapping", tuple((key, alike(item)) for key, item in value.items), alike(value.element))
    if isinstance(value, ApiInstance):
        return ("instance", value.cls, value.confidence, alike(value.inner))
    if isinstance(value, UserInstance):
        return ("object", value.cls, value.given and tuple((name, alike(one)) for name, one in value.given))
    return value


@given(VALUES)
def test_a_value_joined_with_itself_is_itself(value: Value) -> None:
    assert combined(value, value) == value


@settings(max_examples=300)
@given(VALUES, VALUES)
def test_the_order_of_branches_does_not_matter(first: Value, second: Value) -> None:
    assert alike(combined(first, second)) == alike(combined(second, first))


@settings(max_examples=500)
@given(VALUES, VALUES, VALUES)
def test_it_does_not_matter_which_branches_meet_first(first: Value, second: Value, third: Value) -> None:
    left = combined(combined(first, second), third)
    right = combined(first, combined(second, third))
    assert alike(left) == alike(right)


@given(VALUES)
def test_no_constant_outlives_an_unknown_branch(value: Value) -> None:
    result = combined(value, UNKNOWN)
    options = result.options if isinstance(result, Union) else (result,)
    assert UNKNOWN in options
    assert not any(isinstance(option, Constant) for option in options)


def test_a_union_with_too_many_alternatives_is_unknown() -> None:
    classes: list[Value] = [ApiClass(f"keras.layers.L{number}") for number in range(MAX_OPTIONS + 1)]
    result = classes[0]
    for one in classes[1:-1]:
        result = join(result, one)
    assert isinstance(result, Union)
    assert join(result, classes[-1]) is UNKNOWN


def test_the_else_branch_of_a_flag_that_may_be_anything_counts() -> None:
    document = Document(
        b"""import tensorflow as tf
flag = True
if input():
    flag = other()
if flag:
    x = tf.zeros(3)
else:
    x = tf.data.Dataset.range(3)
x.batch(2)
"""
    )
    assert "tensorflow.data.Dataset.batch" in [call.api for call in document.analyse().calls()]
