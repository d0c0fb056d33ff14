"""In: what a memory says, the settings. Out: which kinds of passing facts are in it, and after how many days to check it again.

Versions in use, prices, who does what, which host runs what, and deadlines: true when said, and seldom for ever. Rules in four
languages that would rather miss one than ask for nothing. Names of standards ("TLS 1.2", "ISO 8601") are no versions.
"""

from __future__ import annotations

import re
from datetime import date, timedelta

from memoryfs.config import Recheck
from memoryfs.exact import exact_values
from memoryfs.patterns import lazy

LONGEST = 2000  # characters of a memory that are looked at
KINDS = ("version", "price", "deadline", "role", "host")

_STANDARD = lazy(
    r"\b(?:TLS|SSL|HTTP|OAuth|OpenID|ISO|RFC|UTF|IPv|USB|SemVer|Semantic Versioning|Keep a Changelog|GPL|LGPL|AGPL|Apache|MIT|BSD|CC|MPL"
    r"|ES|ECMAScript|WCAG|SQL|POSIX|JSON-RPC|OpenAPI|CommonMark|Unicode|PEP|IEEE|API)[ /-]?(?:version )?v?$", re.I)
_SINCE = lazy(r"\b(?:since|from|[a-z]+ed in|came in|new in|before|after|until) (?:version )?\W?$", re.I)
_SINCE_AFTER = lazy(r"^\W?(?:以降|以上|から|で追加|で廃止|이후|이상|부터|에서 추가|以后|之后|起|以上)")
_NAMED = lazy(
    r"\b(?:node(?:\.?js)?|python|java|jdk|ruby|go(?:lang)?|rust|php|swift|kotlin|postgres(?:ql)?|mysql|mariadb|redis|mongodb|sqlite|django|rails"
    r"|laravel|spring boot|react(?: native)?|vue|angular|svelte|next(?:\.js)?|nuxt|flutter|dart|typescript|ubuntu|debian|fedora|macos|ios|android"
    r"|xcode|gradle|kubernetes|k8s|terraform|docker|pnpm|npm|yarn|bun|deno|\.net|c\+\+)\s?(?:version |v)?\d{1,4}(?:\.\d{1,4}){0,2}(?![\d.]*\d*\s?(?:ms|[kmg]b|%|days?|times))\b", re.I)
_VERSION_WORD = lazy(r"\bversion (?:is |of )?v?\d|(?:バージョン|버전|版本)(?:は|が|を|은|는|이|을|를|是|为|：|:|\s){0,2}v?\d|\d(?:[\d.]*\d)?\s?(?:버전|版本)", re.I)

_MONEY = r"(?:[$€£¥₩]\s?\d[\d,.]{0,14}\s?[kKMm万만億억]?|(?<![\d.,])\d[\d,.]{0,14}\s?[万만億억千천]?\s?(?:円|ドル|ユーロ|원|달러|元|块|美元|人民币|yen|won|dollars?|euros?|USD|EUR|GBP|JPY|KRW|CNY)(?![A-Za-z]))"
_PRICE = lazy(
    rf"\b(?:costs?|prices?|priced|pricing|fees?|rent|salary|subscription|charges?|quote|rate|budget)\b.{{0,40}}?{_MONEY}"
    rf"|{_MONEY}\s?(?:/|per |an? |each )\s?(?:month|mo|year|yr|user|seat|hour|day|week|token|request|GB|unit|person|piece)?\b"
    rf"|{_MONEY}.{{0,20}}?\b(?:monthly|yearly|annually|per month|per year)\b"
    rf"|(?:料金|価格|値段|費用|月額|年額|家賃|単価|予算|가격|요금|비용|월세|단가|예산|价格|费用|月费|年费|房租|单价|预算|售价).{{0,20}}?{_MONEY}"
    rf"|(?:月|年|매달|매월|每月|每年|월|每人|1人あたり|인당)\s?{_MONEY}|{_MONEY}\s?/\s?(?:月|年|월|年)", re.I)

_ROLE = (r"(?:CEO|CTO|CFO|COO|CIO|VP|PM|lead|leader|manager|maintainer|owner|director|head|chair(?:man|woman|person)?|principal|secretary|treasurer"
         r"|supervisor|tutor|teacher|coach|boss|reviewer|contact(?: person)?|point of contact|administrator|engineer|designer|landlord|accountant|lawyer|doctor|dentist)")
_PERSON = r"(?:[A-Z][a-z]+(?:[ -][A-Z][a-z]+){0,2}|I|he|she|He|She|We|we|They|they)"
_WHO = lazy(
    rf"(?<![\w`]){_PERSON} (?:is|are|am|became|remains|works as) (?:now |currently )?(?:the |our |a |an |my |their |its )?"
    rf"(?:[a-z-]+ ){{0,2}}{_ROLE}\b"
    rf"|(?<![\w`]){_PERSON} (?:is|are|am) (?:now |currently )?(?:on[- ]call|responsible for|in charge of)\b"
    rf"|\b(?:[Tt]he|[Oo]ur|[Mm]y|[Tt]heir) (?:[a-z-]+ ){{0,2}}{_ROLE} (?:of .{{1,30}}? )?is (?:now )?(?!(?:The|A|An|It|This)\b)[A-Z][a-z]+(?: [A-Z][a-z]+)?\b")
_WHO_CJK = lazy(
    r"(?:担当者?|責任者|リーダー|部長|課長|社長|上司|先生|担任|窓口|主任|マネージャー?)(?:は|が|：|:).{1,20}?(?:さん|氏|様|君|です|だ|$)"
    r"|(?:さん|氏|様|君|先生)(?:が|は).{0,16}?(?:担当|責任者|リーダー|部長|課長|社長|窓口|マネージャー)"
    r"|(?:담당자?|책임자|팀장|부장|과장|대표|리더|매니저|선생님)(?:은|는|이|가|:)\s?.{1,20}?(?:님|씨|이다|입니다|$)"
    r"|(?:님|씨)(?:이|가|은|는)\s?.{0,16}?(?:담당|책임자|팀장|부장|과장|대표|리더|매니저)"
    r"|(?:负责人|组长|经理|主管|老板|班主任|联系人|主任|队长)(?:是|为|：|:).{1,12}"
    r"|[\u4e00-\u9fff]{2,4}(?:现在|目前)?(?:负责|担任|是我们的(?:组长|经理|主管|老板|负责人))")

_PLACE = lazy(
    r"\b(?:hosts?|hosted|hostname|servers?|staging|production|prod|deploy(?:ed|s)?|runs? on|running on|proxy|gateway|VPN|NAS|domain|endpoint|dashboard|instance|cluster)\b"
    r"|サーバー?|ホスト|本番|ステージング|ドメイン|エンドポイント|서버|호스트|운영|스테이징|도메인|服务器|主机|生产环境|测试环境|域名|部署", re.I)
_HERE = lazy(r"\b(?:localhost|127\.0\.0\.1|0\.0\.0\.0|::1)\b", re.I)
_ADDRESS = lazy(r"^(?:[a-z][a-z0-9+.-]+://\S+|\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?|[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+(?::\d+)?)$")
_DOMAIN = lazy(r"(?<![\w@./-])[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9-]+)*\.(?:com|net|org|io|dev|app|cloud|internal|local|lan|corp|co|jp|kr|cn|de|fr|uk|eu|us|edu|gov|example|test|ai|sh)(?:\.[a-z]{2})?(?![\w-]|\.\w)", re.I)

# A word that makes the date beside it a deadline: before it (English; a noun elsewhere), or behind it.
BEFORE = lazy(
    r"(?:\b(?:by|until|till|due(?: on| by| date(?: is|:)?)?|deadline\b.{0,24}|before|no later than|expir(?:es|y)(?: on| date)?|valid until|ends? on|closes? on)"
    r"|(?:期限|締め?切り?|〆切|納期|마감일?|기한|납기|截止(?:日期|时间)?|期限|到期日?|最晚|不晚于)(?:は|が|：|:|은|는|이|是|为|于|在)?)"
    r"[\s(（,:]{0,3}(?:the |this |on |end of )?$", re.I)
AFTER = lazy(
    r"^[\s)）]{0,2}(?:\([^()]{1,16}\)|（[^（）]{1,16}）)?\s?(?:までに?|が(?:期限|締め?切り?|納期)|締め?切り?|〆切|까지|이?\s?마감|之前|以前|前(?![^，。\s])|前(?:完成|提交|交|发|做|把|需|要|必)|截止|到期|为止)")


def kinds(text: str) -> frozenset[str]:
    """The kinds of passing facts in `text`, deadlines excepted: their dates need to know when it was said."""
    text = text[:LONGEST]
    found = set()
    if _version(text):
        found.add("version")
    if _PRICE.search(text):
        found.add("price")
    if _WHO.search(text) or _WHO_CJK.search(text):
        found.add("role")
    if _host(text):
        found.add("host")
    return frozenset(found)


def _version(text: str) -> bool:
    if any(not _timeless(text, *m.span()) for m in _NAMED.finditer(text)):
        return True
    numbers = [v for v in exact_values(text, ("version", "path", "hash")) if v.kind == "version" and re.search(r"\d\.\d", v.text)]
    return any(not _timeless(text, v.start, v.end) for v in numbers) or bool(
        (found := _VERSION_WORD.search(text)) and not _timeless(text, *found.span()))


def _timeless(text: str, start: int, end: int) -> bool:
    """Whether a number names a standard, or a point in the history of something, not what is in use."""
    before = text[max(0, start - 40) : start]
    return bool(_STANDARD.search(before) or _SINCE.search(before) or _SINCE_AFTER.match(text[end:]))


def _host(text: str) -> bool:
    if not _PLACE.search(text):
        return False
    named = [v.text for v in exact_values(text, ("url", "port", "identifier", "path")) if _ADDRESS.match(v.text)]
    named += [match[0] for match in _DOMAIN.finditer(text)]
    return any(("://" in name or name[0].isdigit() or _DOMAIN.search(name)) and not _HERE.search(name) for name in named)


def interval(found: frozenset[str], settings: Recheck) -> int:
    """After how many days a memory with these kinds is to be checked again: the shortest; 0 for never."""
    days = {"version": settings.version_days, "price": settings.price_days, "role": settings.role_days, "host": settings.host_days}
    return min((days[kind] for kind in found if days.get(kind, 0) > 0), default=0)


def after(day: date, days: int) -> str:
    """The ISO date so many days later; "" where the calendar ends or for 0 days."""
    try:
        return (day + timedelta(days=days)).isoformat() if days > 0 else ""
    except OverflowError:
        return ""
