"""The words for layers: behind the line that creates one, in the hover of that line, and in the hover of `fit`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from energy_lsp.presentation.figures.layers import FileLayers, FusedLayer, LayerUse
from energy_lsp.presentation.notation.units import bar, brief, marked, percent

if TYPE_CHECKING:
    from energy_data.database.inside import CallParts
    from energy_data.model import Part
    from energy_lsp.presentation.figures.hints import Hint
    from energy_lsp.presentation.notation.markup import Markup

COSTLIEST = 5
SMALLEST_SHARE = 0.005
"""Of a call, below which a row would say 0%."""
TRACING = "tracing, once"
PASSES = ("forward", "backward", "optimizer", "loss", "input", TRACING, "runtime")


def creates(hint: Hint, uses: Sequence[LayerUse]) -> bool:
    """Whether a call makes layers of its line: by their class, or a whole model of them (`keras.applications.ResNet50`)."""
    package, _, name = hint.call.api.rpartition(".")
    if any(part.kind == name for use in uses for part in use.parts):
        return True
    return name[:1].isupper() and any(word in ("keras", "tf_keras") for word in package.split("."))


def made_by(hint: Hint, uses: Sequence[LayerUse]) -> Sequence[LayerUse]:
    """Of the layers of a line those that one call makes, with what is inside of them; all where that cannot be known."""
    name = hint.call.api.rpartition(".")[2]
    made = {part.path for use in uses for part in use.parts if part.kind == name}
    if not made:
        return uses
    inner = tuple(path + "/" for path in made)
    found = [
        LayerUse(use.call, [part for part in use.parts if part.path in made or part.path.startswith(inner)])
        for use in uses
    ]
    return [use for use in found if use.parts]


def layer_label(uses: Sequence[LayerUse], layers: FileLayers) -> str:
    """What fits behind the line that creates a layer: `≈ 1.1 J · 34% of fit`. Further calls are the hover's to say."""
    first = uses[0]
    return f"{brief(first.joules, layers.estimated)} · {percent(first.share)} of {name_of(first.call)}"


def layer_lines(uses: Sequence[LayerUse], layers: FileLayers, markup: Markup) -> list[str]:
    """The paragraphs of a hover on a line that creates layers: what they had of each call that uses them."""
    paragraphs = []
    for use in uses[:COSTLIEST]:
        kinds = sorted({part.kind for part in use.parts})
        paths = list(dict.fromkeys(part.path for part in use.parts))
        amount = markup.text(marked(use.joules, layers.estimated))
        head = f"⚡ {amount} · {use.share:.0%} of {markup.code(name_of(use.call))}"
        place = layers.place(use.call.file, use.call.line)
        where = _where(use.call, layers)
        linked = markup.file_link(where, place.uri, place.row) if place else markup.text(where)
        bars = [
            f"{direction:9}{bar(use.of(direction) / use.joules if use.joules else 0.0)} "
            f"{marked(use.of(direction), layers.estimated)}"
            for direction in ("forward", "backward")
            if use.of(direction) > 0.0
        ]
        called = _called(use.parts, layers)
        shown = ", ".join(markup.code(path) for path in paths[:COSTLIEST])
        more = f" and {len(paths) - COSTLIEST} more" if len(paths) > COSTLIEST else ""
        calls = f"; called at {markup.text(', '.join(called))}" if called else ""
        paragraphs += [
            f"{markup.bold(head)} ({linked})",
            markup.block(bars),
            f"{markup.text(', '.join(kinds))}: {shown}{more}{calls}",
            *_with_fused(use.parts, markup),
        ]
    if len(uses) > COSTLIEST:
        paragraphs.append(f"{len(uses) - COSTLIEST} more calls use it.")
    paragraphs.append(markup.text("Apportioned among the operations that ran, not metered by layer."))
    return paragraphs


def _with_fused(parts: Sequence[Part], markup: Markup) -> list[str]:
    """What else is in the figures of some parts."""
    paths = list(dict.fromkeys(path for part in parts for path, _, _ in part.fused))
    if not paths:
        return []
    named = ", ".join(markup.code(_last(path)) for path in paths[:COSTLIEST])
    more = f" and {len(paths) - COSTLIEST} more" if len(paths) > COSTLIEST else ""
    return [f"TensorFlow fused {named}{more} into it: forward they are one operation, counted here."]


def fused_lines(fused: Sequence[FusedLayer], layers: FileLayers, markup: Markup) -> list[str]:
    """The paragraphs of a hover on a line that creates layers which run as part of others."""
    heads: dict[str, list[FusedLayer]] = {}
    for one in fused:
        heads.setdefault(one.into.path, []).append(one)
    found = []
    for path, own in list(heads.items())[:COSTLIEST]:
        names = ", ".join(markup.code(_last(name)) for name in dict.fromkeys(one.path for one in own))
        place = layers.place(own[0].into.file, own[0].into.line)
        at = f" ({markup.file_link(place.label, place.uri, place.row)})" if place is not None else ""
        found.append(
            f"TensorFlow fused {names} into {markup.code(_last(path))}{at}: "
            "forward they are one operation, counted there."
        )
    return found


def _last(path: str) -> str:
    return path.rpartition("/")[2]


def call_lines(
    call: CallParts, layers: FileLayers, address: Callable[[str], str | None], markup: Markup
) -> list[str]:
    """The paragraphs of a hover on `fit` and its like: its costliest layers, and its passes.

    `address`: the URI of another file of the project, by its name in the database.
    """
    by_path: dict[str, list[Part]] = {}
    for part in call.parts:
        if part.direction in ("forward", "backward"):
            by_path.setdefault(part.path, []).append(part)
    ranked = sorted(by_path.items(), key=lambda item: -sum(part.joules for part in item[1]))[:COSTLIEST]
    passes = dict.fromkeys(PASSES, 0.0)
    for part in call.parts:
        passes[TRACING if part.kind == "tracing" else part.direction] += part.joules
    total = call.joules or 1.0
    rows = [
        (sum(part.joules for part in parts), _shortened(path) + _at(parts[0], layers))
        for path, parts in ranked
    ]
    rows += [(own, name) for name, own in passes.items() if own > 0.0]
    table = [
        f"{bar(own / total)} {own / total:4.0%}  {marked(own, layers.estimated):>8}  {text}"
        for own, text in rows
        if own / total >= SMALLEST_SHARE
    ]
    links = []
    for _, (part, *_) in ranked:
        place = layers.place(part.file, part.line)
        if place is not None:
            links.append(markup.file_link(place.label, place.uri, place.row))
        elif part.line and part.file != layers.file and (uri := address(part.file)) is not None:
            links.append(markup.file_link(markup.text(f"{part.file}:{part.line}"), uri, part.line - 1))
    found = ["Inside, layers and then passes, apportioned:", markup.block(table)]
    if links:
        found.append("Layers: " + " · ".join(dict.fromkeys(links)))
    return found


def name_of(call: CallParts) -> str:
    """A call by the last word of its API."""
    return call.api.rpartition(".")[2]


def _where(call: CallParts, layers: FileLayers) -> str:
    """Where a call is now; one of another file as it was measured."""
    place = layers.place(call.file, call.line)
    if place is not None:
        return place.label
    if call.file == layers.file:
        return "a line that was changed since"
    return f"{call.file}, line {call.line}"


def _at(part: Part, layers: FileLayers) -> str:
    if not part.line:
        return ""
    place = layers.place(part.file, part.line)
    if place is not None:
        return f"  ({place.label})" if place.cell else f"  ({part.file}:{place.row + 1})"
    return "  (its line was changed since)" if part.file == layers.file else f"  ({part.file}:{part.line})"


def _called(parts: Sequence[Part], layers: FileLayers, most: int = 3) -> list[str]:
    """Lines that call a layer, as far as they are where they were."""
    found: dict[str, None] = {}
    for part in parts:
        if part.called_line and part.called_file != layers.file:
            found[f"{part.called_file}:{part.called_line}"] = None
        elif part.called_line and (place := layers.rows.get(part.called_line)) is not None:
            found[place.label] = None
    return sorted(found)[:most]


def _shortened(path: str, most: int = 48) -> str:
    """The end of a path says more than its beginning; nothing that a terminal or an editor would act on."""
    plain = " ".join("".join(c if c.isprintable() else " " for c in path).split())
    return plain if len(plain) <= most else "…" + plain[-most + 1 :]
