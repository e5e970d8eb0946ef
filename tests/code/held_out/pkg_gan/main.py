from gan import nets, losses as L
from gan.engine import Engine
from gan.data import ring
from gan.settings import Settings

settings = Settings.load({"noise": 3, "steps": 2, "objective": "hinge"})
generator = nets.GENERATORS[settings.generator](settings)
critic = nets.make_critic(settings)
engine = Engine(generator, critic, objective=L.get(settings.objective), settings=settings)
for report in engine.run(ring(32).batch(8).repeat()):
    print(report)
generator.summary()
points = engine.sample(5)
print(points.numpy().shape, critic.predict(points, verbose=0).shape)
engine.save()
