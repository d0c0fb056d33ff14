"""In: the kept candidates of one session and the topics there are. Out: where each belongs: a topic file, old or new.

A person looks under the project and the subject: so a statement goes to the topic of its repository whose words it
shares; what is left of a session opens one new topic, named by the words that set the session apart, when there is
enough of it, and else goes to the project's own page. Wishes that hold everywhere go to `preferences/`, people to
`contacts/`, machines and addresses to `infrastructure/`. Names are readable slugs and never change afterwards.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from memoryfs.textfile import slug
from organizer.nouns import Candidate
from organizer.subject import About, Frequency, fits, subject, terms

SURE = 0.6  # share of a statement's term weight found in a topic's words from which it belongs there, whatever else
SURE_WORDS = 4  # ... if it shares at least so many
JOIN = 0.34  # ... from which it belongs there unless it names what its own session is about
NEAREST = 0.20  # ... from which a statement that opens no topic of its own still goes to the nearest
OPENS = 3  # statements that must be left over to open a topic of their own
ROOM = 0.85  # of `topic_max_bytes`: a topic fuller than this takes nothing new
_LINE_BYTES = 420  # what one memory with its footnote takes in a topic file, about

_EVERYWHERE = re.compile(
    r"(?<![a-z0-9])(?:always|never|from now on|in general|every time|whenever|remember to|prefer|preference|"
    r"don'?t ever|as a rule|my style|i like|i hate|i want you to|avoid)(?![a-z0-9])"
    r"|いつも|必ず|今後|常に|絶対|好み|항상|앞으로|반드시|절대|선호|总是|永远|以后|今后|务必|偏好",
    re.IGNORECASE,
)
_HERE = re.compile(r"(?<![a-z0-9])(?:in|for|of) this (?:repo(?:sitory)?|project|app|package)(?![a-z0-9])|この(?:リポジトリ|プロジェクト)|이 (?:저장소|프로젝트)|这个(?:仓库|项目)", re.I)
# The pages of preferences/, by what they are about; the first that matches.
_PREFERENCE_PAGES: tuple[tuple[str, str, re.Pattern[str]], ...] = (
    ("Git and reviews", "git-and-reviews", re.compile(
        r"(?<![a-z0-9])(?:commits?|branch(?:es)?|rebase|merge|stash|push|pull request|prs?|review(?:s|ers?)?|git|gh)(?![a-z0-9])|コミット|ブランチ|커밋|브랜치|提交|分支", re.I)),
    ("Testing", "testing", re.compile(r"(?<![a-z0-9])(?:tests?|coverage|mocks?|fixtures?|pytest|jest|vitest|e2e|assert\w*)(?![a-z0-9])|テスト|테스트|测试", re.I)),
    ("Communication", "communication", re.compile(
        r"(?<![a-z0-9])(?:answer|reply|replies|tone|language|explain|concise|short|verbose|emoji|english|japanese|korean|chinese|summar\w+|tell me|ask me)(?![a-z0-9])"
        r"|日本語|返事|返信|説明|簡潔|답변|설명|한국어|간결|回答|中文|简洁", re.I)),
    ("Tooling", "tooling", re.compile(
        r"(?<![a-z0-9])(?:pnpm|npm|yarn|bun|pip|uv|poetry|cargo|make|mise|docker|editor|vim|vscode|lsp|formatter|lint(?:er|ers)?|prettier|eslint|ruff|black|"
        r"tools?|install|package manager|shell|terminal|cli|command)(?![a-z0-9])|ツール|도구|工具", re.I)),
    ("Code style", "code-style", re.compile(
        r"(?<![a-z0-9])(?:nam(?:e|ing)|style|indent|tabs|spaces|comments?|types?|functions?|constants?|imports?|helpers?|abstractions?|duplicat\w+|refactor|"
        r"readab\w+|docstrings?|literal)(?![a-z0-9])|命名|コメント|스타일|주석|注释|风格", re.I)),
)
_CONTACT = re.compile(
    r"(?<![a-z0-9])(?:maintainer|product owner|project manager|team lead|tech lead|cto|ceo|phone|reach (?:him|her|them)|contact (?:is|person)|"
    r"is responsible for|works? (?:at|for))(?![a-z0-9])|担当者?は|連絡先|責任者|담당자|연락처|负责人|联系人",
    re.IGNORECASE,
)
_INFRASTRUCTURE = re.compile(
    r"(?<![a-z0-9])(?:servers?|hosts?|hostname|dns|vpn|vms?|kubernetes|k8s|docker|compose|nginx|caddy|postgres(?:ql)?|mysql|redis|s3|bucket|"
    r"deploy(?:s|ed|ment)?|staging|production|listens?|ports?|tls|certificates?|domain|cron|backup|terraform|ansible|ci|runner|resolv\.conf|"
    r"databases?|clusters?|load balancer|firewall|proxy)(?![a-z0-9])"
    r"|サーバー?|ポート|本番環境?|デプロイ|データベース|서버|포트|배포|데이터베이스|운영|服务器|端口|部署|数据库|生产环境",
    re.IGNORECASE,
)
_PROCEDURE = re.compile(
    r"(?<![a-z0-9])(?:how to|to (?:release|deploy|publish|set up|install|reproduce|build|migrate|restore)(?![a-z0-9]).{0,80}(?<![a-z0-9])(?:run|use|execute|call|first)|steps? (?:to|for)|"
    r"then run|run .{1,60} (?:before|after|to))(?![a-z0-9])|手順|手顺|절차|步骤",
    re.IGNORECASE,
)


# Exact values that tie a wish to one project.
_OF_ONE_PROJECT = frozenset({"path", "identifier", "env", "hash", "sql", "regex"})


@dataclass(frozen=True, slots=True)
class Place:
    """A topic file: relative path, title, and whether it is to be made. `terms` are the words that name it."""

    path: str
    title: str
    new: bool = False
    terms: tuple[str, ...] = ()


@dataclass
class Shelf:
    """A topic as placing sees it: `weights` counts its terms, those of title, tags and hints three times. `into` is the
    path of the topic that it was merged into, "" for one that stands."""

    path: str
    title: str
    repo: str = ""
    bytes: int = 0
    files: tuple[str, ...] = ()
    weights: Counter[str] = field(default_factory=Counter)
    into: str = ""

    @property
    def category(self) -> str:
        return self.path.split("/", 1)[0] if "/" in self.path else ""

    def learn(self, text: str, times: int = 1) -> None:
        for term in set(terms(text)):
            self.weights[term] += times


def category_of(candidate: Candidate, about: About, categories: Sequence[str]) -> str:
    """The folder a statement belongs under by its kind, words and exact values; always one of `categories`."""
    text = f"{candidate.summary} {candidate.quote}"
    kinds = {v.kind for v in candidate.values}
    choice = "projects" if about.repo else {"task": "tasks", "instruction": "preferences"}.get(candidate.kind, "notes")
    by_user = candidate.kind == "instruction" and candidate.stated_by == "user"
    everywhere = _EVERYWHERE.search(text) and not kinds & _OF_ONE_PROJECT and not _HERE.search(text)
    if by_user and everywhere and (not about.repo or any(p.search(candidate.summary) for _, _, p in _PREFERENCE_PAGES)):
        choice = "preferences"
    if candidate.kind == "fact":
        if "email" in kinds or _CONTACT.search(candidate.summary):
            choice = "contacts" if _CONTACT.search(candidate.summary) else choice
        elif len({m[0].lower() for m in _INFRASTRUCTURE.finditer(candidate.summary)}) >= (1 if kinds & {"port", "url"} else 2):
            choice = "infrastructure"
        elif not about.repo and any("decision" in w for w in candidate.why) and "vague" not in candidate.why:
            choice = "decisions"
    if choice in ("projects", "notes") and candidate.kind == "instruction" and "command" in kinds and _PROCEDURE.search(text):
        choice = "procedures"
    if choice in categories:
        return choice
    return "notes" if "notes" in categories else categories[0] if categories else "notes"


def place(
    candidates: Sequence[Candidate], about: About, shelves: Mapping[str, Shelf], frequency: Frequency, *,
    categories: Sequence[str], max_bytes: int = 65536,
) -> list[Place]:
    """One place for each candidate, in order. Pure: nothing is added to `shelves`; equal input, equal output."""
    chosen: list[Place | None] = [None] * len(candidates)
    weak: list[int] = []
    taken: Counter[str] = Counter()
    best: dict[int, tuple[float, Shelf] | None] = {}
    for i, candidate in enumerate(candidates):
        category = category_of(candidate, about, categories)
        if category in ("preferences", "contacts", "infrastructure", "procedures", "tasks", "decisions"):
            page = _preference_page(candidate) if category == "preferences" else _page_of(category, about)
            chosen[i] = _part_of(page, candidate, about, shelves, frequency) or page
        else:
            best[i] = found = _best(candidate, about, category, shelves, frequency, max_bytes, taken)
            if found and found[0] >= SURE and len(set(terms(candidate.summary)) & found[1].weights.keys()) >= SURE_WORDS:
                chosen[i] = Place(found[1].path, found[1].title)
                taken[found[1].path] += _LINE_BYTES
            else:
                weak.append(i)
    if weak:
        category = "projects" if about.repo and "projects" in categories else category_of(candidates[weak[0]], about, categories)
        own = _continued(about, category, shelves, max_bytes)
        if own is None and len(weak) >= OPENS:
            own = _own_topic([candidates[i] for i in weak], about, category, frequency)
        said = {i: frequency.weigh(candidates[i].summary) for i in weak}
        together = Counter(term for weighed in said.values() for term in weighed)
        there = shelves[own.path].weights if own and own.path in shelves else {}
        for i in weak:
            others = together - Counter(said[i].keys())
            within = max(fits(said[i], words) for words in (others, there)) if own else 0.0
            chosen[i] = _choose(candidates[i], own, within, best[i]) or _page_of(category, about)
    return [_settled(p, shelves, max_bytes) for p in chosen if p is not None]


def _choose(candidate: Candidate, own: Place | None, within: float, near: tuple[float, Shelf] | None) -> Place | None:
    """The session's own topic where the statement names its subject or shares its words, else the nearest topic."""
    names = {t for name in own.terms for t in terms(name)} if own else set()
    if own and (names & set(terms(candidate.summary)) or (near and within >= near[0] - 0.1)):
        return own
    if near and near[0] >= (JOIN if own else NEAREST):
        return Place(near[1].path, near[1].title)
    return own


def _continued(about: About, category: str, shelves: Mapping[str, Shelf], max_bytes: int) -> Place | None:
    """The topic that this session goes on with: the one whose sessions edited most of the files that it edits."""
    edited = set(about.edited)
    page = _page_of(category, about).path
    shared = {
        path: len(edited & set(shelf.files)) for path, shelf in shelves.items()
        if shelf.category == category and shelf.repo == about.repo and shelf.bytes < max_bytes * ROOM
        and path != page
    }
    path = min(shared, key=lambda p: (-shared[p], p), default="")
    if not path or shared[path] * 2 < len(edited) or not shared[path]:
        return None
    return Place(path, shelves[path].title, terms=tuple(t for t in re.split(r"[ ,·]+", shelves[path].title) if t))


def _best(
    candidate: Candidate, about: About, category: str, shelves: Mapping[str, Shelf], frequency: Frequency,
    max_bytes: int, taken: Counter[str],
) -> tuple[float, Shelf] | None:
    wanted = frequency.weigh(" ".join((candidate.summary, candidate.topic_key, *candidate.query_hints)))
    page = _page_of(category, about).path
    ranked = [
        (fits(wanted, shelf.weights), shelf)
        for path, shelf in sorted(shelves.items())
        if shelf.category == category and shelf.repo == about.repo
        and path != page and shelf.bytes + taken[path] < max_bytes * ROOM
    ]
    return max(ranked, key=lambda r: r[0], default=None)


def _part_of(
    page: Place, candidate: Candidate, about: About, shelves: Mapping[str, Shelf], frequency: Frequency
) -> Place | None:
    """The topic that was split off the page and that the statement is nearer to than to the page itself."""
    wanted = frequency.weigh(" ".join((candidate.summary, *candidate.query_hints)))
    stem = page.path.removesuffix(".md") + "-"
    repo = "" if page.path.startswith("preferences/") else about.repo
    parts = [s for path, s in sorted(shelves.items()) if path.startswith(stem) and s.repo in ("", repo) and not path[len(stem):-3].isdigit()]
    nearest = max(parts, key=lambda s: fits(wanted, s.weights), default=None)
    own = fits(wanted, shelves[page.path].weights) if page.path in shelves else 0.0
    if nearest is None or fits(wanted, nearest.weights) < max(JOIN, own):
        return None
    return Place(nearest.path, nearest.title)


def _preference_page(candidate: Candidate) -> Place:
    for title, name, pattern in _PREFERENCE_PAGES:
        if pattern.search(candidate.summary):
            return Place(f"preferences/{name}.md", title, True)
    return Place("preferences/general.md", "General preferences", True)


def _page_of(category: str, about: About) -> Place:
    """The category's page for the repository, or its general one."""
    if about.repo:
        title = about.repo if category == "projects" else f"{about.repo} · {category}"
        return Place(f"{category}/{slug(about.repo)}.md", title, True)
    return Place(f"{category}/general.md", f"General {category}", True)


def _own_topic(left: Sequence[Candidate], about: About, category: str, frequency: Frequency) -> Place:
    names = subject(left, about, frequency)
    if not names:
        return _page_of(category, about)
    spoken = ", ".join(names)
    title = f"{about.repo} · {spoken}" if about.repo else spoken[:1].upper() + spoken[1:]
    name = slug("-".join(filter(None, (about.repo, *names))), max_bytes=60)
    return Place(f"{category}/{name}.md", title, True, tuple(names))


def _settled(place: Place, shelves: Mapping[str, Shelf], max_bytes: int) -> Place:
    """The place itself; where its file is full, the next one of its name."""
    path, number = place.path, 1
    for _ in range(8):  # what was merged into another topic goes on there
        path = shelves[path].into if path in shelves and shelves[path].into else path
    place = replace(place, path=path)
    while path in shelves and shelves[path].bytes >= max_bytes * ROOM:
        number += 1
        path = f"{place.path.removesuffix('.md')}-{number}.md"
    if path in shelves:
        return Place(path, shelves[path].title, False, place.terms)
    title = place.title if number == 1 else f"{place.title} ({number})"
    return Place(path, title, True, place.terms)
