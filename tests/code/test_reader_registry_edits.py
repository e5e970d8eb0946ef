"""Edits of a program with a registry: after each, it holds what the program puts there."""

from __future__ import annotations

import pytest

from energy_code.workspace.document import Document

REGISTRY = """\
import keras
MODELS = {}
def register(name):
    def decorate(function):
        if name in MODELS:
            raise KeyError(name)
        MODELS[name] = function
        return function
    return decorate
@register("dense")
def dense():
    return keras.Sequential()
@register("deep")
def deep():
    return keras.Model()
MODELS["dense"]().fit()
def run(name):
    MODELS[name]().evaluate()
"""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('@register("dense")\n', ""),
        ("        MODELS[name] = function\n", ""),
        ("MODELS[name] = function", "MODELS[name] = None"),
        ("MODELS = {}", "MODELS = None"),
        ("return keras.Sequential()", "return None"),
        ('@register("dense")', '@register("other")'),
        ("MODELS[name] = function", 'MODELS["dense"] = function'),
        ('@register("deep")\ndef deep():\n    return keras.Model()\n', ""),
    ],
)
def test_after_an_edit_the_registry_holds_what_the_program_puts_there(old, new):
    document = Document(REGISTRY)
    before = list(document.analyse().calls())
    place = REGISTRY.index(old)
    document.edit(place, place + len(old), new.encode())
    assert list(document.analyse().calls()) == list(Document(document.source).analyse().calls())
    document.edit(place, place + len(new), old.encode())
    assert list(document.analyse().calls()) == before
