"""Running code: a function's body with its parameters bound, a statement of a module's top level."""

from __future__ import annotations

from energy_code.interpreter.domain.annotations import annotated
from energy_code.interpreter.domain.definitions import Function, Module, UserClass, UserInstance, classes_of
from energy_code.interpreter.domain.lattice import join
from energy_code.interpreter.domain.values import (
    NONE,
    UNKNOWN,
    Constant,
    Mapping,
    Sequence,
    Value,
)
from energy_code.interpreter.frame import Frame, conclude
from energy_code.interpreter.operations import attributes, calls, iteration
from energy_code.interpreter.operations.dispatch import ATTRIBUTES, CALLS, INDEXES, ITERATIONS, fill
from energy_code.interpreter.program import Program
from energy_code.interpreter.summary import CallContext, Summary
from energy_code.ir.code import TopLevelStatement
from energy_code.ir.statements import run

fill(CALLS, calls.HANDLERS)
fill(ATTRIBUTES, attributes.HANDLERS)
fill(ITERATIONS, iteration.ITERATED)
fill(INDEXES, iteration.INDEXED)


def run_statement(program: Program, module: Module, statement: TopLevelStatement) -> Summary:
    """Run one top-level statement."""
    frame = Frame(program, module, statement, None)
    outer, module.current = module.current, frame
    asker, program.stack.asker = program.stack.asker, None
    try:
        run(frame, statement.statements)
    except RecursionError:
        frame.returned.clear()
    finally:
        module.current = outer
        program.stack.asker = asker
    summary = Summary()
    conclude(frame, summary)
    summary.written = frame.names
    summary.classes = classes_of(module, statement)
    return summary


def run_function(program: Program, function: Function, given: CallContext, summary: Summary) -> None:
    """Run a function's body, and put what was found into the summary."""
    frame = enter(program, function, given)
    summary.frame = frame
    code = function.code
    asker, program.stack.asker = program.stack.asker, summary
    try:
        if code.value is not None:
            frame.returned.append(code.value.evaluate(frame))
        else:
            run(frame, code.body)
    except RecursionError:
        pass
    program.stack.asker = asker
    summary.returns = returned(frame, function)
    conclude(frame, summary)
    if code.globals:
        summary.written = {name: frame.names[name] for name in code.globals if name in frame.names}


def enter(program: Program, function: Function, given: CallContext) -> Frame:
    """A frame with the parameters bound: to what was given, else to defaults and annotations."""
    code = function.code
    frame = Frame(program, function.module, code, function.outer)
    frame.is_function = True
    frame.local_names = code.local_names
    frame.owner = function.owner
    if code.blank is not None:
        names = frame.names = code.blank.copy()
        names.update(function.defaults)
        names.update(given)
        if len(names) == len(
            code.blank
        ):  # an object may have been made by a constructor with other parameters
            if function.owner is not None and code.parameters:
                receive(frame, function.owner, code.parameters[0].name, given)
            return frame
        frame.names = {}
    bind_parameters(frame, function, given)
    return frame


def bind_parameters(frame: Frame, function: Function, given: CallContext) -> None:
    """Bind the parameters one by one, as some of them have annotations or take many arguments."""
    names = frame.names
    known = dict(given)
    defaults = dict(function.defaults)
    for position, parameter in enumerate(function.code.parameters):
        name = parameter.name
        value = known.get(name)
        if value is None:
            value = defaults.get(name, UNKNOWN)
            if value is UNKNOWN or type(value) is Constant:
                declared = (
                    annotated(frame, parameter.annotation) if parameter.annotation is not None else UNKNOWN
                )
                value = declared if declared is not UNKNOWN else value
            if position == 0 and function.owner is not None and value is UNKNOWN:
                value = UserInstance(function.owner)
            elif parameter.kind == "args":
                value = Sequence("tuple", None, value)
            elif parameter.kind == "kwargs":
                value = Mapping((), value)
        elif parameter.annotation is not None and (value is UNKNOWN or value is NONE):
            declared = annotated(frame, parameter.annotation)
            value = declared if declared is not UNKNOWN else value
        names[name] = value
        if position == 0 and function.owner is not None:
            frame.self_name, frame.receiver = name, value


def returned(frame: Frame, function: Function) -> Value:
    """What the function gives: its own returns, else what its annotation promises."""
    if function.code.generator:
        element: Value = frame.yielded[0] if frame.yielded else UNKNOWN
        for value in frame.yielded[1:]:
            element = join(element, value)
        return Sequence("iterator", None, element)
    result: Value = frame.returned[0] if frame.returned else NONE
    for value in frame.returned[1:]:
        result = join(result, value)
    if (result is UNKNOWN or result is NONE) and function.code.returns is not None:
        return annotated(frame, function.code.returns)
    return result


def receive(frame: Frame, owner: UserClass, name: str, given: CallContext) -> None:
    """The first parameter of a method is an object of its class when nothing else was given for it."""
    names = frame.names
    if names[name] is UNKNOWN and not (given and given[0][0] == name):
        names[name] = UserInstance(owner)
    frame.self_name, frame.receiver = name, names[name]
