"""From the way people and published records write an API to its canonical name.

Records name a call by the text of its expression, objects replaced by what made them:
"tensorflow.data.Dataset.from_tensor_slices.shuffle(1000).repeat()" is the `repeat` of a dataset.
"""

from __future__ import annotations

import ast
from typing import Protocol

from energy_data.catalogue.entry import Entry


class CatalogueLookup(Protocol):
    """What is asked of the catalogue (`catalogue.catalogue.Catalogue`)."""

    def find(self, dotted: str) -> Entry | None:
        """The entry behind any public name."""

    def member(self, owner: str, name: str) -> Entry | None:
        """A member of a module or class."""


RECORDED = {
    "tensorflow.Module.b.assign_sub": "tensorflow.Variable.assign_sub",
    "tensorflow.Module.w.assign_sub": "tensorflow.Variable.assign_sub",
    "tensorflow.Module.grow.get_concrete_function": (
        "tensorflow.types.experimental.PolymorphicFunction.get_concrete_function"
    ),
    "tensorflow.keras.Model.normalized_timestamp.adapt": "keras.layers.Normalization.adapt",
    "tensorflow.keras.Model.title_text_embedding.layers[0].adapt": "keras.layers.TextVectorization.adapt",
    "tensorflow.keras.layers.Dense.kernel.assign_sub": "keras.Variable.assign_sub",
    "tensorflow.keras.models.Model.decoder(encoded_data).numpy": "tensorflow.Tensor.numpy",
    "tensorflow.keras.models.Model.decoder(encoded_imgs).numpy": "tensorflow.Tensor.numpy",
    "tensorflow.keras.models.Model.decoder.summary": "keras.Sequential.summary",
    "tensorflow.keras.models.Model.encoder(anomalous_test_data).numpy": "tensorflow.Tensor.numpy",
    "tensorflow.keras.models.Model.encoder(normal_test_data).numpy": "tensorflow.Tensor.numpy",
    "tensorflow.keras.models.Model.encoder(x_test).numpy": "tensorflow.Tensor.numpy",
    "tensorflow.keras.models.Model.encoder(x_test_noisy).numpy": "tensorflow.Tensor.numpy",
    "tensorflow.keras.models.Model.encoder.summary": "keras.Sequential.summary",
    "tensorflow.saved_model.load.signatures['serving_default']": (
        "tensorflow.types.experimental.ConcreteFunction.__call__"
    ),
    "tensorflow.saved_model.load[:10].numpy": "tensorflow.Tensor.numpy",
    "tensorflow.train.Checkpoint.step.numpy": "tensorflow.Variable.numpy",
    # what the programs defined themselves, or what belongs to others: known under the recorded name
    "tensorflow.Module.multiply": "tensorflow.Module.multiply",
    "tensorflow.Module.unnorm": "tensorflow.Module.unnorm",
    "tensorflow.get_logger().setLevel": "tensorflow.get_logger.setLevel",
    "tensorflow.get_logger.setLevel": "tensorflow.get_logger.setLevel",
    "tensorflow.keras.Model.encode": "keras.Model.encode",
    "tensorflow.keras.Model.reparameterize": "keras.Model.reparameterize",
    "tensorflow.keras.Model.sample": "keras.Model.sample",
    "tensorflow.keras.Sequential.decode": "keras.Sequential.decode",
    "tensorflow.keras.Sequential.encode": "keras.Sequential.encode",
    "tensorflow.keras.Sequential.reparameterize": "keras.Sequential.reparameterize",
    "tensorflow.keras.Sequential.fit.history.keys": "keras.callbacks.History.history.keys",
    "tensorflow.matmul.append": "tensorflow.matmul.append",
    "tensorflow.saved_model.load.call_custom_grad": "tensorflow.saved_model.load.call_custom_grad",
    "tensorflow.saved_model.load.grow": "tensorflow.saved_model.load.grow",
    "tensorflow.saved_model.load.multiply": "tensorflow.saved_model.load.multiply",
    "tensorflow.train.Example.features.feature['x'].float_list.value.extend": (
        "tensorflow.train.FloatList.value.extend"
    ),
}
"""Members of objects that only the recorded programs know, by what they were in those programs."""


_RECORDED_NAMES = frozenset(RECORDED.values())


def canonical(catalogue: CatalogueLookup, written: str) -> str | None:
    """The canonical name, or None where the text names nothing in the catalogue."""
    text = written.strip().removesuffix("()")
    if text.startswith("tf."):
        text = f"tensorflow.{text[3:]}"
    if (entry := catalogue.find(text)) is not None:
        return entry.name
    if text in RECORDED:
        return RECORDED[text]
    if text in _RECORDED_NAMES:
        return text
    try:
        found = _called(catalogue, ast.parse(text, mode="eval").body)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return found.name if found else None


def _called(catalogue: CatalogueLookup, node: ast.expr) -> Entry | None:
    """The API that calling this expression reaches."""
    if isinstance(node, ast.Name):
        return catalogue.find(node.id)
    if isinstance(node, ast.Attribute):
        owner = _called(catalogue, node.value)
        if isinstance(node.value, ast.Name | ast.Attribute) and owner and owner.kind in ("module", "class"):
            return catalogue.member(owner.name, node.attr)
        return _member_of_value(catalogue, _type(catalogue, node.value), node.attr)
    value = _type(catalogue, node)
    return catalogue.member(value, "__call__") if value else None


def _type(catalogue: CatalogueLookup, node: ast.expr) -> str | None:
    """The class of an expression's value; a bare function stands for its result, as records write it."""
    if isinstance(node, ast.BinOp):
        return _type(catalogue, node.left)
    if isinstance(node, ast.Subscript):
        owner = _type(catalogue, node.value)
        item = catalogue.member(owner, "__getitem__") if owner else None
        return item.returns if item else None
    if not isinstance(node, ast.Call | ast.Name | ast.Attribute):
        return None
    called = _called(catalogue, node.func if isinstance(node, ast.Call) else node)
    if called is None or called.kind == "module":
        return None
    return called.name.rpartition(".")[0] if called.returns == "self" else called.returns


def _member_of_value(catalogue: CatalogueLookup, owner: str | None, name: str) -> Entry | None:
    """The member of an object, or of what calling the object gives: records write both the same way."""
    if owner is None:
        return None
    if found := catalogue.member(owner, name):
        return found
    call = catalogue.member(owner, "__call__")
    return catalogue.member(call.returns, name) if call and call.returns else None
