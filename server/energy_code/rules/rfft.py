"""Fourier transforms of real signals."""

from energy_code.rule_engine import NOT_JIT, Array, Change, Rule, Workload


class RealFft(Rule):
    """Transform real signals with `tf.signal.rfft`.

    The spectrum of a real signal mirrors itself: `tf.signal.fft` computes both halves, `rfft` one, from
    half the memory.

    **Not equal**: the result has n/2 + 1 entries instead of n. Where half the spectrum suffices
    (magnitudes, power, filters) the rest of the code has to follow, so there is no automatic fix.
    """

    message = (
        "the spectrum of a real signal mirrors itself: `tf.signal.rfft` computes one half at half the cost"
    )
    category = "arithmetic"
    reports = ("s = tf.signal.fft(tf.cast(x, tf.complex64))",)
    leave_alone = ("s = tf.signal.fft(z)", "s = tf.signal.rfft(x)")
    workload = Workload(
        "tf.abs(tf.signal.fft(tf.cast(x, tf.complex64))[..., : n // 2 + 1])",
        {"x": Array("n"), "n": "n"},
        {"n": (128, 4_096, 131_072)},
        after="tf.abs(tf.signal.rfft(x))",
        tolerance=1e-3,
        absolute=1e-1,
        vary=False,
    )
    safety = "none"
    modes = NOT_JIT
    changes = (
        Change("tf.signal.fft(tf.cast($x, tf.complex64))"),
        Change("tf.signal.fft(tf.cast($x, tf.complex128))"),
    )
