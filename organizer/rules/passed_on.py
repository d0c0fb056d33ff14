"""In: a user's message. Out: the spans of it that somebody else wrote and the user only passed on: data, never the user's wish.

Told by form, in four languages: a block in tags that name a source, the header of a mail, a line that announces a copy and ends
in a colon. What follows such a header or line counts as passed on to the end of the message: where the user's own words
begin again cannot be told, and a rule of the user's that is missed is said again, while a stranger's that is kept is obeyed.
"""

from __future__ import annotations

import re

_TAG = re.compile(
    r"<(?P<name>doc(?:ument)?s?|files?|page|web_?page|web_?site|web|source|e?-?mail|message|logs?|output|stdout|stderr|attachments?|"
    r"quote|article|transcript|issue|ticket|comments?|readme|html|results?|tool_result|search_results?|content|context|data|"
    r"untrusted[\w-]*|pasted?[\w-]*)(?:\s[^<>\n]{0,300})?>", re.IGNORECASE,
)
_HEADER = re.compile(
    r"^[ \t>*]*(?:from|to|cc|subject|date|sent|reply-to|差出人|送信者|宛先|件名|日時|送信日時|보낸 ?사람|받는 ?사람|제목|날짜|发件人|收件人|"
    r"抄送|主题|日期|发送时间)[ \t*]*[:：][ \t*]*\S", re.IGNORECASE | re.MULTILINE,
)
HEADER_LINES = 2  # of a mail, no further apart than
HEADER_REACH = 400  # characters
_ANNOUNCED = re.compile(
    r"^[^\n]{0,300}?(?:\b(?:cop(?:y|ied) (?:of|from)|excerpts?|quot(?:e|ed|ing|ation)s?|forwarded|pasted|(?:this|that|the|an?|following) "
    r"(?:e-?mail|mail|message|article|newsletter|tweet|web ?(?:page|site)|blog(?: post)?|forum post|readme)|i (?:found|got|received) (?:this|the following))\b"
    r"|引用|転載|転送|コピー|(?:この|次の|以下の)(?:メール|記事|ブログ|ページ|サイト|文章|投稿)|(?:ウェブ|ネット|サイト)(?:で|から)"
    r"|인용|발췌|복사|전달받|(?:이|다음|아래) ?(?:메일|이메일|기사|블로그|페이지|글|게시물)|(?:웹|인터넷|사이트)에서"
    r"|摘自|引自|引用|转载|转发|复制自|(?:这|这封|这篇|以下|下面)的?(?:邮件|文章|博客|网页|网站|帖子)|网上)[^\n]{0,200}[:：][ \t*]*$",
    re.IGNORECASE | re.MULTILINE,
)


def passed_on(text: str) -> tuple[tuple[int, int], ...]:
    """Spans (start, end) of `text` that are somebody else's words, in order of their start; they may overlap."""
    spans = [(match.start(), _closing(text, match)) for match in _TAG.finditer(text)]
    headers = [match.start() for match in _HEADER.finditer(text)]
    last = HEADER_LINES - 1
    mails = [at for i, at in enumerate(headers[: len(headers) - last]) if headers[i + last] - at <= HEADER_REACH]
    announced = [match.end() for match in _ANNOUNCED.finditer(text)]
    spans += [(at, len(text)) for at in sorted([*mails[:1], *announced[:1]])]
    return tuple(sorted(spans))


def _closing(text: str, opening: re.Match[str]) -> int:
    """Where a block in tags ends: after its end tag, or with the text if there is none."""
    at = text.lower().rfind(f"</{opening['name'].lower()}>", opening.end())
    return at if at >= 0 else len(text)
