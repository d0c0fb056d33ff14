"""In: a user's message. Out: the spans of it that somebody else wrote and the user only passed on: data, never the user's wish.

Told by form, in four languages: a block in tags that name a source, the header of a mail, a line that announces a copy and ends
in a colon, a line that names its own speaker, a long quotation; and a whole message that tells to ignore what was said
before. What follows such a header or line counts as passed on to the end of the message: where the user's own words
begin again cannot be told, and a rule of the user's that is missed is said again, while a stranger's that is kept is obeyed.
"""

from __future__ import annotations

import re

_TAG = re.compile(
    r"^[ \t]*<(?P<name>doc(?:ument)?s?|files?|page|web_?page|web_?site|web|source|e?-?mail|message|logs?|output|stdout|stderr|attachments?|"
    r"quote|article|transcript|issue|ticket|comments?|readme|html|results?|tool_result|search_results?|content|context|data|"
    r"untrusted[\w-]*|pasted?[\w-]*)(?:\s[^<>\n]{0,300})?>", re.IGNORECASE | re.MULTILINE,
)
_HEADER = re.compile(
    r"^[ \t>*]*(?:from|to|cc|subject|date|sent|reply-to|差出人|送信者|宛先|件名|日時|送信日時|보낸 ?사람|받는 ?사람|제목|날짜|发件人|收件人|"
    r"抄送|主题|日期|发送时间)[ \t*]*[:：][ \t*]*\S", re.IGNORECASE | re.MULTILINE,
)
HEADER_LINES = 2  # of a mail, no further apart than
HEADER_REACH = 400  # characters
_ANNOUNCED = re.compile(
    r"^[^\n]{0,300}?(?:\b(?:cop(?:y|ied)(?: \w+){0,2} (?:of|from)|excerpts?|quot(?:e|ed|ing|ation)s?|forwarded|pasted|(?:this|that|the|an?|following) "
    r"(?:e-?mail|mail|message|article|newsletter|tweet|web ?(?:page|site)|blog(?: post)?|forum post|readme)|i (?:found|got|received) (?:this|the following)|(?<!\bI )(?<!\bwe )(?:writes|wrote|says|said|asks|asked|replied|commented|posted|answered)(?: \w+){0,3}(?=[ \t]*:)|(?:output|logs?|errors?(?: messages?)?|stack ?trace|traceback|response|stdout|stderr)(?=[ \t]*:))\b"
    r"|引用|転載|転送|コピー|(?:この|次の|以下の)(?:メール|記事|ブログ|ページ|サイト|文章|投稿)|(?:ウェブ|ネット|サイト)(?:で|から)|(?:さん|氏|様)(?:から|が|の)"
    r"|인용|발췌|복사|전달받|(?:이|다음|아래) ?(?:메일|이메일|기사|블로그|페이지|글|게시물)|(?:웹|인터넷|사이트)에서|(?:님|씨)(?:이|가|의)"
    r"|摘自|引自|引用|转载|转发|复制自|(?:这|这封|这篇|以下|下面)的?(?:邮件|文章|博客|网页|网站|帖子)|网上|写道|(?<!我)说|问道|回复)[^\n]{0,200}[:：][ \t*]*$",
    re.IGNORECASE | re.MULTILINE,
)

# Work on a text that stands after the colon.
_MATERIAL = re.compile(
    r"^[ \t]*(?:(?:please|can you|could you|now) )*(?:translate|proofread|summari[sz]e|paraphrase|rephrase|reword|spell-?check)\b[^:\n]{0,120}:(?!//)"
    r"|^[^\n:：]{0,80}(?:翻訳|校正|要約|添削|訳)し[^\n:：]{0,20}[:：]|^[^\n:：]{0,80}(?:번역|교정|요약|다듬)[^\n:：]{0,20}[:：]"
    r"|^[^\n:：]{0,40}(?:翻译|校对|总结|概括|润色|改写)[^\n:：]{0,40}[:：]", re.IGNORECASE | re.MULTILINE,
)
# A line that says who speaks: nobody begins a line of their own so. It may carry a log's time.
_SPEAKER = re.compile(
    r"^[ \t>*#]*(?:[\[(]?\d[\d:T.,/Z +-]{2,30}[\])]?[ \t]*)?(?:[\[<(|]{1,2}[ \t]*/?(?:system|sys|inst|assistant|developer|im_start|admin)\b[^\n\])>|]{0,40}[\])>|]{1,2}"
    r"|(?:system|assistant|human|user|developer|admin(?:istrator)?|ai|llm|agent|シ[スズ]テム|アシスタント|ユーザー|管理者|시스템|어시스턴트|사용자|관리자|系统|系統|助手|用户|用戶|管理员)"
    r"(?: (?:prompt|message|note|notice|override|instructions?|update))?[ \t*]*[:：])", re.IGNORECASE | re.MULTILINE,
)
_PARAGRAPH = re.compile(r"\n[ \t]*\n")
_QUOTED = re.compile(r"(?<![^\s(\[:：])\"(?=\S)[^\"\n]{30,2000}(?<=\S)\"(?!\w)|“[^”]{15,2000}”|«[^»]{20,2000}»|「[^」]{12,2000}」|『[^』]{12,2000}』|„[^“”]{20,2000}[“”]")
_OVERRIDE = re.compile(
    r"\b(?:ignore|disregard|forget|override) (?:all |any |the |your |every |of )*(?:previous|prior|above|earlier|preceding|system)\b.{0,30}\b(?:instructions?|rules?|prompts?)\b"
    r"|(?:以前|これまで|今まで|上記|前)の(?:指示|命令|ルール).{0,12}(?:無視|忘れ)|(?:이전|앞선|위의|지금까지의) ?(?:지시|명령|규칙).{0,12}(?:무시|잊)"
    r"|(?:忽略|无视|忘记)(?:掉)?(?:之前|以前|以上|上面|先前|此前)?的?(?:所有|全部|一切)?的?(?:指令|指示|规则|提示|命令)", re.IGNORECASE,
)


def passed_on(text: str) -> tuple[tuple[int, int], ...]:
    """Spans (start, end) of `text` that are somebody else's words, in order of their start; they may overlap."""
    if _OVERRIDE.search(text):
        return ((0, len(text)),)
    spans = [(match.start(), _closing(text, match)) for match in _TAG.finditer(text)]
    spans += [match.span() for match in _QUOTED.finditer(text)]
    for match in _SPEAKER.finditer(text):
        end = _PARAGRAPH.search(text, match.end())
        spans.append((match.start(), end.start() if end else len(text)))
    headers = [match.start() for match in _HEADER.finditer(text)]
    last = HEADER_LINES - 1
    mails = [at for i, at in enumerate(headers[: len(headers) - last]) if headers[i + last] - at <= HEADER_REACH]
    announced = sorted([*(m.end() for m in _ANNOUNCED.finditer(text)), *(m.start() for m in _MATERIAL.finditer(text))])
    spans += [(at, len(text)) for at in sorted([*mails[:1], *announced[:1]])]
    return tuple(sorted(spans))


def _closing(text: str, opening: re.Match[str]) -> int:
    """Where a block in tags ends: after its end tag, or with the text if there is none."""
    at = text.lower().rfind(f"</{opening['name'].lower()}>", opening.end())
    return at if at >= 0 else len(text)
