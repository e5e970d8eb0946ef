"""Shapes of datasets that libraries hand out: `keras.datasets` and the common ones of `tensorflow_datasets`.

A row of `tensorflow_datasets`: name, features in order (those of `as_supervised` first), examples of each split.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from energy_code.static_shapes.values.kinds import SOME_NUMBER, Array, Table

_ROWS = """
mnist image:uint8[28,28,1] label:int64[] train:60000 test:10000
fashion_mnist image:uint8[28,28,1] label:int64[] train:60000 test:10000
kmnist image:uint8[28,28,1] label:int64[] train:60000 test:10000
emnist image:uint8[28,28,1] label:int64[] train:697932 test:116323
emnist/balanced image:uint8[28,28,1] label:int64[] train:112800 test:18800
emnist/letters image:uint8[28,28,1] label:int64[] train:88800 test:14800
emnist/digits image:uint8[28,28,1] label:int64[] train:240000 test:40000
binarized_mnist image:uint8[28,28,1] train:50000 validation:10000 test:10000
cifar10 image:uint8[32,32,3] label:int64[] id:string[] train:50000 test:10000
cifar100 image:uint8[32,32,3] label:int64[] coarse_label:int64[] id:string[] train:50000 test:10000
svhn_cropped image:uint8[32,32,3] label:int64[] train:73257 test:26032 extra:531131
stl10 image:uint8[96,96,3] label:int64[] train:5000 test:8000 unlabelled:100000
imagenette image:uint8[?,?,3] label:int64[] train:9469 validation:3925
imagenette/320px image:uint8[?,?,3] label:int64[] train:12894 validation:500
imagenet2012 image:uint8[?,?,3] label:int64[] file_name:string[] train:1281167 validation:50000 test:100000
cats_vs_dogs image:uint8[?,?,3] label:int64[] image/filename:string[] train:23262
tf_flowers image:uint8[?,?,3] label:int64[] train:3670
horses_or_humans image:uint8[300,300,3] label:int64[] train:1027 test:256
rock_paper_scissors image:uint8[300,300,3] label:int64[] train:2520 test:372
beans image:uint8[500,500,3] label:int64[] train:1034 validation:133 test:128
malaria image:uint8[?,?,3] label:int64[] train:27558
oxford_flowers102 image:uint8[?,?,3] label:int64[] file_name:string[] train:1020 test:6149 validation:1020
oxford_iiit_pet image:uint8[?,?,3] label:int64[] segmentation_mask:uint8[?,?,1] file_name:string[] species:int64[] train:3680 test:3669
stanford_dogs image:uint8[?,?,3] label:int64[] image/filename:string[] train:12000 test:8580
food101 image:uint8[?,?,3] label:int64[] train:75750 validation:25250
celeb_a image:uint8[218,178,3] train:162770 validation:19867 test:19962
eurosat image:uint8[64,64,3] label:int64[] filename:string[] train:27000
patch_camelyon image:uint8[96,96,3] label:int64[] id:string[] train:262144 validation:32768 test:32768
colorectal_histology image:uint8[150,150,3] label:int64[] filename:string[] train:5000
deep_weeds image:uint8[256,256,3] label:int64[] train:17509
plant_village image:uint8[?,?,3] label:int64[] image/filename:string[] train:54303
caltech101 image:uint8[?,?,3] label:int64[] image/file_name:string[] train:3060 test:6084
cars196 image:uint8[?,?,3] label:int64[] train:8144 test:8041
uc_merced image:uint8[?,?,3] label:int64[] filename:string[] train:2100
omniglot image:uint8[105,105,3] label:int64[] alphabet:int64[] alphabet_char_id:int64[] train:19280 test:13180 small1:2720 small2:3120
iris features:float32[4] label:int64[] train:150
penguins/processed features:float32[4] species:int64[] train:334
imdb_reviews text:string[] label:int64[] train:25000 test:25000 unsupervised:50000
imdb_reviews/plain_text text:string[] label:int64[] train:25000 test:25000 unsupervised:50000
yelp_polarity_reviews text:string[] label:int64[] train:560000 test:38000
ag_news_subset description:string[] label:int64[] title:string[] train:120000 test:7600
ted_hrlr_translate/pt_to_en pt:string[] en:string[] train:51785 validation:1193 test:1803
ted_hrlr_translate/ru_to_en ru:string[] en:string[] train:208106 validation:4805 test:5476
glue/sst2 sentence:string[] label:int64[] idx:int32[] train:67349 validation:872 test:1821
glue/mrpc sentence1:string[] sentence2:string[] label:int64[] idx:int32[] train:3668 validation:408 test:1725
movielens/100k-ratings movie_id:string[] user_id:string[] train:100000
"""  # noqa: E501

SUPERVISED = {"binarized_mnist", "celeb_a", "glue/sst2", "glue/mrpc", "movielens/100k-ratings"}
"""Those that have no `as_supervised` form, or another one than the first two features."""


@dataclass(frozen=True, slots=True)
class KnownDataset:
    """A dataset of `tensorflow_datasets`."""

    name: str
    features: Mapping[str, Array]
    splits: Mapping[str, int]

    @property
    def supervised(self) -> tuple[Array, ...] | None:
        """An element with `as_supervised=True`; None where it is not known."""
        found = tuple(self.features.values())[:2]
        return None if self.name in SUPERVISED else found


def array(text: str) -> Array:
    """An array from `uint8[28,?,1]`."""
    dtype, _, sizes = text.rstrip("]").partition("[")
    return Array(dtype, tuple(None if each == "?" else int(each) for each in sizes.split(",") if each))


def _row(line: str) -> KnownDataset:
    name, *parts = line.split()
    features, splits = Table(), {}
    for part in parts:
        key, _, value = part.rpartition(":")
        if value.isdigit():
            splits[key] = int(value)
        else:
            features[key] = array(value)
    return KnownDataset(name, features, splits)


TFDS: Mapping[str, KnownDataset] = {known.name: known for known in map(_row, _ROWS.strip().splitlines())}


def tfds(name: str) -> KnownDataset | None:
    """What is known of a dataset; its version, `mnist:3.*.*`, does not matter."""
    return TFDS.get(name.partition(":")[0])


_SLICE = re.compile(r"^(\w+)(?:\[(-?\d*%?)?:(-?\d*%?)?\])?$")


def examples(known: KnownDataset | None, split: str) -> Any:
    """Examples of a split such as `train[:80%]` or `train+test`; SOME_NUMBER where it is not known."""
    total = 0
    for part in split.replace(" ", "").split("+"):
        found = _SLICE.match(part)
        whole = known.splits.get(found[1]) if found and known else None
        if found is None or whole is None:
            return SOME_NUMBER
        ends = [_end(text, whole) for text in (found[2], found[3])]
        total += len(range(*slice(*ends).indices(whole)))
    return total


def _end(text: str | None, whole: int) -> int | None:
    if not text:
        return None
    if not text.endswith("%"):
        return int(text)
    percent = int(text[:-1])
    return round(whole * abs(percent) / 100) * (-1 if percent < 0 else 1)


def _pair(train: str, test: str) -> tuple[tuple[Array, ...], ...]:
    return tuple(
        tuple(Array(one.dtype, one.shape, True) for one in map(array, part.split())) for part in (train, test)
    )


KERAS: Mapping[str, Any] = {
    **dict.fromkeys(
        ("mnist", "fashion_mnist"),
        _pair("uint8[60000,28,28] uint8[60000]", "uint8[10000,28,28] uint8[10000]"),
    ),
    "cifar10": _pair("uint8[50000,32,32,3] uint8[50000,1]", "uint8[10000,32,32,3] uint8[10000,1]"),
    "cifar100": _pair("uint8[50000,32,32,3] int64[50000,1]", "uint8[10000,32,32,3] int64[10000,1]"),
    "boston_housing": _pair("float64[404,13] float64[404]", "float64[102,13] float64[102]"),
    "california_housing": _pair("float32[16512,8] float32[16512]", "float32[4128,8] float32[4128]"),
    "imdb": _pair("object[25000] int64[25000]", "object[25000] int64[25000]"),
    "reuters": _pair("object[8982] int64[8982]", "object[2246] int64[2246]"),
}
"""What `load_data` gives: the arrays for training, and those for testing."""
