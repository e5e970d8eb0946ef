"""APIs whose result type is known from their name alone (canonical names)."""

COMPARISONS = frozenset(
    {
        "tensorflow.math.equal",
        "tensorflow.math.not_equal",
        "tensorflow.math.greater",
        "tensorflow.math.greater_equal",
        "tensorflow.math.less",
        "tensorflow.math.less_equal",
        "tensorflow.math.logical_and",
        "tensorflow.math.logical_or",
        "tensorflow.math.logical_not",
        "tensorflow.math.logical_xor",
        "tensorflow.math.is_nan",
        "tensorflow.math.is_inf",
        "tensorflow.math.is_finite",
        "tensorflow.math.reduce_any",
        "tensorflow.math.reduce_all",
    }
)
FLOATS_BY_DEFAULT = frozenset({"tensorflow.zeros", "tensorflow.ones"})
