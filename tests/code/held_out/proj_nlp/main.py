import nlp.tasks as tasks
from nlp import *
from nlp.common import tf, K

texts = ["good movie", "bad movie", "very good", "very bad", "fine", "awful"]
labels = [1, 0, 1, 0, 1, 0]

tok = Tokenizer.from_texts(texts, max_len=4)
ds = to_dataset(tok, texts, labels, batch_size=2)
print(ds.element_spec, tok.decode(tok(tf.constant(["good movie"]))).numpy())

for name, task in tasks.ALL.items():
    model = make_encoder(name, tok.vocab_size)
    runner = task(model)
    runner.prepare()
    history = runner.run(ds, epochs=1)
    print(name, history.history["loss"], runner.predictions(ds).shape)
    for callback in runner.callbacks:
        callback.set_model(model)

best = max(tasks.FINISHED, key=lambda r: r.score(ds))
best.model.summary()
print(best.model.layers[0].get_config()["name"], K.utils.get_file.__name__)
weights = best.export()
print(len(weights), tf.norm(weights[-1]).numpy())
