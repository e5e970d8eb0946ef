import os
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "src"))

import tensorflow as tf

from src import experiment
from src.windows import WindowGenerator
from src.zoo import *
from src import zoo

wide = WindowGenerator(input_width=6, label_width=6, shift=1)
single = WindowGenerator(input_width=1, label_width=1, shift=1)
performance = {}
baseline = Baseline(label_index=1)
baseline.compile(loss=tf.keras.losses.MeanSquaredError(), metrics=[tf.keras.metrics.MeanAbsoluteError()])
performance["Baseline"] = baseline.evaluate(single.val, verbose=0)

for name, model in {"linear": linear(), "dense": zoo.dense(4), "lstm": zoo.lstm(4), "res": residual()}.items():
    history = experiment.compile_and_fit(model, wide, patience=1)
    performance[name] = model.evaluate(wide.val, verbose=0)
    print(name, len(history.epoch), model.predict(wide.example[0], verbose=0).shape)

feedback = FeedBack(units=4, out_steps=3)
prediction, state = feedback.warmup(wide.example[0])
print(prediction.shape, feedback(wide.example[0]).shape, len(state))
runner = experiment.Runner(feedback).prepare()
runner.model.summary()
print(repr(wide), performance, runner.score(wide.example))
