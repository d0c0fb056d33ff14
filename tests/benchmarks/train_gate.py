"""In: labelled lines, the transcripts they stand in, our own labelled lines. Out: the gate's weights, and how good they are.

    python tests/benchmarks/train_gate.py --lines LINES.jsonl [MORE.jsonl] --transcripts DIR [--embed] [--out organizer/data/gate.json]

LINES holds objects with `source`, `line`, `role`, `text`, `keep` and optionally `enriched`, `language` (the labels decide; the
lines are read, never copied). Measured is the AUC of keep / skip in cross-validation by source; the weights written are fitted
on everything, moved so that a probability means what it says where lines are taken as they come. The embedding classifier (--embed) is
fitted on organizer/data/lasting_lines.jsonl alone: lines of ours of which one half lasts and the other only looks like it. Logistic
regression with an L2 prior by Newton's method; needs numpy.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import defaultdict
from pathlib import Path

import numpy as np

from memoryfs.importers.base import Turn
from memoryfs.importers.formats import detect
from memoryfs.model import Event, event_id
from memoryfs.models.protocols import Embedder
from organizer import gate as gates
from organizer.rules.candidates import sightings
from organizer.rules.features import UNKNOWN, features
from organizer.rules.sentences import clean

OWN = Path(gates.FILE).with_name("gate_lines.jsonl")
LASTING = Path(gates.FILE).with_name("lasting_lines.jsonl")
SCALE, PULL = 4.0, 2.0  # of the vectors, and the penalty on their weights
LOWERED = 1.165  # below the middle, by hand: with vectors about as much is kept as without (46 and 42 memories of the coding project)
NEUTRAL = gates.Gate({})


def read(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def threads(path: Path) -> list[list[Event]]:
    """The events of each session in a transcript, with physical lines."""
    form = detect(path)
    if form is None:
        return []
    found: dict[str, list[Event]] = defaultdict(list)
    for item in form.parse(path, "utf-8"):
        if isinstance(item, Turn):
            d = item.draft
            events = found[item.session]
            events.append(Event(item.session or "x", len(events), event_id("x", d.role, d.text), d.role, d.kind, d.time, d.text,
                                str(path), d.line, dict(d.metadata)))
    return list(found.values())


def in_place(lines: list[dict], root: Path) -> tuple[list[dict], int]:
    """The features of each line, with its context where it is found in its transcript; and how many were found."""
    wanted: dict[str, list[int]] = defaultdict(list)
    for i, line in enumerate(lines):
        wanted[line["source"]].append(i)
    rows: list[dict | None] = [None] * len(lines)
    for source, indexes in wanted.items():
        places = defaultdict(list)
        for events in threads(root / source):
            for s in sightings(events, NEUTRAL):
                places[s.unit.clean].append(s)
        for i in indexes:
            text = clean(lines[i]["text"])
            near = places.get(text) or [s for t, group in places.items() if text in t or (len(t) > 20 and t in text) for s in group]
            if near:
                best = min(near, key=lambda s: abs(s.event.line - lines[i]["line"]))
                rows[i] = features(text, lines[i]["role"], best.context)
    known = sum(r is not None for r in rows)
    return [r or features(clean(x["text"]), x["role"], UNKNOWN) for r, x in zip(rows, lines, strict=True)], known


def matrix(rows: list[dict], names: list[str]) -> np.ndarray:
    index = {n: i for i, n in enumerate(names)}
    out = np.zeros((len(rows), len(names)))
    for r, row in enumerate(rows):
        for name, value in row.items():
            out[r, index[name]] = value
    return out


def fit(x: np.ndarray, y: np.ndarray, prior: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """The L2-regularised logistic regression; `prior` is the penalty of each column."""
    beta = np.zeros(x.shape[1])
    for _ in range(60):
        p = 1 / (1 + np.exp(-np.clip(x @ beta, -30, 30)))
        gradient = x.T @ (weight * (p - y)) + prior * beta
        step = np.linalg.solve((x * (weight * p * (1 - p))[:, None]).T @ x + np.diag(prior), gradient)
        beta -= step
        if np.abs(step).max() < 1e-7:
            break
    return beta


def auc(scores: np.ndarray, y: np.ndarray) -> float:
    yes, no = scores[y == 1], scores[y == 0]
    if not len(yes) or not len(no):
        return float("nan")
    return float(((yes[:, None] > no[None, :]) + 0.5 * (yes[:, None] == no[None, :])).mean())


def held_out(x: np.ndarray, y: np.ndarray, prior: np.ndarray, weight: np.ndarray, group: np.ndarray) -> np.ndarray:
    """The log-odds of each line by a model that saw nothing of its source."""
    out = np.zeros(len(y))
    for name in sorted(set(group)):
        test = group == name
        out[test] = x[test] @ fit(x[~test], y[~test], prior, weight[~test])
    return out


def to_base_rate(scores: np.ndarray, y: np.ndarray) -> float:
    """What to add to the log-odds for their mean probability to be the share of lines kept, where lines are taken as they come."""
    low, high = -6.0, 6.0
    for _ in range(50):
        middle = (low + high) / 2
        if (1 / (1 + np.exp(-(scores + middle)))).mean() < y.mean():
            low = middle
        else:
            high = middle
    return low


def by_meaning(embedder: Embedder, texts: list[str], share: float) -> tuple[dict, np.ndarray]:
    """The embedding classifier as gate.json holds it, and what it adds to the log-odds of `texts`, of which the middle one loses LOWERED."""
    own = read(LASTING)
    vectors = embedder.embed_passages([clean(line["text"]) for line in own])
    y = np.array([line["keep"] for line in own], dtype=float)
    middle = vectors.mean(axis=0)
    wide = np.hstack([np.ones((len(own), 1)), (vectors - middle) * SCALE])
    beta = fit(wide, y, np.concatenate([[0.01], np.full(vectors.shape[1], PULL)]), np.ones(len(own)))
    weights = beta[1:] * SCALE
    found = embedder.embed_passages(texts) @ weights
    bias = -float(np.median(found)) - LOWERED
    data = {"fingerprint": embedder.fingerprint, "share": share, "bias": round(bias, 4), "weights": [round(float(w), 3) for w in weights]}
    return data, (found + bias) * share


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--lines", type=Path, required=True, nargs="+", help="the first one is measured on, all are learned from")
    parser.add_argument("--transcripts", type=Path, required=True)
    parser.add_argument("--own", type=Path, default=OWN)
    parser.add_argument("--embed", action="store_true", help="train the embedding classifier too (needs the e5 extra)")
    parser.add_argument("--share", type=float, default=0.25, help="weight of the embedding classifier in the sum")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--l2", type=float, default=4.0)
    args = parser.parse_args()

    dev, own = [line for path in args.lines for line in read(path)], read(args.own)
    rows, known = in_place(dev, args.transcripts)
    measured = np.arange(len(dev) + len(own)) < len(read(args.lines[0]))
    rows += [features(clean(line["text"]), line["role"], UNKNOWN) for line in own]
    lines = dev + own
    mine = np.array([i >= len(dev) for i in range(len(lines))])
    group = np.array([line["source"] for line in dev] + ["own " + line["language"] for line in own])
    y = np.array([line["keep"] for line in lines], dtype=float)
    enriched = np.array([bool(line.get("enriched")) for line in lines])
    names = sorted({n for row in rows for n in row})
    x = matrix(rows, names)
    prior = np.full(len(names), args.l2)
    prior[names.index("bias")] = 0.01
    weight = np.where(measured, 1.0, np.where(mine, 0.6, 0.5))
    print(f"{len(dev)} lines ({known} found in their place), {len(own)} own, {len(names)} features")
    score = held_out(x, y, prior, weight, group)
    report = {"lines": len(lines), "auc_by_source": round(auc(score[measured], y[measured]), 3)}
    plain = measured & ~enriched
    print(f"AUC by source: all {auc(score[measured], y[measured]):.3f}, without picked lines {auc(score[plain], y[plain]):.3f}; own lines:",
          *(f"{g[4:]} {auc(score[group == g], y[group == g]):.3f}" for g in sorted(set(group[mine]))))
    bare = matrix([features(clean(line["text"]), line["role"], UNKNOWN) for line in lines], sorted({*names}))
    print(f"AUC without context: {auc(held_out(bare, y, prior, weight, group)[measured], y[measured]):.3f}")

    embedding = None
    if args.embed:
        from memoryfs.config import Models
        from memoryfs.models import open_embedder

        embedder = open_embedder(Models())
        if embedder is None:
            print("no embedder", file=sys.stderr)
            return 1
        embedding, meant = by_meaning(embedder, [clean(line["text"]) for line in lines], args.share)
        together = round(auc((score + meant)[measured], y[measured]), 3)
        print(f"AUC of the embedding classifier: {auc(meant[measured], y[measured]):.3f}; together, share {args.share:.2f}: {together}")
        report["auc_with_embedding"] = together

    shift = to_base_rate(score[plain], y[plain])
    print(f"base rate {y[plain].mean():.2f}: log-odds moved by {shift:+.2f}")
    score = score + shift
    base = score[plain]
    print("\nshare kept  precision  recall   (lines as they come, picked ones left out)")
    for part in (0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4):
        cut = np.quantile(base, 1 - part)
        kept = base >= cut
        print(f"{part:>9.2f} {y[plain][kept].mean():>10.2f} {y[plain][kept].sum() / y[plain].sum():>8.2f}   from p = {1 / (1 + np.exp(-cut)):.2f}")
    beta = fit(x, y, prior, weight)
    beta[names.index("bias")] += shift
    if args.out:
        old = json.loads(args.out.read_text(encoding="utf-8")) if args.out.exists() else {}
        data = {
            "about": "Weights of the write gate; made by tests/benchmarks/train_gate.py. Thresholds are probabilities, set by hand.",
            "trained": report,
            "thresholds": old.get("thresholds", {"keep": 0.6, "inbox": 0.4, "detail": 0.5}),
            "generator": old.get("generator", 0.25),
            "weights": {n: round(float(b), 3) for n, b in zip(names, beta, strict=True)},
            "embedding": embedding or old.get("embedding"),
        }
        text = json.dumps({k: v for k, v in data.items() if k != "embedding"}, ensure_ascii=False, indent=1)
        text = text[:-2] + ',\n "embedding": ' + json.dumps(data["embedding"]) + "\n}\n"
        args.out.write_text(text, encoding="utf-8")
    for name, value in sorted(zip(names, beta, strict=True), key=lambda p: -abs(p[1]))[:24]:
        print(f"{value:+.2f} {name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
