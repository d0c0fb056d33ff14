"""In: a question, and the text of a place. Out: which kind of exact value or amount is asked for, and where the text holds one.

"Which port …", "… の正規表現は", "… 명령어는", "…的路径": a place that holds a value of the kind asked for answers better
than one that only speaks of it. Only the kind is judged here; which value it is, the other views decide.
"""

from __future__ import annotations

import re

from memoryfs.patterns import lazy

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
_ANY = lazy("|".join(f"(?P<{kind}>{words})" for kind, words in _ASKED.items()), re.IGNORECASE)


def asked(question: str) -> frozenset[str]:
    """The kinds of `memoryfs.exact` that the question asks for; mostly none or one."""
    return frozenset(match.lastgroup or "" for match in _ANY.finditer(question))


def values(text: str, kinds: frozenset[str], start: int = 0, end: int | None = None) -> list[tuple[int, int]]:
    """The [start, end) places of values of these kinds in `text[start:end]`, in offsets of `text`."""
    from memoryfs.exact import exact_values

    piece = text[start:end]
    return [(start + value.start, start + value.end) for value in exact_values(piece, kinds)]


_N = r"(?:\d[\d.,]*|\b(?:an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|forty|sixty|ninety|hundred|half|several|couple|few)\b"
_N += r"|[一二三四五六七八九十百千两半数几]|[한두세네몇]|다섯|여섯|일곱|여덟|아홉|열|하루|이틀|사흘|나흘)"
_UNITS = {
    "seconds": r"seconds?|secs?|s\b|ms\b|秒|초", "minutes": r"minutes?|mins?|m\b|分(?!之)|분", "hours": r"hours?|hrs?|h\b|時間|시간|小时|小時",
    "days": r"days?|d\b|日|天|일", "weeks": r"weeks?|週|周|星期|주", "months": r"months?|か月|ヶ月|カ月|月|개월|달|个月", "years": r"years?|年|년|해",
}
# What is asked for that is no `memoryfs.exact` kind → how a question asks for it, how a text holds it. Only classes that
# can be recognised whole: where none stands near the subject, the store does not say it.
_SAID = {
    "period": (
        r"\bhow (?:many (?:seconds?|minutes?|hours?|days?|weeks?|months?|years?)|long)\b|何(?:秒|分|時間|日間?|週間?|か月|ヶ月|年間?)(?!に)|どのくらいの期間"
        r"|몇\s?(?:초|분|시간|일|주|개월|달|년)(?!에)|며칠|얼마\s?동안|(?:几|多少)个?(?:秒|分钟|小时|天|周|月|年)|多久|多长时间",
        rf"{_N}[\s-]?(?:more |whole |full |other )?(?:{'|'.join(_UNITS.values())})|\b(?:daily|weekly|monthly|yearly|annual\w*|forever|overnight)\b|永久|永遠|무기한",
    ),
    "percentage": (
        r"\b(?:what|which) (?:percentage|percent|share|proportion)\b|\bhow many percent\b|何(?:パーセント|%|割)|몇\s?(?:퍼센트|%|프로)|百分之[几多]|多少百分比|比例是多少",
        rf"\d\s?[%％]|\bpercent|パーセント|割|퍼센트|프로|百分之|{_N} (?:out of|in) ",
    ),
    "price": (
        r"\bhow much (?:does|did|do|is|was|will|would) .{1,60}\b(?:cost|pay|charge)\b|\b(?:what|which) (?:\w+ ){0,2}(?:price|fee|budget|cost)\b|\bhow expensive\b"
        r"|(?:料金|費用|値段|価格|予算).{0,6}いくら|いくら(?:で|の|か)|(?:비용|요금|가격|예산).{0,6}얼마|얼마짜리|(?:费用|价格|价钱|预算|租金).{0,6}多少|多少钱",
        rf"[$€£¥￥₩]\s?\d|\d[\d,.]*\s?(?:円|원|元|块|dollars?|euros?|pounds?|yen|won|usd|eur|jpy|krw|cny|bucks|k\b)|\d\s?[万만]|{_N}\s?[万千百만천]?\s?(?:円|원|元|块)|\bfree\b|無料|무료|免费",
    ),
    "phone number": (
        r"\b(?:phone|telephone|mobile) number\b|電話番号|전화\s?번호|(?:电话|手机)(?:号码|号)?(?:是|：)?(?:多少|什么|几)",
        r"\+?\d[\d() .-]{6,}\d",
    ),
    "colour": (
        r"\b(?:what|which) colou?rs?\b|何色|무슨 색|어떤 색|什么颜色",
        r"\b(?:red|blue|green|yellow|black|white|gr[ae]y|brown|orange|purple|pink|violet|teal|cyan|magenta|gold(?:en)?|silver|beige|navy|turquoise|maroon"
        r"|colou?r(?:ed|ful)?)\b|#[0-9a-f]{3,8}\b|[赤青緑黄黒白灰茶紫桃金銀红蓝绿黑银]色?|빨간|파란|초록|노란|검은|하얀|흰|회색|갈색|보라|분홍|주황",
    ),
    "channel": (
        r"\b(?:what|which) (?:slack |chat |discord |teams )?channel\b|どの.{0,8}チャンネル|어느.{0,8}채널|무슨.{0,8}채널|哪个.{0,8}频道",
        r"(?<![\w#&])#[\w-]{2,}|[\w-]+ channel\b|チャンネル|채널|频道",
    ),
    "version": (
        r"\b(?:in|with|for|by) (?:which|what) release\b|\b(?:which|what) (?:\w+ ){0,2}(?:release|version)s?\b|どの(?:バージョン|リリース)|어느 버전|몇 버전|哪个版本",
        r"\bv?\d+\.\d+|\bv\d+\b|\b(?:version|release) \d|[~^>=<]=?\s?\d|(?<=[A-Za-z] )\d{1,4}\b|バージョン\s?\d|버전\s?\d|版本\s?\d",
    ),
}
# Amounts that nobody said, because they are reckoned from what was said.
_RECKONED = lazy(
    r"\bbetween\b|\bpass(?:ed)?\b|\bsince\b|\bago\b|\bfrom .{1,40} (?:to|until)\b|\b(?:days|weeks|months|years|hours|minutes|long) (?:before|after|until|had|have|has)\b"
    r"|\bafter how\b|\bpercentage of .{1,80} (?:is|are|was|were)\b|\btotal\b|\bin all\b|\baltogether\b|\baverage\b|\b(?:more|less|fewer|older|younger)\b|\bha(?:ve|s|d) \w+ (?:been|had|spent|owned)\b"
    r"|から.{0,12}(?:経|たっ)|合計|平均|[前後]の?に?[?？]|경과|합계|평균|지났|지난|一共|总共|平均|之前|之后|过了",
    re.IGNORECASE,
)
_AMOUNTS = {name: (lazy(asks, re.IGNORECASE), lazy(held, re.IGNORECASE)) for name, (asks, held) in _SAID.items()}


def amount(question: str) -> tuple[str, re.Pattern[str]] | None:
    """The one class of values that the question asks for, and the pattern of its members; None where none is recognised.

    None also where the answer would have to be reckoned ("how many days between …").
    """
    named = [(name, held) for name, (asks, held) in _AMOUNTS.items() if asks.search(question)]
    if len(named) != 1 or _RECKONED.search(question):
        return None
    return named[0]
