import argparse

from classifier import build_model, config
from classifier.data import load_data
from classifier.training import Trainer


def parse_args():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=config.EPOCHS)
    return parser.parse_args([])


def main():
    args = parse_args()
    train, test = load_data()
    model = build_model(num_classes=config.NUM_CLASSES)
    trainer = Trainer(model, epochs=args.epochs)
    history = trainer.run(train)
    print(history.history)
    print(trainer.evaluate(test))
    trainer.model.summary()
    for images, labels in test.take(1):
        logits = model(images)
        print(logits.numpy().argmax(-1), labels.numpy())


if __name__ == "__main__":
    main()
