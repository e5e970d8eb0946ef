import sys
from pathlib import Path
sys.path.insert(0, str(Path(__file__).parent / "src"))
from mylib.engine import Engine, create_engine
from mylib import registry, layers as my_layers
import mylib.engine.core as core

engine: Engine = create_engine("small")
engine.train(steps=2)
print(engine.net.predict(core.sample(), verbose=0).shape)
print(my_layers.Scale(2.0)(core.sample()).numpy().sum())
factory = registry.get("scale")
layer = factory(3.0)
print(layer(core.sample()).numpy().mean(), layer.get_config()["name"])
for cb in engine.callbacks:
    cb.set_model(engine.net)
with engine as running:
    running.net.summary(print_fn=lambda s: None)
