"""In: candidates and the events of their thread. Out: a verdict on each: pass, correct or drop, with the check and the reason.

Eight checks (DESIGN §3), each a small function in `CHECKS`, in order. A check returns None where it has nothing to say, text
beginning with "drop:" or "quote:" otherwise; "quote:" means that the source holds the matter but the summary tells it wrongly,
so the summary is replaced by the words of the source. Nothing is ever made up to fit.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

from memoryfs.exact import exact_values
from memoryfs.model import Event
from memoryfs.text import normalise, stem
from organizer.dates import relative_dates, with_dates
from organizer.nouns import Candidate, Verdict
from organizer.rules.candidates import NEVER, readable
from organizer.rules.cues import cues
from organizer.rules.features import words
from organizer.rules.hints import content_words
from organizer.rules.sentences import INVISIBLE, clean

SUPPORT = 0.6  # share of the summary's content words that must stand in the source
MAX_SUMMARY = 400  # characters
MAX_QUOTE = 1200


@dataclass(frozen=True)
class Source:
    """What a candidate is held against: its event, the other events of its range, the user's next message after it."""

    event: Event
    others: tuple[Event, ...]
    reply: Event | None

    @cached_property
    def around(self) -> str:
        """The text of the whole range, the quoted event first."""
        return "\n".join([self.event.text, *(e.text[:20_000] for e in self.others)])


Check = Callable[[Candidate, Source], "str | None"]

# --- what the checks share ------------------------------------------------------------------------------------------

_NAME = re.compile(r"(?<=[a-z,;:)’'\"] )[A-Z][\w’'-]+(?: [A-Z][\w’'-]+)*|\b[A-Z][a-z]+[A-Z]\w*|\b[A-Z]{2,}\b")
_ORGANISATION = re.compile(
    r"\b[A-Z][\w&.-]*(?: [A-Z][\w&.-]*)* (?:Inc|Ltd|LLC|GmbH|Corp|Corporation|Company|University|Institute|Foundation|Bank|Team|Department)\b"
    r"|(?:株式会社|有限会社)[^\s、。はがをに]{1,20}|[^\s、。はがをに]{1,20}(?:株式会社|大学|部門|学校)|[가-힣A-Za-z]{1,20}(?:주식회사|대학교|학교|은행)"
    r"|[\u4e00-\u9fff]{2,20}(?:公司|大学|银行|学院)"
)
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}|\b\d{1,2}:\d{2}\b|\b(?:19|20)\d{2}\b")
DIGITS = re.compile(r"\d+(?:[.,]\d+)*")
NEGATION = re.compile(
    r"\b(?:not|never|no|none|nothing|neither|nor|cannot|without|avoid|forbid\w*|disallow\w*|refus\w*|stop\w*|except|unless)\b|n[’']t\b"
    r"|ない|なく|ません|ず(?:に|、|。|$)|禁止|不可|非|未|無|않|안 |못|없|금지|말 ?것|마세요|지 ?마|不|没|沒|别|禁|无",
    re.I,
)
_FROM_TO = re.compile(r"\bfrom\s+[`\"']?(\S+?)[`\"',.;]?\s+to\s+[`\"']?(\S+?)[`\"',.;]?(?:\s|$)", re.I)
_HYPOTHETICAL = re.compile(
    r"^\W*(?:(?:so|and|but|ok(?:ay)?|hmm),? )*(?:what if|suppose|supposing|imagine|hypothetically|let.?s (?:say|assume|suppose)|assuming|"
    r"in theory|if (?:we|you|i|it|they) (?:were|had|could|would|wanted|ever)\b|say we\b)"
    r"|\bwould (?:have|be able to|also work|be nice|be great|be awesome)\b"
    r"|^(?:もし|仮に).{0,60}(?:たら|なら|とすれば)(?:どう|いい|、どう)|^만약.{0,60}(?:면|다면).{0,12}(?:어떨|어떻|될까|좋겠)|^(?:假如|假设|要是|如果).{0,40}(?:会怎样|会怎么样|呢|怎么办|就好了)",
    re.I,
)
_PROPOSAL = re.compile(
    r"^\W*(?:option|approach|alternative|solution|proposal) ?(?:\d|[a-d]\b|#|one|two)|\b(?:we|you|i) (?:could|might|may want to)\b|\bi(?:.d| would)? (?:suggest|recommend|propose)\b"
    r"|\b(?:alternatively|would you like|want me to|shall i|should i|should we|if you.d (?:like|prefer|rather)|if you (?:want|like|prefer)|let me know|another option)\b"
    r"|^(?:案|方法|オプション) ?[0-9A-Da-d①-④]|(?:案もあ|提案し|いかがでしょう|しましょうか|もよさそう)|(?:방법도 있|제안|어떨까요|할까요|드릴까요)|(?:也可以考虑|建议|要不要|是否需要|方案[一二三ABC123])",
    re.I,
)
_DECLINED = re.compile(
    r"^\W*(?:no\b|nope|nah|don.?t|do not|not (?:that|this|like)|stop|wait|actually|instead|that.s (?:wrong|not)|wrong|i don.?t (?:want|like|think)|hmm,? no)"
    r"|^(?:いや|いいえ|違|やめ|ちが|だめ|ダメ|却下)|^(?:아니|하지 ?마|그거 말고|틀렸|안 돼)|^(?:不[，,。 要对行是]|别|不用|算了)",
    re.I,
)
_ASKING = frozenset({"instruction", "strong", "decision"})
_QUOTED_WHOLE = re.compile(r"^[\"“「『'][^\"”」』]{4,}[\"”」』'][.。]?$")
_QUOTATION = re.compile(r"\"[^\"]{8,}\"|“[^”]{4,}”|«[^»]{8,}»|「[^」]{4,}」|『[^』]{4,}』|„[^“”]{8,}[“”]")
# Somebody else is said to say so: what they ask for is no wish of the user's.
_REPORTED = re.compile(
    r"\b(?:pages?|web ?sites?|sites?|readme|docs?|documentation|articles?|e-?mails?|mails?|posts?|blogs?|logs?|tools?|outputs?|guides?|manuals?|tutorials?|"
    r"(?:skill|rules?) files?|issues?|comments?|results?|snippets?|texts?|vendors?|threads?|answers?|chatgpt|somebody|someone)\b[^.!?]{0,40}?\b(?:says?|said|states?|stated|claims?|claimed|"
    r"tells?|told|reads|recommends?|recommended|instructs?|suggests?|insists?|demands?|asks?)\b|\baccording to\b|\b(?:commented|posted|tweeted) that\b"
    r"|によ(?:ると|れば)|と(?:書い|書か|言っ|述べ|主張し)て|에 따르면|(?:라고|다고) ?(?:적혀|쓰여|써|말|주장)|(?:页面|网页|网站|文章|邮件|文档|日志|有人|帖子)上?[^。!?]{0,12}(?:说|称|写|要求)|据[^。]{1,20}(?:说|称)",
    re.I,
)
# A question, whatever it speaks of: no request in the form of one ("could you always …?").
_ASKED = re.compile(
    r"^\W*(?:(?:so|and|but|ok|hmm|well)[, ]+)?(?:what|why|how|which|who|when|where|is|are|was|were|do|does|did|has|have|should|must|may|might|"
    r"(?:can|could|will|would)(?! (?:you|we)\b))\b[^?]*\?[\"'”)]*$"
    r"|(?:ですか|ますか|でしょうか|べきか|のか|だろうか)[?？]?$|(?:나요|습니까|인가요|는가|을까|까요|건가)[?？]$|(?:吗|呢|么)[?？]$", re.I,
)
_REQUEST = re.compile(r"(?:くださ|ください|もらえ|くれ|いただけ)[^。]{0,4}か[?？]?$|주시|줄래|줄 ?수|请|能不能|可以帮|能帮")
_WAITS = re.compile(
    r"^\W*(?:we(?:.re| are)|i(?:.m| am)) (?:\w+ )?(?:reviewing|looking|working|trying|checking|testing|about to|going to|still)\b|\bi(?:.m| am) (?:wondering|not sure|confused|curious)\b"
    r"|^\W*(?:any ideas|i wonder|not sure (?:if|why|whether|what))\b",
    re.I,
)
_CODE_STEP = re.compile(r"^\W*lines? \d+|^\W*(?:since|now that|given that)\b.{0,200}\bwe (?:need|should|can|have|must)\b", re.I)
_NEXT_STEP = re.compile(r"^\W*(?:(?:now|ok(?:ay)?|first|next|then|so|good|great|perfect|understood|noted|sure|got it|from now on)[,.!:;]? +)*(?:let me|i.ll|i will|i.m going to|i need to)\b", re.I)
# How the second half of a sentence begins, where a line was broken within it.
_BROKEN_OFF = re.compile(r"\s*(?:[,;、，；)]|(?:will|would|which|is|are|was|were|has|had)\s(?!.*\?\s*$))")
_LINK_ONLY = re.compile(r"^\W*(?:[\w ]{1,20}[:：]\s*)?(?:\[[^\]]*\]\(\S+\)|https?://\S+)\W*$")


def _holds(text: str, part: str) -> bool:
    return part in text or normalise(part) in normalise(text)


@lru_cache(maxsize=4096)
def stems(text: str) -> frozenset[str]:
    return frozenset(stem(normalise(w)) for w in content_words(text))


# --- the eight checks -----------------------------------------------------------------------------------------------


def entity(candidate: Candidate, source: Source) -> str | None:
    """Every name in the summary stands in the source."""
    for match in _NAME.finditer(candidate.summary):
        if not _holds(source.around, match.group()):
            return f"quote: the source does not name {match.group()!r}"
    return None


def object_(candidate: Candidate, source: Source) -> str | None:
    """Every exact value in the summary stands, character for character, in the quoted event."""
    for value in exact_values(candidate.summary):
        if value.kind in ("path", "url", "port", "number"):
            continue  # place, time and relation
        text = value.text.rstrip("…")
        if text not in source.event.text and not (value.kind == "quoted" and _holds(source.event.text, text)):
            return f"quote: {text!r} does not stand in the source"
    return None


def place(candidate: Candidate, source: Source) -> str | None:
    """Every path, address and port in the summary stands in the quoted event."""
    for value in exact_values(candidate.summary):
        if value.kind in ("path", "url", "port") and value.text.rstrip("…/") not in source.event.text:
            return f"quote: {value.text!r} does not stand in the source"
    return None


def time(candidate: Candidate, source: Source) -> str | None:
    """Every date and time of day was said, or is what a relative date means at the event's own time."""
    meant = {m.iso for m in relative_dates(source.event.text, source.event.time)}
    days = {part for iso in meant for part in iso.split("/")} | {candidate.when or ""}
    for match in _DATE.finditer(candidate.summary):
        if match.group() not in source.event.text and match.group() not in days:
            return f"quote: the source does not say {match.group()}"
    return None


def organisation(candidate: Candidate, source: Source) -> str | None:
    """Every organisation in the summary is named in the source."""
    for match in _ORGANISATION.finditer(candidate.summary):
        if not _holds(source.around, match.group()):
            return f"quote: the source does not name {match.group()!r}"
    return None


def completeness(candidate: Candidate, source: Source) -> str | None:
    """The quote stands verbatim in its event, and the summary says something whole."""
    if not candidate.quote or candidate.quote not in source.event.text:
        return "drop: the quote does not stand in its event"
    if len(candidate.quote) > MAX_QUOTE or len(candidate.summary) > MAX_SUMMARY:
        return "drop: too long for one memory"
    text = candidate.summary.strip()
    if words(text) < 3 or not re.search(r"\w\w", text):
        return "drop: says too little"
    if text.endswith((":", "：", "，", ",")) or re.search(r"\b(?:the|a|an|and|or|of|to|with|that|is)$", text):
        return "drop: a lead-in or a fragment, not a statement"
    if candidate.by == "rules" and (clean(candidate.quote).endswith(("...", "…")) or _BROKEN_OFF.match(candidate.quote)):
        return "drop: broken off"
    if _LINK_ONLY.match(text):
        return "drop: a link without a statement"
    return None


def relation(candidate: Candidate, source: Source) -> str | None:
    """Who, how many and whether: speaker, numbers, the sign and the direction are those of the quote."""
    if candidate.kind == "instruction" and (source.event.role != "user" or candidate.stated_by != "user"):
        return "drop: only what the user says can be an instruction"
    quote = candidate.quote
    numbers = set(DIGITS.findall(candidate.summary))
    missing = numbers - set(DIGITS.findall(quote)) - set(DIGITS.findall(candidate.when or ""))
    if missing:
        missing -= set(DIGITS.findall(source.event.text))
        for mention in relative_dates(quote, source.event.time):
            missing -= set(DIGITS.findall(mention.iso))
    if missing:
        return f"quote: the source has no number {min(missing)}"
    if candidate.by != "rules" and bool(NEGATION.search(candidate.summary)) != bool(NEGATION.search(quote)):
        return "quote: the summary and the source differ in a negation"
    for a, b in _FROM_TO.findall(candidate.summary):
        if a in quote and b in quote and (b, a) in {(x, y) for x, y in _FROM_TO.findall(quote)}:
            return "quote: the direction is turned round"
    return None


def inference(candidate: Candidate, source: Source) -> str | None:
    """It was said as a fact: no question, hypothesis, plan, offer or quotation, not rejected later, and nothing added."""
    text = clean(candidate.quote)
    shown = cues(text)
    user = candidate.stated_by == "user"
    if INVISIBLE.search(candidate.quote):
        return "drop: hidden characters"
    never = NEVER & (shown | cues(candidate.summary))
    if never:
        return f"drop: {min(never)}"
    if not readable(source.event) and candidate.stated_by != "tool":
        return "drop: injected or printed text, nobody said it"
    if _HYPOTHETICAL.search(text):
        return "drop: a supposition"
    if text.rstrip("\"'”」)* ").endswith(("?", "？")) and not (user and shown & {"instruction", "decision", "strong"}):
        return "drop: a question"
    if _ASKED.search(text) and not _REQUEST.search(text):
        return "drop: a question"
    if "question" in shown and not shown & {"instruction", "decision", "correction", "cause", "outcome", "setting"}:
        return "drop: a question"
    if _WAITS.search(text):
        return "drop: says what someone is about to do or does not know"
    if _QUOTED_WHOLE.match(text):
        return "drop: somebody else's words"
    if (candidate.kind == "instruction" and (_REPORTED.search(text) or _only_quoted(text, shown))) or (
        "strong" in shown and _REPORTED.match(text.removeprefix("The ").removeprefix("the "))
    ):
        return "drop: somebody else asks for it"
    if not user and _CODE_STEP.search(text):
        return "drop: a step of code editing"
    if not user and _NEXT_STEP.match(text):
        return "drop: the assistant's next step"
    if not user and "narration" in shown and not shown & {"cause", "outcome"}:
        return "drop: the assistant's next step"
    if not user and _PROPOSAL.search(text):
        return "drop: a proposal, not decided"
    if "chatter" in shown and not shown & {"decision", "instruction", "correction", "strong", "setting"}:
        return "drop: an acknowledgement"
    reply = source.reply
    if not user and reply is not None and _DECLINED.match(reply.text) and len(stems(text) & stems(reply.text[:600])) >= 2:
        return f"drop: the user answers otherwise in event {reply.index}"
    own = frozenset() if candidate.summary == text else stems(candidate.summary)
    if own and len(own & stems(source.around)) < SUPPORT * len(own):
        return "quote: the summary says more than the source"
    return None


def _only_quoted(text: str, shown: frozenset[str]) -> bool:
    """Whether what asks for something stands in quotation marks alone."""
    rest = _QUOTATION.sub(" ", text)
    return rest != text and bool(shown & _ASKING) and not cues(rest) & _ASKING


CHECKS: tuple[tuple[str, Check], ...] = (
    ("completeness", completeness),
    ("inference", inference),
    ("organisation", organisation),
    ("entity", entity),
    ("object", object_),
    ("place", place),
    ("time", time),
    ("relation", relation),
)


# What these ask holds by itself where the summary is the quote, word for word.
OF_WORDS = frozenset({"entity", "object", "place", "time", "organisation"})


def check(candidate: Candidate, source: Source) -> Verdict:
    """The verdict on one candidate. A summary that a check faults is replaced by the source's own words and checked again;
    where those fail too, the candidate is dropped."""
    corrected, reason, named = candidate, "", ""
    for attempt in range(2):
        verbatim = corrected.summary == clean(corrected.quote)
        for name, function in CHECKS:
            if verbatim and name in OF_WORDS:
                continue
            said = function(corrected, source)
            if said is None:
                continue
            outcome, _, why = said.partition(": ")
            if outcome == "drop" or attempt:
                return Verdict(candidate, "drop", why, name)
            text = with_dates(clean(candidate.quote), source.event.time)
            corrected, reason, named = replace(candidate, summary=text), why, name
            break
        else:
            if corrected is candidate or corrected.summary == candidate.summary:
                return Verdict(candidate, "pass")
            return Verdict(corrected, "correct", reason, named)
    return Verdict(candidate, "drop", reason, named)


def sources(events: Sequence[Event]) -> Callable[[Candidate], Source | None]:
    """Looks up what a candidate is held against; None where it names an event that the thread does not have."""
    by_index = {e.index: at for at, e in enumerate(events)}
    replies: list[Event | None] = [None] * len(events)
    following: Event | None = None
    for at in range(len(events) - 1, -1, -1):
        replies[at] = following
        if events[at].role == "user" and readable(events[at]):
            following = events[at]

    def find(candidate: Candidate) -> Source | None:
        at = by_index.get(candidate.event_index)
        if at is None or candidate.source.thread != events[at].thread:
            return None
        if not candidate.source.start <= candidate.event_index <= candidate.source.end:
            return None
        a, b = by_index.get(candidate.source.start, at), by_index.get(candidate.source.end, at)
        return Source(events[at], tuple(e for e in events[a:b + 1] if e is not events[at]), replies[at])

    return find


def verify(candidates: Iterable[Candidate], events: Sequence[Event]) -> list[Verdict]:
    """A verdict for each candidate, in order."""
    find = sources(events)
    out = []
    for candidate in candidates:
        source = find(candidate)
        if source is None:
            out.append(Verdict(candidate, "drop", "names an event that its thread does not have", "completeness"))
        else:
            out.append(check(candidate, source))
    return out

