"""In: a question. Out: what it needs: `exact_value_needed`, `summary_ok` or `ambiguous`; rules in four languages.

Unsure means ambiguous, and ambiguous goes to the source: a summary where a value was asked does harm, a span where a
summary would do costs a few tokens.
"""

from __future__ import annotations

import re

from memoryfs.patterns import lazy
from memoryfs.recall.query import Query

EXACT, SUMMARY, AMBIGUOUS = "exact_value_needed", "summary_ok", "ambiguous"

_EXACT = lazy(
    r"\b(?:exact(?:ly)?|verbatim|precise(?:ly)?|literal|word for word|regex(?:p)?|regular expression|pattern|command(?: line)?|"
    r"flags?|options?|ports?|path|file ?names?|which file|url|link|endpoint|version|env(?:ironment)? var(?:iable)?s?|sql|query|"
    r"select statement|how (?:many|much|long|often|old|far|big|large)|what (?:number|value|name|date|time|size|id|code|error)|"
    r"which (?:number|value|name|date|function|method|class|branch|commit|table|column|key|hash)|e-?mail address|phone|"
    r"price|cost|when (?:did|was|is|will|does)|timeout|limit|threshold|exit code|hash|sha|commit|signature)\b"
    r"|正確|そのまま|一字一句|コマンド|正規表現|パス|ポート|バージョン|環境変数|何番|いくつ|いくら|何(?:個|件|秒|分|時|日|回|人|円|ミリ秒)|"
    r"アドレス|ファイル名|関数名|値は|数値|URL|いつ"
    r"|정확|그대로|명령어?|정규\s?(?:식|표현식)|경로|포트|버전|환경\s?변수|몇|얼마|주소|파일\s?이름|함수\s?이름|값은|숫자|언제"
    r"|准确|精确|原文|命令|正则|路径|端口|版本|环境变量|多少|几[个次秒分天]|地址|文件名|函数名|数值|什么时候|哪个(?:文件|函数|端口|版本)",
    re.IGNORECASE,
)
_SUMMARY = lazy(
    r"\b(?:summar(?:y|ise|ize|ies)|overview|recap|in general|big picture|tell me about|what do (?:you|we) know|what happened|"
    r"catch me up|status of|where are we|background|outline|who is|what is .{1,40} about|how is .{1,40} going|remind me what)\b"
    r"|概要|まとめ|要約|状況|経緯|あらまし|どんな(?:人|プロジェクト)|について教えて"
    r"|요약|개요|현황|상황|정리해|경위|에\s?대해"
    r"|总结|概述|概要|概况|情况|背景|进展|介绍",
    re.IGNORECASE,
)


def decide(query: Query) -> str:
    """An exact cue decides; a summary cue counts only without one and without identifiers or quoted text."""
    if _EXACT.search(query.text) or query.literals:
        return EXACT
    if _SUMMARY.search(query.text):
        return AMBIGUOUS if query.whole else SUMMARY
    return EXACT if query.whole and len(query.terms) <= 3 else AMBIGUOUS
