"""In: a weighed candidate, and what became of its session. Out: why it will not last beyond it, or "".

The gate weighs a sentence by itself; this looks at what a reader finds a month later: a sentence that names nothing, a request that
was done with once it was done, a state that the session then changed, a small edit that the diff tells, what the assistant was
about to do or only supposed, and general knowledge from a talk in which nothing was worked on. Each rule is one function.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from memoryfs.model import Event
from memoryfs.patterns import lazy
from memoryfs.recall import changes
from organizer.nouns import Candidate
from organizer.rules.candidates import readable
from organizer.rules.cues import cues
from organizer.rules.features import words
from organizer.rules.hints import content_words
from organizer.verify import DIGITS, NEGATION, stems

PROSE = 2  # words outside code spans that a statement has
OBJECT = 80  # characters after the verb that tell what an edit was about
SYMBOLS = 0.12  # share of a user's sentence from which it is pasted code
ALONE = 200  # characters: what is longer explains itself
ESSAY = 80  # words of a message that explains at length
FULLER = 0.65  # share of a statement's words that a fuller one holds
DONE = 0.5  # share of a task's words that a later report must hold

_FILLERS = r"^\W*(?:(?:and|but|so|also|yes|yeah|no|ok(?:ay)?|alright|great|good|then|now|basically|actually|again|hmm+|well|please|sorry|next|first|finally|lastly)\b[,.:!]* )*"
_ALWAYS = lazy(
    r"\b(?:always|never|every ?time|in (?:the )?future|whenever|from now on|going forward|as a rule|by default|convention|policy|must|(?:after|as|with) (?:each|every)|(?:before|after|when) (?:you|we|a|any|each|every|\w+ing))\b"
    r"|必ず|常に|絶対|いつも|今後|毎回|항상|반드시|절대|앞으로|마다|必须|始终|永远|一律|以后|今后|务必|每次", re.I)
_WHY = lazy(
    r"\b(?:because|since|caused? by|due to|root cause|the cause|reason|that.s why|so that)\b|ため|ので|原因|理由|때문|원인|이유|因为|由于", re.I)

# --- it names nothing -----------------------------------------------------------------------------------------------

_EXPLETIVE = lazy(rf"{_FILLERS}it(?:.s| is| was| does| would| might)* (?:\w+ )?(?:feels? like|seems?|looks? like|makes? sense|important|better|best|possible|impossible|fine|enough|clear)\b", re.I)
_POINTS = lazy(
    rf"{_FILLERS}(?:it|they|them|both (?:of|are|were|should|need|have)|this(?! is (?:an?|the|our|my)\b)|that|these|those)\b"
    rf"|{_FILLERS}the (?:function|method|tests?|file|change|code|script|section|fix|issue|problem|feature|class|command|value|fields?|page|message|output|result|approach|former|latter|first|second|other|rest)\b(?! `)"
    rf"|{_FILLERS}for (?:it|this|that|these|those|them)\b|{_FILLERS}if (?:we|you)(?:.re| are)? (?:going to )?do (?:this|that|it|so)\b"
    rf"|{_FILLERS}(?:i|we)(?:.ve)? (?:fixed|did|changed|updated|added|removed|tested|checked) (?:it|this|that|these|those|them|both)\b"
    r"|^(?:これ|それ|あれ|この件|その件|そちら)|^(?:이것|그것|이거|그거|이건|그건)|^(?:[这那]个?(?:是|要|需|应|不|会|也|很)|它|这样|那样)", re.I)
_NAME = lazy(r"`[^`]+`|[a-z]+[A-Z]\w*|[A-Z]\w*[A-Z]\w*|\w+_\w+|\w+\(\)|\w*/\w+[/.]\w+|--?[a-z]\w|\b\w+\.\w{1,5}\b|(?<=[a-z,] )[A-Z][a-z]+|\b[a-z]+-[a-z]+\b|[ァ-ー]{3,}|[A-Za-z]{2,}(?=[\u3040-\u9fff가-힣])")
_ASIDE = lazy(r"^\s*[（(](?!\w{1,2}\))")
_LISTED = lazy(r"^\W*here(?:.s| is| are) (?:a|an|the|my|our|some)\b", re.I)


def unnamed(candidate: Candidate, session: Session) -> str:
    """It points at what stands around it, and names nothing itself."""
    text = candidate.summary
    if _ASIDE.match(text):
        return "an aside"
    if _LISTED.match(text):
        return "announces what is not in it"
    if "[REDACTED" in text and len(_NAME.findall(text)) < 3:
        return "what it speaks of was redacted"
    if _named(candidate) or _EXPLETIVE.match(text):
        return ""
    return "names nothing: not understood alone" if len(text) <= ALONE and _POINTS.match(text) else ""


def _named(candidate: Candidate) -> bool:
    """Names a thing, or corrects a figure."""
    plain = ("quoted", "path") if candidate.correction else ("quoted", "path", "number")
    return any(v.kind not in plain for v in candidate.values) or bool(_NAME.search(candidate.summary[1:]))


# --- it was asked for once ------------------------------------------------------------------------------------------

_ASKED = (
    r"(?:(?:let.?s|let us|can you|could you|can we|could we|i want you to|pleas?r?e|i(?:.d| would) like (?:you |us )?to|we should|you should|you can|help me|go ahead and)"
    r" (?:now |also |just |first )?)*"
)
_PROCESS = lazy(
    rf"{_FILLERS}{_ASKED}(?:re-?read|read|check|double[- ]check|look|review|plan|summari[sz]e|start|begin|continue|commit|push|rebase|merge|run|rerun|investigate|explain|list|"
    r"draft|think|log,|use ultrathink|write (?:up|down|a)|create (?:an?|the) (?:[\w-]+ ){0,3}?(?:summary|document|doc|plan|list|table|pr|pull request|issue|commit|branch)|expand|proceed|show|tell|"
    r"find|compare|analy[sz]e|research|verify|rewrite|reword|rephrase|remember (?:also )?you|"
    r"update (?:the )?(?:docs?|documentation|readme|changelog|[\w./-]+\.md|pr|description|summary|wording|comments?))\b"
    r"|(?:読んで|確認して|調べて|調査して|レビューして|まとめて|説明して|コミットして|プッシュして|実行して|続けて|見て)(?:ください|下さい|くれ|もらえ|みて|ほしい|。|$)"
    r"|(?:읽어|확인해|조사해|검토해|리뷰해|정리해|설명해|커밋해|푸시해|실행해|계속해|살펴) ?(?:줘|주세요|봐|보자|줄래|$)"
    r"|^(?:请|麻烦|帮我)?(?:先|再)?(?:看一下|看看|读一下|检查一下|查一下|总结|解释|提交|推送|运行|继续|列出)", re.I)
_STEP = lazy(
    r"^\W*(?:first|then|next|finally|lastly|now)\b,? (?:please |just |also )?(?:(?:let.?s|let us)(?! (?:use|go|keep|take|stick|decide|switch|drop|stay)\b)|add|implement|prepare|create|do|make|update|write|fix|move|run|put|remove|set up|generate)\b"
    r"|\b(?:need to|should|let.?s) (?:talk about|discuss)\b", re.I)
_YOURS = lazy(
    r"\b(?:your|those|these) (?:\w+ )?(?:suggest\w+|plan|recommend\w+|ideas?|proposal|analysis|findings?|answer|commands?|approach)\b|\bwhat you (?:wrote|said|suggested|did|added)\b|\byou feel\b|\[Image #\d+\]"
    r"|(?:あなた|君)の(?:提案|案|計画)|(?:네|당신|말씀하신) ?(?:제안|안|계획)|你(?:的|刚才的)(?:建议|方案|计划)", re.I)
_WORDING = lazy(
    r"\b(?:change|update|replace|rename|reword|fix|adjust) (?:the )?(?:text|label|wording|title|message|caption|phrase|heading|typo|[\"“'][^\"”']+[\"”'])|\b(?:prose|paragraphs?|too wide)\b|\bhave [\"“][^\"”]+[\"”] as\b"
    r"|\b(?:in|of|from|to) this (?:table|section|doc(?:ument)?|list|paragraph|sentence|heading|row|column|page|slide|diagram|chart|summary|pr|commit)\b", re.I)
_ROLE = lazy(
    r"^\W*(?:you are (?:now )?(?:an?|the)|act as|imagine you|pretend)\b|^你(?:现在)?(?:是|扮演)(?:一名|一个|一位|个)|^あなたは.{1,20}(?:です|として)|^(?:당신은|너는) .{1,20}(?:입니다|이다|이야)",
    re.I)
_PASTED = lazy(r"^\W*\d+\.\d+\.?\s+\S|^\W*at (?:\S+ )?\(?(?:/|\w:\\|file:|node:)\S+:\d+|\bSKILL\.md\b|^\W*you can use\b", re.I)
_SYMBOL = lazy(r"[(){}\[\]=;<>\\|\"_$&^~]")
_WIDE = lazy(r"[\u3040-\u9fff가-힣]")
_CODE = lazy(r"`[^`]*`")


def once(candidate: Candidate, session: Session) -> str:
    """The user asked for a step of the work, or for other words in a text: done with once it was done."""
    text = candidate.summary
    if candidate.stated_by != "user":
        return ""
    if _ROLE.match(text):
        return "a prompt"
    bare = _CODE.sub("", text)
    if len(bare) > 30 and len(_SYMBOL.findall(bare)) > SYMBOLS * (len(bare) + len(_WIDE.findall(bare))):
        return "pasted code"
    if _PASTED.search(text):
        return "part of a prompt, a list or an output"
    exact = any(v.kind not in ("quoted", "path", "url") for v in candidate.values)
    if not _ALWAYS.search(text) and (_PROCESS.search(text) or _WORDING.search(text) or (_STEP.search(text) and not exact)):
        return "asked for once"
    if _YOURS.search(text):
        return "speaks of what the assistant had written"
    return ""


# --- the session went on --------------------------------------------------------------------------------------------

_NOW = lazy(r"\b(?:right now|currently|at the moment|as of now|presently)\b|現状|現在は|今は|いまは|目下|지금은|현재|目前|现在", re.I)
_BEFORE = lazy(r"^\W*(?:before|previously|the old|old (?:behaviou?r|code|approach|state))\b[^.]{0,20}?\s?[:：—–]|^\W*(?:変更前|以前|이전|기존|之前|原来)\s?[:：]", re.I)
_WANTED = lazy(r"\b(?:should|need|must|want|shall|let.?s)\b|べき|たい|ほしい|해야|하자|应该|需要|要", re.I)
_SYMPTOM = lazy(
    r"\b(?:a bug|bug somewhere|does ?n.?t work|not working|ends? up|(?:is|are) broken|fails?|failing|crash\w*|had trouble|exits? immediately|do ?n.?t (?:come|show|work)|is not (?:including|showing|working))\b"
    r"|動かない|動作しない|壊れ|バグ|안 (?:돼|됩|나)|버그|不工作|不生效|报错", re.I)
_LACK = lazy(
    r"^\W*(?:missing|inconsistent|unclear|incomplete|lack of)\b|\b(?:(?:is|are) (?:silently )?ignored|do(?:es)? ?n.?t clearly|do(?:es)? ?n.?t (?:explain|mention|document|cover|describe)|"
    r"(?:is|are) (?:missing|unclear|incomplete|outdated|wrong|broken)|without clearly)\b"
    r"|(?:説明|記載|考慮|対応)(?:が|されて|して)(?:ない|いない|いません)|누락|빠져 ?있|缺少|没有(?:说明|处理|考虑)|不一致", re.I)


def overtaken(candidate: Candidate, session: Session) -> str:
    """What it states was changed, done or taken out later in the same session."""
    text, at = candidate.summary, candidate.event_index
    replaced = next((index for index, change in session.changes if index > at and changes.given_up(change, text)), None)
    if replaced is not None and candidate.kind != "instruction":
        return f"replaced in event {replaced} of its session"
    if candidate.kind == "task":
        done = session.done(candidate)
        return f"done in event {done} of its session" if done is not None else ""
    if at >= session.last_edit:
        return ""
    user = candidate.stated_by == "user"
    if (_NOW.search(text) and not (user and _WANTED.search(text) and candidate.correction)) or _BEFORE.match(text):
        return "the session went on to change that"
    if not _WHY.search(text) and candidate.kind == "fact" and (_SYMPTOM if user else _LACK).search(text):
        return "a fault that the session went on to mend"
    return ""


# --- the assistant at work ------------------------------------------------------------------------------------------

_SELF = lazy(
    rf"{_FILLERS}(?:let me\b|you.re\b)|{_FILLERS}(?:short answer: )?(?:i|we)(?:(?:.m|.re| am| are) (?:\w+ )?\w+ing\b|.ll\b| will\b| can(?:.t|not)?\b| could\b| did(?:n.t| not)\b| hit\b| need\b|"
    r"(?:.ve| have)? ?(?:now |also |already |just |first )?(?:read|re-?read|reran|re-?ran|confirmed|extracted|drafted|started|checked|found|been|gathered|reviewed|looked|seen|saw|noticed|based|searched|scanned|verified|tested)\b)", re.I)
_OFFER = lazy(
    r"^\W*(?:if (?:helpful|useful|needed|desired|it helps|you.d|you (?:run|share|send|want|like|prefer|paste|need))|your)\b|\bi can (?:add|also|help|pinpoint|extend|do|make|create|provide|set|include|write|generate)\b"
    r"|\b(?:share|send|paste) (?:me )?(?:the|your) (?:output|logs?|result)\b|\bplease (?:run|try|tell|check|let me)\b|よければ|ご希望|必要であれば|원하시면|필요하시면|如果你(?:需要|愿意|想)|需要的话", re.I)
_SUPPOSED = lazy(r"\b(?:likely|probably|presumably|(?:may|might) (?:need|be|have)|could be|perhaps|possibly|it (?:looks|seems) like|i (?:think|guess|suspect|believe))\b", re.I)
_LABEL = lazy(r"^\W*(?:plan|message|error|output|result|examples?|second example|summary table|note for[^:]{0,40}|commit message|next steps?|todo)\s?[:：]", re.I)
_AGREES = lazy(r"^\W*(?:you.re|you are) (?:absolutely |completely |totally )?(?:right|correct)\b|^(?:ご指摘|おっしゃる)(?:の)?(?:通り|とおり)|^(?:맞습니다|말씀하신 대로)|^(?:你说得对|您说得对)", re.I)
_PLANNED = lazy(rf"\bneeds? to (?:become|be (?:changed|updated|added|renamed|moved|removed|replaced|adjusted))\b|{_FILLERS}(?:the|this) \w+ should\b", re.I)
_MADE = lazy(
    r"^\W*(?:[A-Z][\w ]{2,20}: )?(?:i |we )?(?:have |.ve )?(?:also )?(?:added|fixed|changed|removed|renamed|replaced|moved|created|updated|corrected|extended|refactored|cleaned|adjusted|improved|simplified|extracted)\b"
    r"|\bconflicts? (?:was|were) resolved\b", re.I)
_SMALL = lazy(
    r"\b(?:nolint|redundant|unused|typos?|whitespace|indentation|formatting|wording|docstrings?|comments?|imports?|lines? \d+|rows?|columns?|bullets?|headings?|sections?|tables?|"
    r"readme|quickstart|change ?log|conflicts?|more places?|doc(?:umentation|s)?(?: bugs?)?|placeholder|blank lines?|assertions?)\b|\b\w+\.md\b", re.I)
_PURPOSE = lazy(r"\b(?:to|so|because|since|for|when|if|that|which|unless|instead|by default|now)\b", re.I)
_CLAUSE = lazy(r"[,;.:—–]\s|\bplus\b")


def working(candidate: Candidate, session: Session) -> str:
    """The assistant tells what it is doing, offers, supposes or plans, or of an edit that the diff tells better."""
    text = candidate.summary
    if candidate.stated_by == "user":
        return ""
    if _SELF.match(text) or _AGREES.match(text):
        return "the assistant speaks of its own work"
    if _LABEL.match(text) or words(_CODE.sub("", text)) < PROSE:
        return "a command, an output or a lead-in"
    if _OFFER.search(text):
        return "an offer"
    if _SUPPOSED.search(text):
        return "only supposed"
    if _PLANNED.search(text) and "decision" not in candidate.why:
        return "a planned step"
    made = _MADE.search(text)
    if made is None:
        return ""
    what = _CLAUSE.split(_CODE.sub("", text[made.end():]), maxsplit=1)[0]
    small = _SMALL.search(what[:OBJECT]) and not _WHY.search(text)
    bare = _named(candidate) and not _PURPOSE.search(text[made.end():])
    return "a small edit" if small or bare else ""


def talk(candidate: Candidate, session: Session) -> str:
    """In a talk in which no tool was used and no file changed, what the assistant explains at length is general knowledge."""
    if session.worked or candidate.stated_by == "user":
        return ""
    length = next((words(text[:2000]) for at, text in session.said if at == candidate.event_index), 0)
    return "general knowledge, explained in a talk in which nothing was worked on" if length >= ESSAY else ""


RULES: tuple[Callable[[Candidate, Session], str], ...] = (unnamed, once, overtaken, working, talk)


def passing(candidate: Candidate, session: Session) -> str:
    """Why the candidate will not last, or "". What the user lays down for good (always, never, from now on) is not judged."""
    if candidate.stated_by == "user" and "strong" in candidate.why and _ALWAYS.search(candidate.summary):
        return ""
    return next((why for rule in RULES if (why := rule(candidate, session))), "")


def said_more_fully(found: Sequence[Candidate]) -> dict[int, int]:
    """Positions of what the assistant says again and more fully elsewhere in the session → the position of that: nearly all its words
    and every name, figure and negation of it stand there."""
    views = [(i, stems(c.summary), frozenset(_NAME.findall(c.summary[1:])), frozenset(DIGITS.findall(c.summary)), bool(NEGATION.search(c.summary)))
             for i, c in enumerate(found) if c.stated_by != "user" and c.gate == "keep"]
    out: dict[int, int] = {}
    for i, words_, names, figures, negated in views:
        for j, more, names2, figures2, negated2 in views:
            fuller = (len(more), -j) > (len(words_), -i)
            if i != j and fuller and names and names <= names2 and figures <= figures2 and negated <= negated2 and len(words_ & more) >= FULLER * len(words_):
                out[i] = j
                break
    return out


# --- what became of a session ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Session:
    """Of a thread: whether anything was worked on, the index of its last edit, the changes that were stated (with their events'
    indexes), its messages, and the content words of each later report."""

    worked: bool = True
    last_edit: int = -1
    changes: tuple[tuple[int, changes.Change], ...] = ()
    said: tuple[tuple[int, str], ...] = ()
    reports: tuple[tuple[int, frozenset[str]], ...] = ()

    def done(self, candidate: Candidate) -> int | None:
        """The event of the report that tells that the task was done."""
        words = frozenset(content_words(candidate.summary))
        if len(words) < 3:
            return None
        return next((at for at, held in self.reports if at > candidate.event_index and len(words & held) >= max(3, DONE * len(words))), None)


def session_of(events: Sequence[Event]) -> Session:
    """What became of a session, for all its candidates."""
    edits = [e.index for e in events if e.kind == "file_edit" and not e.metadata.get("error")]
    said = [(e.index, e.text) for e in events if readable(e)]
    stated = [
        (e.index, change) for e in events if readable(e) for change in changes.stated(e.text, e.role)
    ]
    reports = [(e.index, frozenset(content_words(e.text[:4000]))) for e in events
               if readable(e) and e.role == "assistant" and "outcome" in cues(e.text)]
    return Session(
        any(e.kind in ("tool_call", "tool_result", "file_edit") for e in events), edits[-1] if edits else -1, tuple(stated), tuple(said),
        tuple(reports),
    )
