"""The energy distribution diagram: a model's data-flow graph, one level of blocks at a time, boxes by their share.

Layered layout (Sugiyama's) is grandalf's: pure Python, so that the SVG file and the page of a report come from one place and
need neither a browser nor an installed Graphviz.
"""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from energy_data.model import Part
from energy_lsp.inside.footprints import FootprintNode, tree
from energy_lsp.presentation.notation.units import fine_percent, joules

MOST_BOXES = 150
"""Of a level with more blocks the costliest are drawn."""
MOST_LEVELS = 400
WIDTH, HEIGHT, GAP = 190.0, 46.0, 30.0
AROUND = ("optimizer", "loss", "input", "runtime")


@dataclass(frozen=True, slots=True)
class Box:
    """A block or layer of one level: centre, size, and what it had with everything inside."""

    name: str
    path: str
    kind: str
    x: float
    y: float
    joules: float
    share: float
    """Of everything in the diagram's run."""
    forward: float
    backward: float
    opens: bool
    """There is a level below it."""


@dataclass(frozen=True, slots=True)
class Level:
    """What is inside of one block, laid out."""

    path: str
    boxes: Sequence[Box]
    edges: Sequence[tuple[int, int]]
    left_out: int
    width: float
    height: float


def levels(parts: Sequence[Part], flows: Iterable[tuple[str, str]]) -> dict[str, Level]:
    """All levels of a model by the path of the block that they are inside of; the top has the path of nothing."""
    # The gradient of a loss is no layer's.
    layers = [part for part in parts if part.direction in ("forward", "backward") and part.kind not in AROUND]
    total = sum(part.joules for part in parts) or 1.0
    passes = _passes(layers)
    flows = list(flows)
    found: dict[str, Level] = {}
    waiting = [tree(layers)]
    while waiting and len(found) < MOST_LEVELS:
        node = waiting.pop(0)
        if node.children:
            found[node.path] = _level(node, flows, total, passes)
            waiting += sorted(node.children.values(), key=lambda child: -child.total)
    return found


def opening(found: Mapping[str, Level]) -> str:
    """The level to begin with: the first, from the top, that has more than one block.

    Operations beside the only model of a program stay out of it.
    """
    path = ""
    while path in found:
        boxes = [box for box in found[path].boxes if path or box.opens]
        if len(boxes) != 1 or not boxes[0].opens:
            break
        path = boxes[0].path
    return path


def _passes(parts: Sequence[Part]) -> dict[str, tuple[float, float]]:
    """Joules forward and backward of each path with everything inside."""
    found: dict[str, tuple[float, float]] = {}
    for part in parts:
        names = part.path.split("/")
        for end in range(1, len(names) + 1):
            path = "/".join(names[:end])
            forward, backward = found.get(path, (0.0, 0.0))
            own = part.joules
            found[path] = (
                (forward + own, backward) if part.direction == "forward" else (forward, backward + own)
            )
    return found


def _level(
    node: FootprintNode,
    flows: Sequence[tuple[str, str]],
    total: float,
    passes: Mapping[str, tuple[float, float]],
) -> Level:
    children = sorted(node.children.values(), key=lambda child: -child.total)
    drawn = children[:MOST_BOXES]
    numbers = {child.path: number for number, child in enumerate(drawn)}
    depth = node.path.count("/") + 1 if node.path else 0

    def child_of(path: str) -> int | None:
        names = path.split("/")
        return numbers.get("/".join(names[: depth + 1])) if len(names) > depth else None

    edges: dict[tuple[int, int], None] = {}
    for source, target in flows:
        one, other = child_of(source), child_of(target)
        if one is not None and other is not None and one != other:
            edges[one, other] = None
    places, width, height = _places(len(drawn), list(edges))
    boxes = [
        Box(
            child.name,
            child.path,
            child.kind,
            x,
            y,
            child.total,
            child.total / total,
            *passes.get(child.path, (0.0, 0.0)),
            bool(child.children),
        )
        for child, (x, y) in zip(drawn, places, strict=True)
    ]
    return Level(node.path, boxes, list(edges), len(children) - len(drawn), width, height)


def _places(count: int, edges: Sequence[tuple[int, int]]) -> tuple[list[tuple[float, float]], float, float]:
    """Centres of boxes, layer under layer in the direction of the flow, and the size of it all."""
    # Loaded here: only who draws needs it.
    from grandalf.graphs import Edge, Graph, Vertex
    from grandalf.layouts import SugiyamaLayout, VertexViewer

    vertices = [Vertex(number) for number in range(count)]
    for vertex in vertices:
        vertex.view = VertexViewer(w=WIDTH, h=HEIGHT)
    graph = Graph(vertices, [Edge(vertices[one], vertices[other]) for one, other in edges])
    places: dict[int, tuple[float, float]] = {}
    left = lowest = 0.0
    alone: list[int] = []
    for component in graph.C:
        members = list(component.sV)
        if len(members) == 1:
            alone.append(members[0].data)
            continue
        layout = SugiyamaLayout(component)
        layout.xspace, layout.yspace = GAP, GAP
        layout.init_all(roots=[v for v in members if not v.e_in()] or members[:1])
        layout.draw()
        first_x = min(v.view.xy[0] for v in members)
        first_y = min(v.view.xy[1] for v in members)
        for v in members:
            x, y = v.view.xy[0] - first_x + left + WIDTH / 2, v.view.xy[1] - first_y + HEIGHT / 2
            places[v.data] = (x, y)
            lowest = max(lowest, y + HEIGHT / 2)
        left = max(places[v.data][0] for v in members) + WIDTH / 2 + GAP
    columns = max(1, min(len(alone), 4))
    for place, number in enumerate(sorted(alone)):
        row, column = divmod(place, columns)
        places[number] = left + column * (WIDTH + GAP) + WIDTH / 2, row * (HEIGHT + GAP) + HEIGHT / 2
    width = max((x for x, _ in places.values()), default=0.0) + WIDTH / 2
    lowest = max((y for _, y in places.values()), default=0.0) + HEIGHT / 2
    return [places[number] for number in range(count)], width, lowest


def as_json(found: Mapping[str, Level]) -> dict[str, Any]:
    """The levels for the page of a report."""
    return {
        path: {
            "boxes": [
                [
                    b.name,
                    b.path,
                    b.kind,
                    round(b.x, 1),
                    round(b.y, 1),
                    b.joules,
                    b.share,
                    b.forward,
                    b.backward,
                    b.opens,
                ]
                for b in level.boxes
            ],
            "edges": level.edges,
            "left_out": level.left_out,
            "size": [round(level.width, 1), round(level.height, 1)],
        }
        for path, level in found.items()
    }


def svg(level: Level, title: str) -> str:
    """One level as an SVG file: darker boxes had more; the bar below a name is forward against backward."""
    margin, head = 16.0, 34.0
    width, height = level.width + 2 * margin, level.height + 2 * margin + head
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" '
        f'height="{height:.0f}" font-family="system-ui, sans-serif" font-size="12">',
        f'<rect width="100%" height="100%" fill="#ffffff"/><text x="{margin}" y="22" font-size="14">{_text(title)}</text>',
    ]
    for one, other in level.edges:
        source, target = level.boxes[one], level.boxes[other]
        lines.append(_edge(source, target, margin, head))
    for box in level.boxes:
        lines += _box(box, margin, head)
    if level.left_out:
        lines.append(
            f'<text x="{margin}" y="{height - 4:.0f}" fill="#59636e">and {level.left_out} smaller ones</text>'
        )
    return "\n".join([*lines, "</svg>"]) + "\n"


def _edge(source: Box, target: Box, margin: float, head: float) -> str:
    x1, y1 = source.x + margin, source.y + HEIGHT / 2 + margin + head
    x2, y2 = target.x + margin, target.y - HEIGHT / 2 + margin + head
    middle = (y1 + y2) / 2
    return (
        f'<path d="M{x1:.1f},{y1:.1f} C{x1:.1f},{middle:.1f} {x2:.1f},{middle:.1f} {x2:.1f},{y2:.1f}" '
        f'fill="none" stroke="#8c959f"/>'
    )


def _box(box: Box, margin: float, head: float) -> list[str]:
    x, y = box.x - WIDTH / 2 + margin, box.y - HEIGHT / 2 + margin + head
    forward = box.forward / box.joules if box.joules > 0.0 else 0.0
    return [
        f"<g><title>{_text(box.path)} ({_text(box.kind)})</title>",
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{WIDTH}" height="{HEIGHT}" rx="4" fill="#d55e00" '
        f'fill-opacity="{0.06 + 0.6 * min(1.0, box.share * 2):.2f}" stroke="#59636e"/>',
        f'<text x="{x + 8:.1f}" y="{y + 17:.1f}">{_text(_short(box.name))}{" ▸" if box.opens else ""}</text>',
        f'<text x="{x + 8:.1f}" y="{y + 33:.1f}" fill="#3d444d">{fine_percent(box.share)} · {joules(box.joules)}</text>',
        f'<rect x="{x + 8:.1f}" y="{y + 38:.1f}" width="{(WIDTH - 16) * forward:.1f}" height="3" fill="#0072b2"/>',
        f'<rect x="{x + 8 + (WIDTH - 16) * forward:.1f}" y="{y + 38:.1f}" '
        f'width="{(WIDTH - 16) * (1 - forward):.1f}" height="3" fill="#e69f00"/></g>',
    ]


def _short(name: str, most: int = 24) -> str:
    return name if len(name) <= most else name[: most - 1] + "…"


def _text(content: str) -> str:
    """Names of others as text: no markup, no control characters."""
    return html.escape("".join(c if c.isprintable() else " " for c in content))
