"""The import graph goes one way: read with `ast`, lazy imports included."""

from __future__ import annotations

import ast
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

# Lowest layer first; a module may import from its own layer's earlier modules and from layers before it.
LAYERS = [
    ["memoryfs.errors", "memoryfs.patterns", "memoryfs.model"],
    ["memoryfs.config", "memoryfs.render", "memoryfs.text", "memoryfs.exact", "memoryfs.secretrules", "memoryfs.secretvalues", "memoryfs.secretnames", "memoryfs.secretforms", "memoryfs.redact", "memoryfs.textfile"],
    ["memoryfs.scope", "memoryfs.runs", "memoryfs.gitfacts", "memoryfs.files", "memoryfs.frontmatter", "memoryfs.notation"],
    ["memoryfs.topic", "memoryfs.thread", "memoryfs.ledger"],
    ["memoryfs.inbox", "memoryfs.usage", "memoryfs.volatile", "memoryfs.staleness"],
    ["memoryfs.topic_edit"],
    ["memoryfs.threadstore", "memoryfs.importers", "memoryfs.models"],
    ["memoryfs.index"],
    ["memoryfs.recall"],
    ["memoryfs.edits", "memoryfs.briefing"],
    ["memoryfs.briefing_cache"],
    ["memoryfs.exporters", "memoryfs.notes"],
    ["memoryfs.reading", "memoryfs.filewise", "memoryfs.store", "memoryfs.scoped", "memoryfs.shared"],
    ["memoryfs.evaluate", "memoryfs.audit", "memoryfs.review", "memoryfs.checks", "memoryfs.doctor"],
    ["memoryfs.cli", "memoryfs.mcp_server", "memoryfs.harness", "memoryfs.web", "memoryfs.__main__"],
    ["organizer"],
]


def _modules() -> dict[str, Path]:
    found = {}
    for package in ("memoryfs", "organizer"):
        for path in sorted((ROOT / package).rglob("*.py")):
            parts = path.relative_to(ROOT).with_suffix("").parts
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def _imports(name: str, path: Path, modules: dict[str, Path]) -> set[str]:
    """Project modules that `path` imports at run time (imports under TYPE_CHECKING are for readers only)."""
    found: set[str] = set()

    def visit(node: ast.AST) -> None:
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            return
        if isinstance(node, ast.Import):
            found.update(a.name for a in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{name}: relative import"
            found.update(f"{node.module}.{a.name}" if f"{node.module}.{a.name}" in modules else str(node.module)
                         for a in node.names)
        for child in ast.iter_child_nodes(node):
            visit(child)

    visit(ast.parse(path.read_text(encoding="utf-8")))
    return {f for f in found if f in modules and f != name}


def _layer(module: str) -> int:
    matches = [i for i, names in enumerate(LAYERS) for n in names if module == n or module.startswith(n + ".")]
    assert matches, f"{module} has no place in LAYERS"
    return matches[-1]


def test_no_module_imports_from_a_layer_above():
    modules = _modules()
    upward = [
        f"{name} -> {target}"
        for name, path in modules.items() if name != "memoryfs"
        for target in _imports(name, path, modules) if target != "memoryfs" and _layer(target) > _layer(name)
    ]
    assert not upward, upward


def test_memoryfs_never_imports_organizer():
    modules = _modules()
    for name, path in modules.items():
        if name.startswith("memoryfs"):
            assert not [t for t in _imports(name, path, modules) if t.startswith("organizer")], name


def test_no_import_cycles():
    modules = _modules()
    graph = {name: _imports(name, path, modules) - {"memoryfs"} for name, path in modules.items()}
    graph["memoryfs"] = set()  # its lazy `MemoryStore` attribute is the one door upwards
    state: dict[str, int] = {}

    def visit(name: str, trail: tuple[str, ...]) -> None:
        if state.get(name) == 2:
            return
        assert state.get(name) != 1, " -> ".join((*trail, name))
        state[name] = 1
        for target in sorted(graph[name]):
            visit(target, (*trail, name))
        state[name] = 2

    for name in graph:
        visit(name, ())


def test_every_module_says_what_comes_in_and_what_goes_out():
    for name, path in _modules().items():
        doc = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
        assert doc.startswith("In: ") and "Out: " in doc, f"{name}: {doc[:60]!r}"


def test_no_file_is_longer_than_400_lines():
    long = {n: k for n, p in _modules().items() if (k := len(p.read_text(encoding="utf-8").splitlines())) > 400}
    assert not long, long
