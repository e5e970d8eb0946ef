import numpy as np


class SyntheticBoxes:
    def __init__(self, cfg, n=4, offset=0):
        self.cfg, self.n, self.offset = cfg, n, offset

    def __call__(self):
        for i in range(self.n):
            r = np.random.default_rng(i + self.offset)
            yield r.random((self.cfg.size, self.cfg.size, 3), dtype=np.float32), {
                "box": r.random(4, dtype=np.float32), "label": r.integers(0, self.cfg.classes)}
