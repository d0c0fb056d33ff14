"""`recall --file`, as a person calls it."""

from __future__ import annotations


def test_recall_about_a_file_needs_no_query(run, store, tmp_path):
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "gate.py").write_text("x")
    run("--store", store, "remember", "Never open src/gate.py to port 80", "--kind", "instruction")
    shown = run("--store", store, "recall", "--file", "src/gate.py")
    assert shown.code == 0 and "About src/gate.py" in shown.out and "instruction, of today; " in shown.out
    assert run("--store", store, "recall", "--file", "src/none.py").code == 5
    assert run("--store", store, "recall").code == 2
