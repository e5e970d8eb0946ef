from __future__ import annotations

import typing
from dataclasses import dataclass
from typing import Callable, Dict, List, Optional, Protocol, Sequence, Tuple, Union

import numpy as np
import tensorflow as tf

Tensor = tf.Tensor
LossFn = Callable[[tf.Tensor, tf.Tensor], tf.Tensor]
if typing.TYPE_CHECKING:
    from keras import Model


@dataclass
class State:
    model: tf.keras.Model
    optimizer: tf.keras.optimizers.Optimizer
    step: Optional[tf.Variable] = None


class Predictor(Protocol):
    def __call__(self, x: Tensor) -> Tensor: ...


def init(widths: Sequence[int]) -> State:
    model: Model = tf.keras.Sequential([tf.keras.layers.Dense(w) for w in widths])
    return State(model=model, optimizer=tf.keras.optimizers.Adam(), step=tf.Variable(0))


def mse(a: Tensor, b: Tensor) -> Tensor:
    return tf.reduce_mean(tf.math.squared_difference(a, b))


def update(state: State, batch: Tuple[Tensor, Tensor], loss_fn: LossFn = mse) -> Dict[str, Tensor]:
    x, y = batch
    with tf.GradientTape() as tape:
        loss = loss_fn(y, state.model(x))
    grads = tape.gradient(loss, state.model.trainable_variables)
    state.optimizer.apply_gradients(zip(grads, state.model.trainable_variables))
    if state.step is not None:
        state.step.assign_add(1)
    return {"loss": loss, "norm": tf.linalg.global_norm(grads)}


def batches(x: np.ndarray, n: int) -> tf.data.Dataset:
    return tf.data.Dataset.from_tensor_slices((x, x[:, :1])).batch(n)


def describe(value: Union[tf.Tensor, tf.Variable], layers: List[tf.keras.layers.Layer]) -> str:
    return f"{value.numpy()} {[layer.count_params() for layer in layers]}"


def first(ds: "tf.data.Dataset") -> Tensor:
    for x, _ in ds:
        return x
    raise ValueError("empty")


state = init([4, 1])
dataset: tf.data.Dataset = batches(np.ones((6, 2), np.float32), 3)
for batch in dataset:
    metrics = update(state, batch)
    print({key: value.numpy() for key, value in metrics.items()})
print(describe(metrics["loss"], state.model.layers), first(dataset).numpy().shape, state.step.numpy())
