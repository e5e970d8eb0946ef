"""Records what a program of its own does with PyTorch: its modules, gradients and optimizers (Python 3.8 to 3.13).

A training loop by hand on that back end is `loss.backward()` and an optimizer's step; neither is a call of Keras, and most
of the loop's energy goes into them. While PyTorch compiles a function it looks through what is recorded here, and finds
what it would find without.
"""

from __future__ import annotations

import functools

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType, ModuleType
    from typing import Any


class TorchCalls:
    """What wraps PyTorch once it is loaded, with the means of `hooks`."""

    def __init__(self, hooks: Any) -> None:
        self.hooks = hooks

    def extend(self, torch: ModuleType) -> None:
        """Record calls of the program; versions that do not tell whether they compile are left alone."""
        compiling = torch.compiler.is_compiling
        self.hooks.recorder.look_through(compiling)
        gradients, optimizer = torch.autograd, torch.optim.Optimizer
        for holder, name, api in (
            (torch.Tensor, "backward", "torch.Tensor.backward"),
            (gradients, "backward", "torch.autograd.backward"),
            (gradients, "grad", "torch.autograd.grad"),
            (torch.nn.Module, "__call__", "torch.nn.Module.__call__"),
        ):
            self.hooks.wrap(holder, name, self.chosen(api), waits=True, unless=compiling)
        plain = optimizer.profile_hook_step  # every class of optimizers has its step made by this
        chosen = self.hooks.careful(self.chosen("torch.optim.{}.step"))

        def profile_hook_step(step: Callable[..., Any]) -> Callable[..., Any]:
            made: Callable[..., Any] = self.hooks.wrapped(plain(step), chosen, waits=True, unless=compiling)
            return made

        optimizer.profile_hook_step = staticmethod(functools.wraps(plain)(profile_hook_step))

    def chosen(self, api: str) -> Callable[..., tuple[int, int]]:
        """What a call is recorded under, where the program itself makes it: its API, with the name of the object's class."""

        def choose(args: tuple[Any, ...], frame: FrameType) -> tuple[int, int]:
            caller = self.hooks.own.caller(frame)
            if caller is None:
                return -1, -1
            return self.hooks.site("call", api.format(type(args[0]).__name__ if args else ""), caller), -1

        return choose
