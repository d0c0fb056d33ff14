"""The graph: what is joined, where it stands, what can be read and clicked."""

from __future__ import annotations

import random
import re
import time

from memoryfs.topic import parse
from memoryfs.web import graph


def _topics(count: int, seed: int = 1):
    rnd = random.Random(seed)
    names = [f"{rnd.choice(['projects', 'contacts', 'decisions'])}/t{i}.md" for i in range(count)]
    out = {}
    for i, name in enumerate(names):
        links = " ".join(f"[[{rnd.choice(names).removesuffix('.md')}]]" for _ in range(rnd.randint(0, 3)))
        text = f"---\ntitle: {'データ基盤' if i % 5 == 0 else 'Topic'} {i}\ntags: [tag{rnd.randint(0, 30)}]\n---\n{links}\n\n## Facts\n- fact {i}\n"
        out[name] = parse(text.encode(), name)
    return out


def test_links_tags_and_sessions_join():
    made = {
        "a.md": b"---\ntags: [x, alone]\nsource_range: [{thread: 2026-01-01-aaaaaa, start: 0, end: 3}]\n---\n[[p/b]] and [c](p/c.md#part)\n",
        "p/b.md": b"---\ntags: [x]\n---\n## Facts\n- b ^m-bbb111\n",
        "p/c.md": b"see [[#^m-bbb111]], [[nowhere]], [out](https://e.com/x.md)\n",
        "d.md": b"---\nsource_range: [{thread: 2026-01-01-aaaaaa, start: 9, end: 9}]\n---\n",
    }
    built = graph.build({path: parse(data, path) for path, data in made.items()})
    assert set(built.edges) == {
        ("a.md", "p/b.md", "link"), ("a.md", "p/c.md", "link"), ("p/b.md", "p/c.md", "link"), ("#x", "a.md", "tag"),
        ("#x", "p/b.md", "tag"), ("a.md", "d.md", "session"),
    }
    assert [n.key for n in built.nodes if n.group == "tags"] == ["#x"], "a tag of one topic joins nothing"


def test_the_neighbourhood_of_a_topic():
    topics = _topics(60)
    around = next(iter(topics))
    near = graph.build(topics, around=around)
    keys = {n.key for n in near.nodes}
    assert around in keys and len(keys) < 40
    assert all(a in keys and b in keys for a, b, _ in near.edges)


def test_a_thousand_topics_are_drawn_fast_and_stay_readable():
    topics = _topics(1000)
    start = time.perf_counter()
    built = graph.build(topics)
    svg = graph.to_svg(built)
    assert time.perf_counter() - start < 5
    assert svg == graph.to_svg(graph.build(dict(reversed(topics.items())))), "the same topics give the same picture"
    spots, discs, width, height = graph.place(built)
    assert len(spots) == len(built.nodes) >= 1000
    points = sorted(spots.values())
    for i, (x, y) in enumerate(points):
        assert 0 < x < width and 0 < y < height
        for other in points[i + 1 : i + 60]:
            assert (x - other[0]) ** 2 + (y - other[1]) ** 2 > 8**2, "no two nodes on one spot"
    circles = list(discs.values())
    for i, (x, y, r) in enumerate(circles):
        assert all((x - a) ** 2 + (y - b) ** 2 >= (r + s) ** 2 for a, b, s in circles[i + 1 :]), "groups do not overlap"
    links = re.findall(r'<a class="node[^"]*" href="([^"]+)"', svg)
    assert len(links) == len(built.nodes) and all(link.startswith(("/topics/", "/topics?tag=")) for link in links)
    named = re.findall(r'<text x="([\d.]+)" y="([\d.]+)">([^<]+)</text>', svg)
    assert 40 < len(named) < 400
    boxes = [(float(x), float(y) - 9, float(x) + graph._wide(text, 12), float(y)) for x, y, text in named]
    assert not [1 for i, a in enumerate(boxes) for b in boxes[i + 1 :] if a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]]


def test_names_are_text_in_the_picture():
    topics = {"a.md": parse(b"---\ntitle: '</svg><script>x</script>'\n---\n", "a.md")}
    assert "<script" not in graph.to_svg(graph.build(topics))


def test_no_topics_no_harm():
    assert graph.to_svg(graph.build({})).startswith("<svg")
