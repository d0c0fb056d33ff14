"""In: the parsed topics of a store. Out: a graph of topics and tags as one SVG, placed without a program in the browser.

Each folder is a disc with its topics on a sunflower's spiral, the best connected in the middle; discs stand in rows.
The same topics give the same picture. Names are written as long as they cover no other name, best connected first,
so a thousand topics stay readable; every node is a link, and has its name as its tooltip.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from html import escape
from urllib.parse import quote

from memoryfs.notation import ANY_ID
from memoryfs.topic import Topic
from memoryfs.web.markdown import topic_url

MAX_EDGES = 2500
MAX_TAGS = 60
CROWD = 12  # a session or tag that more topics share than this says little about any two
TIGHT, LOOSE = 15.0, 54.0  # between neighbours on the spiral, in user units
PALETTE = 8  # colours in the style sheet
DENSE = 300  # from so many links on they are drawn faintly, until a node is pointed at
HUBS = 6  # of each group are named in any case
_POINTER = re.compile(r"\[\[([^\[\]|#]*)(?:#\^?([^\[\]|]*))?(?:\|[^\[\]]*)?\]\]")
_LINK = re.compile(r"\]\(([^()\s]+\.md)(?:#[^()\s]*)?\)")

Box = tuple[float, float, float, float]  # left, top, right, bottom


@dataclass(frozen=True)
class Node:
    """A topic, or a tag that several topics share; `weight` is its number of memories or topics."""

    key: str
    name: str
    group: str
    url: str
    weight: int


@dataclass(frozen=True)
class Graph:
    """`edges` hold two keys and why they are joined: link, tag or session."""

    nodes: tuple[Node, ...]
    edges: tuple[tuple[str, str, str], ...]

    @property
    def degree(self) -> Counter[str]:
        return Counter(key for a, b, _ in self.edges for key in (a, b))


def build(topics: Mapping[str, Topic], *, around: str = "") -> Graph:
    """The graph of all topics, or of those one step from the topic `around`."""
    home = {memory.id: path for path, topic in topics.items() for memory in topic.memories}
    edges: dict[tuple[str, str], str] = {}

    def join(a: str, b: str, why: str) -> None:
        if a != b:
            edges.setdefault((min(a, b), max(a, b)), why)

    by_tag: dict[str, list[str]] = defaultdict(list)
    by_thread: dict[str, list[str]] = defaultdict(list)
    for path, topic in sorted(topics.items()):
        for target in _targets(path, topic, home):
            if target in topics:
                join(path, target, "link")
        for tag in topic.tags:
            by_tag[tag].append(path)
        for thread in sorted({r.thread for r in topic.source_range}):
            by_thread[thread].append(path)
    shared = sorted((t for t in by_tag if len(by_tag[t]) > 1), key=lambda t: (-len(by_tag[t]), t))[:MAX_TAGS]
    for tag in shared:
        for path in by_tag[tag]:
            join(path, f"#{tag}", "tag")
    for paths in by_thread.values():
        if len(paths) <= CROWD:
            for i, path in enumerate(paths):
                for other in paths[i + 1 :]:
                    join(path, other, "session")
    nodes = [Node(p, t.title, p.rpartition("/")[0].split("/")[0] or "(top)", topic_url(p), len(t.memories))
             for p, t in sorted(topics.items())]
    nodes += [Node(f"#{t}", f"#{t}", "tags", "/topics?tag=" + quote(t, safe=""), len(by_tag[t])) for t in shared]
    ranked = sorted(edges.items(), key=lambda e: (("link", "tag", "session").index(e[1]), e[0]))
    if around:
        near = {around} | {key for pair, _ in ranked if around in pair for key in pair}
        nodes = [node for node in nodes if node.key in near]
        ranked = [(pair, why) for pair, why in ranked if pair[0] in near and pair[1] in near]
    return Graph(tuple(nodes), tuple((a, b, why) for (a, b), why in ranked[:MAX_EDGES]))


def _targets(path: str, topic: Topic, home: Mapping[str, str]) -> Iterable[str]:
    """Topics that a topic's text points to."""
    import posixpath

    for match in _POINTER.finditer(topic.text):
        name, anchor = match[1].strip(), (match[2] or "").strip()
        if name:
            yield name if name.lower().endswith(".md") else f"{name}.md"
        elif anchor in home and ANY_ID.match(f"^{anchor}"):
            yield home[anchor]
    for match in _LINK.finditer(topic.text):
        if "://" not in match[1]:
            yield posixpath.normpath(posixpath.join(posixpath.dirname(path), match[1]))


# -- drawing ------------------------------------------------------------------------------------------------------


def place(graph: Graph) -> tuple[dict[str, tuple[float, float]], dict[str, tuple[float, float, float]], float, float]:
    """Positions by key, discs by group (x, y, radius), width and height, in user units."""
    degree = graph.degree
    groups: dict[str, list[Node]] = defaultdict(list)
    for node in graph.nodes:
        groups[node.group].append(node)
    step = max(TIGHT, min(LOOSE, 420 / math.sqrt(len(graph.nodes) or 1)))
    radius = {name: step * math.sqrt(len(nodes)) + 34 for name, nodes in groups.items()}
    order = sorted(groups, key=lambda name: (-len(groups[name]), name))
    width = max(980.0, 1.35 * math.sqrt(sum((2 * r + 20) ** 2 for r in radius.values())))
    width = max(width, 2 * max(radius.values(), default=0) + 40)
    spots: dict[str, tuple[float, float]] = {}
    discs: dict[str, tuple[float, float, float]] = {}
    x, y, row = 10.0, 10.0, 0.0
    for name in order:
        r = radius[name]
        if x > 10 and x + 2 * r > width:
            x, y, row = 10.0, y + row + 16, 0.0
        cx, cy = x + r, y + r + 18
        discs[name] = (cx, cy, r)
        ranked = sorted(groups[name], key=lambda node: (-degree[node.key], -node.weight, node.key))
        for i, node in enumerate(ranked):
            turn, far = i * 2.399963, step * math.sqrt(i + 0.3 * (len(ranked) > 1))  # the golden angle
            spots[node.key] = (cx + far * math.cos(turn), cy + far * math.sin(turn))
        x, row = x + 2 * r + 16, max(row, 2 * r + 18)
    return spots, discs, max((cx + r for cx, _, r in discs.values()), default=0.0) + 10, y + row + 20


def to_svg(graph: Graph, *, label: str = "Topics and what joins them", marked: frozenset[str] = frozenset()) -> str:
    """The picture; `marked` keys stand out."""
    spots, discs, width, height = place(graph)
    degree = graph.degree
    colour = {name: i % PALETTE for i, name in enumerate(sorted(discs))}
    dense = " dense" if len(graph.edges) > DENSE else ""
    out = [
        f'<svg class="graph{dense}" role="group" aria-label="{escape(label)}" viewBox="0 0 {width:.0f} {height:.0f}" '
        f'width="{width:.0f}" height="{height:.0f}">',
    ]
    names: list[Box] = []
    heads = []
    for name, (cx, cy, r) in discs.items():
        out.append(f'<circle class="disc" cx="{cx:.1f}" cy="{cy:.1f}" r="{r:.1f}"/>')
        heads.append(f'<text class="group" x="{cx:.1f}" y="{cy - r - 5:.1f}">{escape(name)}</text>')
        half = _wide(name, 14) / 2
        names.append((cx - half, cy - r - 18, cx + half, cy - r))
    number = {node.key: i for i, node in enumerate(graph.nodes)}
    for a, b, why in graph.edges:
        (ax, ay), (bx, by) = spots[a], spots[b]
        lift = 0.12 * math.hypot(bx - ax, by - ay)
        out.append(f'<path class="edge {why}" data-ends="{escape(f"{number[a]} {number[b]}")}" d="M{ax:.1f} {ay:.1f}Q{(ax + bx) / 2:.1f} {(ay + by) / 2 - lift:.1f} {bx:.1f} {by:.1f}"/>')
    ranked = sorted(graph.nodes, key=lambda n: (n.key not in marked, -degree[n.key], -n.weight, n.key))
    sizes = {node.key: min(11.0, 4 + 1.2 * math.sqrt(node.weight)) for node in ranked}
    dots: list[Box] = []
    for node in ranked:
        x, y = spots[node.key]
        r = sizes[node.key] * 0.8
        dots.append((x - r, y - r, x + r, y + r))
    out += heads
    hubs: Counter[str] = Counter()
    bare, named = [], []
    for node in ranked:
        x, y = spots[node.key]
        size = sizes[node.key]
        shown = _short(node.name)
        text = ""
        # The best connected of each group may write over lesser dots: without a name, a crowd says nothing.
        hubs[node.group] += 1
        hub = node.key in marked or hubs[node.group] <= HUBS
        box = _free(x, y, size, _wide(shown, 12), names if hub else [*names, *dots], width)
        if box:
            names.append(box)
            text = f'<text x="{box[0]:.1f}" y="{box[3] - 3:.1f}">{escape(shown)}</text>'
        said = f"{node.name}: {node.weight} {'topics' if node.group == 'tags' else 'memories'}, {degree[node.key]} links"
        shape = (f'<rect x="{x - size:.1f}" y="{y - size:.1f}" width="{2 * size:.1f}" height="{2 * size:.1f}" rx="2"/>'
                 if node.group == "tags" else f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{size:.1f}"/>')
        # A thousand stops of the Tab key help nobody: those without a written name are in the list below the picture.
        focus = "" if text else ' tabindex="-1"'
        (named if text else bare).append(
            f'<a class="node c{colour[node.group]}{" marked" if node.key in marked else ""}" href="{escape(node.url)}"'
            f'{focus} data-node="{number[node.key]}" aria-label="{escape(said)}"><title>{escape(said)}</title>{shape}{text}</a>'
        )
    return "".join([*out, *bare, *named, "</svg>"])  # names above dots; the Tab key finds the best connected first


def _free(
    x: float, y: float, size: float, wide: float, taken: list[Box], width: float
) -> Box | None:
    """A place for a name beside its node that covers nothing else; None if there is none."""
    for left, low in ((x + size + 2, y + 6), (x - size - 2 - wide, y + 6), (x - wide / 2, y - size - 1),
                      (x - wide / 2, y + size + 13)):
        box = (left, low - 13, left + wide, low)
        if left < 2 or left + wide > width - 2:
            continue
        if not any(box[0] < t[2] and t[0] < box[2] and box[1] < t[3] and t[1] < box[3] for t in taken):
            return box
    return None


def _wide(text: str, size: int) -> float:
    """About how wide a text is at a font size, in user units."""
    return sum(1.0 if unicodedata.east_asian_width(c) in "WF" else 0.58 for c in text) * size


def _short(name: str) -> str:
    return name if len(name) <= 26 else name[:25] + "…"
