"""Names of positional parameters of NumPy's functions, as far as they decide shapes."""

from __future__ import annotations

from collections.abc import Mapping

_ROWS = """
zeros shape dtype
ones shape dtype
empty shape dtype
full shape fill_value dtype
zeros_like a dtype
ones_like a dtype
full_like a fill_value dtype
array object dtype
asarray a dtype
ascontiguousarray a dtype
arange start stop step dtype
linspace start stop num
eye N M
identity N
reshape a newshape
expand_dims a axis
squeeze a axis
transpose a axes
concatenate arrays axis
vstack arrays
hstack arrays
stack arrays axis
split ary indices_or_sections axis
array_split ary indices_or_sections axis
tile A reps
repeat a repeats axis
pad array pad_width mode
sum a axis dtype out keepdims
mean a axis dtype out keepdims
max a axis out keepdims
min a axis out keepdims
amax a axis out keepdims
amin a axis out keepdims
prod a axis dtype out keepdims
any a axis out keepdims
all a axis out keepdims
std a axis dtype out ddof keepdims
var a axis dtype out ddof keepdims
median a axis out overwrite keepdims
average a axis
argmax a axis out
argmin a axis out
argsort a axis
sort a axis
cumsum a axis
clip a a_min a_max
where condition x y
dot a b
matmul a b
tensordot a b axes
einsum equation
take a indices axis
roll a shift axis
flip m axis
swapaxes a axis1 axis2
moveaxis a source destination
broadcast_to array shape
unique ar
ravel a
copy a
diag v
norm x ord axis keepdims
random.normal loc scale size
random.uniform low high size
random.randint low high size dtype
random.integers low high size dtype
random.random size
random.random_sample size
random.standard_normal size dtype
random.poisson lam size
random.binomial n p size
random.exponential scale size
random.gamma shape scale size
random.beta a b size
random.laplace loc scale size
random.lognormal mean sigma size
random.choice a size replace p
random.multinomial n pvals size
random.permutation x
"""

PARAMETERS: Mapping[str, tuple[str, ...]] = {
    name: tuple(names) for name, *names in (row.split() for row in _ROWS.strip().splitlines())
}
