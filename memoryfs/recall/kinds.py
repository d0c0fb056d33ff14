"""In: a question, and the text of a place. Out: which kind of exact value is asked for, and where the text holds one.

"Which port …", "… の正規表現は", "… 명령어는", "…的路径": a place that holds a value of the kind asked for answers better
than one that only speaks of it. Only the kind is judged here; which value it is, the other views decide.
"""

from __future__ import annotations

import re
from functools import lru_cache

# Kind of `memoryfs.exact` → how a question asks for one. Latin words are matched whole, the others anywhere.
_ASKED = {
    "regex": r"\bregex(?:p|es)?\b|\bregular expressions?\b|正規表現|정규\s?(?:표현)?식|正则",
    "port": r"\bports?\b(?!\s+(?:to|from|of)\b)|ポート|포트|端口|通訊埠",
    "sql": r"\bsql\b|\b(?:select|insert|update|delete|create|alter) statement\b"
           r"|\bwhich query\b|\bwhat (?:is the )?query\b|クエリ|쿼리|查询语句",
    "command": r"\b(?:which|what|exact|full) (?:[\w-]+ ){0,2}commands?\b|\bcommand lines?\b|\bsynopsis\b"
               r"|\bhow (?:do|can|should) (?:i|we|you) (?:run|start|build|install|deploy|launch)\b"
               r"|コマンド|명령어|어떤 명령|무슨 명령|命令",
    "env": r"\benv(?:ironment)? var(?:iable)?s?\b|\benvironment\b.{0,12}\bvariables?\b|環境変数|환경\s?변수|环境变量",
    "path": r"\b(?:which|what) (?:\w+ ){0,2}(?:file|folder|directory|path|script)\b|\b(?:file ?name|file path|path)s?\b"
            r"|ファイル名|どのファイル|パスは|パスを|フォルダ|경로|파일\s?이름|어느 파일|어떤 파일|路径|文件名|哪个文件|目录",
    "version": r"\b(?:which|what) (?:[\w-]+ ){0,2}versions?\b|\bversion (?:number|constraint)\b|バージョン|버전|版本",
    "url": r"\burls?\b|\bendpoints?\b|\bweb address\b|\bwhat link\b|\bwhere does .{1,40} run\b|エンドポイント|엔드포인트|链接|网址",
    "email": r"\be-?mail address(?:es)?\b|メールアドレス|이메일\s?주소|邮箱|邮件地址",
    "hash": r"\b(?:which|what) (?:[\w-]+ ){0,2}(?:hash|sha|checksum)\b|\bcommit (?:hash|sha)\b|\bwhich commit\b|\bcommit id\b|ハッシュ|どのコミット|해시|어느 커밋|어떤 커밋|哈希|哪个提交",
}
_ANY = "|".join(f"(?P<{kind}>{words})" for kind, words in _ASKED.items())


@lru_cache(maxsize=1)
def _pattern() -> re.Pattern[str]:
    return re.compile(_ANY, re.IGNORECASE)


def asked(question: str) -> frozenset[str]:
    """The kinds of `memoryfs.exact` that the question asks for; mostly none or one."""
    return frozenset(match.lastgroup or "" for match in _pattern().finditer(question))


def values(text: str, kinds: frozenset[str], start: int = 0, end: int | None = None) -> list[tuple[int, int]]:
    """The [start, end) places of values of these kinds in `text[start:end]`, in offsets of `text`."""
    from memoryfs.exact import exact_values

    piece = text[start:end]
    return [(start + value.start, start + value.end) for value in exact_values(piece, kinds)]
