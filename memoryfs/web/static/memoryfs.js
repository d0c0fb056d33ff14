// The page works without this file. It adds: "/" to search, Ctrl+S to save, the check while typing, the line to edit,
// and in the graph the links of the node that is pointed at.
"use strict";

document.addEventListener("keydown", (event) => {
  const field = /^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement?.tagName ?? "");
  if (event.key === "/" && !field && !event.ctrlKey && !event.metaKey && !event.altKey) {
    const search = document.querySelector("#q, #quick");
    if (search) { event.preventDefault(); search.focus(); search.select(); }
  }
});

const editor = document.querySelector("#editor");
if (editor) {
  const text = editor.elements.text;
  const shown = document.querySelector("#check");
  const before = text.value;
  let timer = 0, asked = 0, leaving = false;

  const line = Number(text.dataset.line);
  if (line > 0) {
    const lines = text.value.split("\n");
    const start = lines.slice(0, line - 1).join("\n").length + (line > 1 ? 1 : 0);
    text.focus();
    text.setSelectionRange(start, start + (lines[line - 1] ?? "").length);
    text.scrollTop = Math.max(0, text.scrollHeight * (line - 4) / lines.length);
  }

  const item = (words, severity) => {
    const li = document.createElement("li");
    li.dir = "auto";
    if (severity) {
      const badge = document.createElement("span");
      badge.className = `badge ${severity}`;
      badge.textContent = severity;
      li.append(badge, " ");
    }
    li.append(words);
    return li;
  };

  const check = async () => {
    const mine = ++asked;
    const body = new URLSearchParams({ csrf: editor.elements.csrf.value, path: editor.elements.path.value, text: text.value });
    let found;
    try {
      const answer = await fetch("/check", { method: "POST", body });
      if (!answer.ok) throw new Error(`${answer.status}`);
      found = await answer.json();
    } catch (error) {
      shown.replaceChildren(`The check did not work (${error.message}); nothing is lost.`);
      return;
    }
    if (mine !== asked) return;
    const head = document.createElement("p");
    head.textContent = `${found.memories} memories` + (found.writable ? "." : "; the file would be damaged.");
    const list = document.createElement("ul");
    for (const p of found.problems) list.append(item(`${p.line ? `line ${p.line}: ` : ""}${p.message} ${p.remedy ?? ""}`, p.severity));
    for (const words of found.summary) list.append(item(words));
    shown.replaceChildren(head, list);
  };

  text.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(check, 350); });
  editor.addEventListener("submit", () => { leaving = true; });
  document.addEventListener("keydown", (event) => {
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "s") {
      event.preventDefault();
      editor.requestSubmit(editor.querySelector("button[value=save]"));
    }
  });
  window.addEventListener("beforeunload", (event) => { if (!leaving && text.value !== before) event.preventDefault(); });
}

for (const graph of document.querySelectorAll(".graph")) {
  const edges = [...graph.querySelectorAll(".edge")].map((path) => [path, ...path.dataset.ends.split(" ")]);
  const nodes = new Map([...graph.querySelectorAll(".node")].map((node) => [node.dataset.node, node]));
  const point = (key) => {
    graph.classList.toggle("pointed", key !== undefined);
    for (const node of nodes.values()) node.classList.remove("on");
    nodes.get(key)?.classList.add("on");
    for (const [path, a, b] of edges) {
      const on = a === key || b === key;
      path.classList.toggle("on", on);
      if (on) { nodes.get(a)?.classList.add("on"); nodes.get(b)?.classList.add("on"); }
    }
  };
  for (const kind of ["mouseover", "focusin"]) graph.addEventListener(kind, (event) => point(event.target.closest(".node")?.dataset.node));
  for (const kind of ["mouseleave", "focusout"]) graph.addEventListener(kind, () => point(undefined));
}
