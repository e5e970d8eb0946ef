"""Whether a training step can be a `tf.function`: a whole function that loops call, a part of one, or a part of a loop.

A trace takes for granted what Python holds when it is made. So nothing that the step reads may be changed by the file
meanwhile, no call may give it another number, list or optimizer, and what it does may have no effect in Python.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from energy_code.rule_engine.context import RuleContext
from energy_code.rule_engine.edits.extract import (
    TAPE_NAMES,
    LoopStep,
    counted,
    is_list_of_python,
    is_python,
    step_at,
)
from energy_code.rule_engine.queries.handed_down import HandedDown
from energy_code.rule_engine.queries.loops import calls_of, method_calls, targets
from energy_code.rule_engine.queries.object_state import is_steady
from energy_code.rule_engine.queries.program import (
    FileNames,
    free_names_of,
    program_of,
    root_name,
    statements_at,
)
from energy_code.rule_engine.queries.purity import (
    applies_gradients_of,
    changes_outside,
    free_names,
    is_rebound,
)
from energy_code.rule_engine.queries.traceable import Reach, has_effect, reads_what_changes

if TYPE_CHECKING:
    from tree_sitter import Node

_WORDS = (
    *(b".numpy(", b".append(", b".extend(", b".Variable(", b".compile(", b".item(", b".update("),
    *(b"print(", b"float(", b"int(", b"open(", b"input("),
    *(b"global", b"nonlocal", b"yield", b"assert", b"profiler", b"time", b"await"),
)
_EFFECTS = re.compile(
    rb"|".join(
        rb"(?<!\w)" * word[:1].isalpha() + re.escape(word) + rb"(?!\w)" * word[-1:].isalpha()
        for word in _WORDS
    )
)
"""Looked for only where one of the words is: the expression takes long to find nothing."""
_NOT_IN_A_STEP = re.compile(
    _EFFECTS.pattern + rb"|\]\s*=(?!=)|\.(fit|predict|evaluate|train_on_batch|save\w*|summary|reset_\w+)\("
    rb"|(?<![\w.])(np|numpy|random|break|continue|return|next)(?!\w)"
)
"""What stays where it is when the step is taken out."""
_STORES = re.compile(rb"\]\s*=(?!=)")
"""An item of a list or dict that is set."""
_LOOPS = ("for_statement", "while_statement")


def calls_in_loops(place: RuleContext, function: Node) -> list[Node]:
    """Calls in loops of a function that is made once: of the module, of a class, or of another function."""
    if not _is_plain(place, function):
        return []
    if not _is_method(function):
        return [call for call in calls_of(place, function) if place.loop(call) is not None]
    calls = method_calls(place, function)
    return [call for call in calls if place.loop(call, comprehensions=False) is not None]


def is_traceable(place: RuleContext, function: Node, looped: Sequence[Node]) -> bool:
    """Whether a function that these calls in loops run could be traced as it is."""
    body = function.child_by_field_name("body")
    if body is None or (
        _is_method(function) and not all(_given_batches(place, function, call) for call in looped)
    ):
        return False
    text = place.shared.code()[body.start_byte : body.end_byte]
    if (any(word in text for word in _WORDS) and _EFFECTS.search(text)) or _STORES.search(text):
        return False
    numpy = place.module_alias("numpy")
    if numpy is not None and f"{numpy}.".encode() in text:
        return False
    return not _depends_on_python(place, function, looped) and is_steady(
        place, body.start_byte, body.end_byte
    )


def step_of(place: RuleContext, tape: Node, function: Node | None, looped: Sequence[Node]) -> LoopStep | None:
    """What can be taken out of a loop, or of a function that loops call, from the statement of a tape on.

    None for a tape that stands in what is taken out with an earlier one.
    """
    statement = next((one for one in place.within_function(tape) if one.type == "with_statement"), None)
    if statement is None or statement.parent is None or tape.end_byte > _head_end(statement):
        return None
    if b"GradientTape" in place.shared.code()[statement.start_byte : tape.start_byte]:
        return None  # of two tapes in one statement the first speaks for both
    for one in statement.parent.named_children:
        if one.start_byte > statement.start_byte or "GradientTape" not in place.text(one):
            continue
        step = step_at(place, one, partial(_ends_step, place), function)
        if step is not None and not (
            _is_whole(place, step, one)
            and (function is None or _is_given_the_same(place, step, function, looped))
        ):
            step = None
        if one == statement:
            return step
        if step is not None and step.statements[-1].end_byte >= statement.end_byte:
            return None
    return None


def _ends_step(place: RuleContext, statement: Node) -> bool:
    start, end = statement.start_byte, statement.end_byte
    return _NOT_IN_A_STEP.search(place.shared.code(), start, end) is not None or not is_steady(
        place, start, end
    )


def _is_given_the_same(place: RuleContext, step: LoopStep, function: Node, looped: Sequence[Node]) -> bool:
    """Whether a part of a function is given batches alone, and the file changes nothing else that it reads."""
    program, code = program_of(place.analysis), place.shared.code()
    start, end = step.statements[0].start_byte, step.statements[-1].end_byte
    taken = statements_at(program, step.statements[0].start_point, step.statements[-1].end_point)
    defined = _defined(program, function)
    if defined is None:
        return False
    read = {
        node.id
        for one in taken
        for node in ast.walk(one)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
    } - {"self"}
    bound = {node.id for one in taken for node in ast.walk(one) if isinstance(node, ast.Name)} - read
    own = {name for name in read - bound - set(step.inputs) if not program.is_of_library(name)}
    outside = code[:start] + b"\n" + code[end:]
    if changes_outside(outside, own) or any(is_rebound(outside, name) for name in own & _globals(program)):
        return False
    if reads_what_changes(Reach(program, taken), _loops_around(place, program, looped), own):
        return False
    down = HandedDown(program)
    models = {
        root_name(node)
        for one in taken
        for node in ast.walk(one)
        if isinstance(node, ast.Attribute) and node.attr.startswith("trainable")
    } & set(step.inputs)
    if any(name and not down.is_one_object(defined, name) for name in models):
        return False
    parameters = [one.arg for one in defined.args.args if one.arg in step.inputs]
    if any(down.counts(defined, name) for name in parameters):
        return False
    return all(_given_batches(place, function, call, parameters) for call in looped)


def _globals(program: FileNames) -> set[str]:
    return set(program.assigned)


def _depends_on_python(place: RuleContext, function: Node, looped: Sequence[Node]) -> bool:
    """Whether the file changes what the function reads, or gives it another number or optimizer in each call."""
    source, code = place.analysis.source, place.shared.code()
    text = source[function.start_byte : function.end_byte]
    outside = code[: function.start_byte] + b"\n" + code[function.end_byte :]
    free = free_names(text)
    parameters = function.child_by_field_name("parameters")
    program = program_of(place.analysis)
    if free is None or parameters is None or _is_changed(place, program, function, looped):
        return True
    own = {name for name in free if not program.is_of_library(name)}
    if changes_outside(outside, own) or any(is_rebound(outside, name) for name in own):
        return True
    optimizers = [name for name in place.names(parameters) if applies_gradients_of(text, [name])]
    if optimizers and not _are_single(program, function, optimizers, outside):
        return True
    for call in looped:
        loops = [one for one in place.within_function(call) if one.type in _LOOPS]
        arguments = call.child_by_field_name("arguments")
        given = place.names(arguments) if arguments is not None else set()
        if given & (counted(place, loops) if loops else set()):
            return True
        if any(program.is_number(name) and len(program.assigned[name]) > 1 for name in given):
            return True
        values = arguments.named_children if arguments is not None else []
        if any(is_list_of_python(program, place.text(one)) for one in values if one.type == "identifier"):
            return True
    return False


def _are_single(program: FileNames, function: Node, optimizers: Sequence[str], outside: bytes) -> bool:
    """Whether the step is only ever given one and the same optimizer, and one model that stays as it is."""
    step, down = _defined(program, function), HandedDown(program)
    if step is None:
        return False
    models = {
        root_name(node)
        for node in ast.walk(step)
        if isinstance(node, ast.Attribute) and node.attr.startswith("trainable")
    } & {one.arg for one in step.args.args}
    given = [*optimizers, *filter(None, models)]
    if not all(down.is_one_object(step, name) for name in given):
        return False
    return not changes_outside(outside, {one for name in given for one, _ in down.names(step, name)})


def _is_changed(place: RuleContext, program: FileNames, function: Node, looped: Sequence[Node]) -> bool:
    """Whether the function reaches an effect, or reads what the loops that call it change."""
    place.shared.looked_anywhere = True  # any function of the file may be one that it calls
    defined = _defined(program, function)
    if defined is None:
        return True
    down = HandedDown(program)
    if any(down.counts(defined, one.arg) for one in defined.args.args):
        return True
    if any(is_python(program, value) for value in _returned(defined)):
        return True
    reach = Reach(program, [defined])
    if has_effect(reach, [one.arg for one in defined.args.args if one.arg != "self"]):
        return True
    return reads_what_changes(reach, _loops_around(place, program, looped), free_names_of(defined))


def _defined(program: FileNames, function: Node) -> ast.FunctionDef | None:
    """A function as Python reads it."""
    found = statements_at(program, function.start_point, function.end_point)
    return found[0] if len(found) == 1 and isinstance(found[0], ast.FunctionDef) else None


def _loops_around(place: RuleContext, program: FileNames, calls: Sequence[Node]) -> list[ast.stmt]:
    """The outermost loops around some calls."""
    loops = [[one for one in place.within_function(call) if one.type in _LOOPS][-1:] for call in calls]
    return [
        one
        for [loop] in filter(None, loops)
        for one in statements_at(program, loop.start_point, loop.end_point)
    ]


def _returned(function: ast.FunctionDef) -> Iterator[ast.expr]:
    """What a function gives, and the parts of it: a trace gives tensors of them."""
    waiting = [node.value for node in ast.walk(function) if isinstance(node, ast.Return) and node.value]
    while waiting:
        value = waiting.pop()
        yield value
        waiting += getattr(value, "elts", [])
        waiting += value.values if isinstance(value, ast.Dict) else []


def _is_plain(place: RuleContext, function: Node) -> bool:
    """A function of the module, a method, or one of a function that does not make it again and again."""
    outside = function.parent
    if outside is not None and outside.type == "block":
        outer = outside.parent
        return outer is not None and (
            _is_method(function) or (outer.type == "function_definition" and place.loop(function) is None)
        )
    return outside is not None and outside.type == "module"


def _is_method(function: Node) -> bool:
    block = function.parent
    return block is not None and block.parent is not None and block.parent.type == "class_definition"


def _given_batches(
    place: RuleContext, function: Node, call: Node, wanted: Sequence[str] | None = None
) -> bool:
    """Whether a call gives tensors, or what a loop goes through, for parameters: a number would be traced each time.

    `wanted`: the parameters that matter; of a function of the module the other names may be arrays.
    """
    loops = [one for one in place.within_function(call) if one.type in _LOOPS]
    numbers = counted(place, loops) if loops else set()
    given = {name for loop in loops for name in targets(place, loop)} - numbers
    arguments = call.child_by_field_name("arguments")
    values = arguments.named_children if arguments is not None else []
    program = program_of(place.analysis)
    names = [one.arg for one in defined.args.args] if (defined := _defined(program, function)) else []
    names = names[1:] if names[:1] == ["self"] else names
    for number, value in enumerate(one for one in values if one.type != "comment"):
        written = value
        name = names[number] if number < len(names) else ""
        if value.type == "keyword_argument":
            key, inner = value.child_by_field_name("name"), value.child_by_field_name("value")
            name, written = (place.text(key), inner) if key is not None and inner is not None else ("", value)
        if wanted is not None and name and name not in wanted:
            continue
        text = place.text(written)
        if written.type == "identifier" and (text in given or place.is_tensor(written)):
            continue
        plain = written.type == "identifier" and text not in numbers and not program.is_number(text)
        if _is_method(function) or wanted is None or not plain or is_list_of_python(program, text):
            return False
    return True


def _head_end(statement: Node) -> int:
    body = statement.child_by_field_name("body")
    return body.start_byte if body is not None else statement.end_byte


def _is_whole(place: RuleContext, step: LoopStep, statement: Node) -> bool:
    """Whether every gradient is taken within the step, and no tape is used behind it."""
    code = place.shared.code()
    start, end = step.statements[0].start_byte, step.statements[-1].end_byte
    tapes = TAPE_NAMES.findall(code[start:end])
    taken = all(re.search(rb"\b" + tape + rb"\.gradient\(", code[start:end]) for tape in tapes)
    around = (code[step.around[-1].start_byte : start], code[end : place.scope(statement).end_byte])
    return bool(tapes) and taken and all(_is_opened_first(tape, text) for tape in tapes for text in around)


def _is_opened_first(tape: bytes, code: bytes) -> bool:
    """Whether a name, where some code has it, is that of another tape."""
    found = re.search(rb"(\bas\s+)?\b" + tape + rb"\b", code)
    return found is None or found.group(1) is not None
