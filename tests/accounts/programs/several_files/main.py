"""A program in several files."""

from data import make_dataset
from training import Trainer


def main():
    trainer = Trainer(width=128)
    for epoch in range(4):
        print("epoch", epoch, round(trainer.epoch(make_dataset()), 1) >= 0)


if __name__ == "__main__":
    main()
