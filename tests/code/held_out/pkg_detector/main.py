"""Entry point: python main.py --config tiny"""
import argparse
import sys

from detector import Trainer, build_detector, registry
from detector.config import CONFIGS, override
from detector.data import make_loader
from detector.utils import logger, set_seed, timer


def parse(argv):
    p = argparse.ArgumentParser()
    p.add_argument("--config", default="tiny", choices=sorted(CONFIGS))
    p.add_argument("--set", nargs="*", default=[])
    return p.parse_args(argv)


def main(argv=None):
    args = parse(argv)
    cfg = override(CONFIGS[args.config], args.set)
    set_seed(cfg.seed)
    logger.info("networks: %s", ", ".join(registry.names()))
    net = build_detector(cfg)
    net.summary(print_fn=logger.debug)
    train, val = (make_loader(cfg, split) for split in ("train", "val"))
    trainer = Trainer(net, cfg)
    with timer("training"):
        trainer.fit(train, epochs=cfg.epochs)
    scores = trainer.evaluate(val)
    print({k: v.numpy() for k, v in scores.items()})
    for image, _ in val.take(1):
        boxes, labels = net.detect(image)
        print(boxes.shape, labels.numpy())
    path = trainer.checkpoints.save()
    trainer.checkpoints.checkpoint.restore(path).assert_existing_objects_matched()
    return net


if __name__ == "__main__":
    net = main(["--config", "tiny", "--set", "epochs=1"])
    net.backbone.save_weights("backbone.weights.h5")
