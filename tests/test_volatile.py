"""Which facts pass: versions in use, prices, roles and hosts in four languages, and what only looks like them."""

from __future__ import annotations

from datetime import date

import pytest

from memoryfs.config import Recheck
from memoryfs.volatile import after, interval, kinds

PASSING = {
    "version": [
        "The app uses React 18.2.0.", "We are on Node 20 for now.", "The server runs PostgreSQL 15.", "The SDK is at version 3.4.1.",
        "The client library is pinned to ^2.7.0.", "Python 3.11 を使っている。", "アプリのバージョンは 4.2 です。", "Ubuntu 22.04 のサーバーで動かす。",
        "노드 버전은 20.11.1 이다.", "파이썬 3.12 버전을 쓴다.", "项目使用的版本是 2.3.1。", "前端用 Vue 3.4。",
    ],
    "price": [
        "The hosting costs $20 a month.", "The plan is €9/month per seat.", "Our rent is 950 euros.", "サーバーの料金は月額3000円。",
        "家賃は8万円です。", "서버 요금은 월 5만원이다.", "가격은 12,000원이다.", "服务器每月 99元。", "价格是 300 元。",
    ],
    "role": [
        "Dana is the product owner.", "Kim Lee is our new tech lead.", "Maria is responsible for the release.", "The principal is Tanaka.",
        "Our contact person is Alex Braun.", "佐藤さんが経理の担当です。", "担当者は鈴木さんです。", "김민수 님이 결제 담당이다.", "팀장은 박지영 님이다.",
        "负责人是王芳。", "李雷负责前端。",
    ],
    "host": [
        "The staging server is stage.example.org.", "Production runs on https://app.example.com.", "The NAS is at 192.168.1.20.",
        "本番サーバーは app.example.co.jp です。", "ステージングのホストは 10.0.3.7 だ。", "운영 서버는 https://app.example.kr 이다.",
        "테스트 서버 주소는 10.1.2.3 이다.", "生产环境在 app.example.cn。", "服务器地址是 10.2.0.8。",
    ],
}
LASTING = [
    "Use TLS 1.2 or newer.", "Dates follow ISO 8601.", "The licence is Apache-2.0.", "The flag exists since version 2.1.0.",
    "The function moved in 3.2.0; introduced in 2.0.1.", "Ports below 1024 need root.", "The cookie lives 7 days.",
    "The owner is root.", "validateEmail is responsible for checking addresses.", "The admin role may delete devices.",
    "It listens on localhost:3000.", "The dev server runs on http://127.0.0.1:5173.", "A host header is required.", "Prefer short answers.",
    "The test lends 3 cameras.", "Refund 20 percent.", "Servers are restarted at night.", "バージョン管理には git を使う。", "2.0.0 以降で動く。",
    "担当者の欄は必須。", "メールは短く。", "サーバーは夜に再起動する。", "역할은 관리자와 사용자 두 가지다.", "버전 관리는 git 으로 한다.", "서버는 밤에 재시작한다.",
    "One product -> 1 variant, `count == 1`.", "A run takes ~2 s.", "The routes of the API v2 stay.", "It retries >= 3 times.",
    "角色分为管理员和普通用户。", "用 git 做版本管理。", "价格字段不能为空。", "The price field must not be empty.", "Read section 3.2 first.",
]


@pytest.mark.parametrize(("kind", "text"), [(kind, text) for kind, texts in PASSING.items() for text in texts])
def test_a_passing_fact_is_known(kind, text):
    assert kind in kinds(text)


@pytest.mark.parametrize("text", LASTING)
def test_what_lasts_is_left_alone(text):
    assert not kinds(text)


def test_the_shortest_interval_that_is_on_counts():
    settings = Recheck(version_days=90, price_days=60, host_days=0)
    assert interval(frozenset({"version", "price"}), settings) == 60
    assert interval(frozenset({"host"}), settings) == 0 and interval(frozenset(), settings) == 0
    assert after(date(2026, 5, 2), 90) == "2026-07-31"
    assert after(date(9999, 12, 31), 5) == "" and after(date(2026, 5, 2), 0) == ""


@pytest.mark.parametrize("text", ["a " * 20_000, "1." * 20_000, "担当者は" * 8_000, "The lead " * 8_000, "$1 " * 15_000, "a.b" * 15_000])
def test_the_time_is_bounded(text):
    import time

    begun = time.perf_counter()
    kinds(text)
    assert time.perf_counter() - begun < 5
