"""The page in a real Chromium: what a person does, by mouse and by keyboard, and what a note must not do.

Skipped, with the reason, where there is no Chromium, no chromedriver or no selenium.
"""

from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
from web_kit import no_browser

pytestmark = pytest.mark.skipif(bool(no_browser()), reason=no_browser() or "there is a browser")


def _one(browser, css):
    from selenium.webdriver.support.ui import WebDriverWait

    return WebDriverWait(browser, 10).until(lambda b: b.find_element("css selector", css))


def _wait(browser, condition):
    from selenium.webdriver.support.ui import WebDriverWait

    return WebDriverWait(browser, 10).until(condition)


def _type(browser, css, text, *, enter=True):
    from selenium.webdriver.common.keys import Keys

    field = _one(browser, css)
    field.clear()
    field.send_keys(text + (Keys.ENTER if enter else ""))


def _complaints(browser):
    return [entry["message"] for entry in browser.get_log("browser") if entry["level"] == "SEVERE"]


def test_search_to_the_highlighted_evidence(browser, served):
    _type(browser, "#q", "gateway port")
    _one(browser, "section[aria-labelledby=h-evidence] a.main").click()
    mark = _one(browser, "mark#evidence")
    assert "7443" in mark.text and "/threads/" in browser.current_url
    assert 0 <= mark.rect["y"] - browser.execute_script("return scrollY") < browser.execute_script("return innerHeight")
    assert browser.execute_script("return getComputedStyle(arguments[0]).backgroundColor", mark) != "rgba(0, 0, 0, 0)"
    assert not _complaints(browser)


def test_why_a_result_ranks_there_opens_by_keyboard(browser, served):
    from selenium.webdriver.common.keys import Keys

    _type(browser, "#q", "gateway port")
    summary = _one(browser, ".hits details summary")
    summary.send_keys(Keys.ENTER)
    table = _wait(browser, lambda b: b.find_element("css selector", ".hits details[open] table"))
    assert "words in common" in table.text


def test_a_wrong_belief_is_corrected_in_three_clicks_and_the_next_recall_has_it(browser, served):
    from selenium.webdriver.common.keys import Keys

    _type(browser, "#q", "gateway port")
    _one(browser, "a[aria-label^='Correct: The gateway']").click()  # 1
    text = _one(browser, "#text")
    assert browser.execute_script("return document.activeElement.id") == "text"
    chosen = browser.execute_script("return arguments[0].value.slice(arguments[0].selectionStart, arguments[0].selectionEnd)", text)
    assert chosen.startswith("- The gateway listens on port 7443.") and chosen.endswith("^m-aaa111")
    text.send_keys(chosen.replace("7443", "7555"))
    _wait(browser, lambda b: "now says: The gateway listens on port 7555." in b.find_element("css selector", "#check").text)
    text.send_keys(Keys.CONTROL, "s")  # 2
    assert "Understood: 1 changed" in _one(browser, ".messages").text
    _type(browser, "#quick", "gateway port")  # 3
    assert "7555" in _one(browser, ".hits p.text").text
    assert "7555" in served.store.recall("gateway port").memories[0].memory.summary


def test_the_live_check_names_a_broken_front_matter_by_its_line(browser, served):
    browser.get(served.base + "/edit/projects/gateway.md")
    text = _one(browser, "#text")
    browser.execute_script("arguments[0].value = arguments[0].value.replace('status: active', 'status: [');"
                           "arguments[0].dispatchEvent(new Event('input'))", text)
    _wait(browser, lambda b: "would be damaged" in b.find_element("css selector", "#check").text)
    assert "line " in _one(browser, "#check .badge.error").find_element("xpath", "..").text


def test_a_contradiction_is_settled_by_a_click_and_taken_back(browser, served):
    browser.get(served.base + "/review")
    before = (served.store.root / "projects/cookies.md").read_bytes()
    _one(browser, "button[value=accept]").click()
    _wait(browser, lambda b: "Nothing contradicts itself." in b.page_source)
    assert {m.id: m.status for m in served.store.list(topic="projects/cookies")}["m-bbb111"] == "superseded"
    _one(browser, "button[value=undo]").click()
    _wait(browser, lambda b: b.find_elements("css selector", "button[value=accept]"))
    assert (served.store.root / "projects/cookies.md").read_bytes() == before


def test_a_node_of_the_graph_leads_to_its_topic(browser, served):
    browser.get(served.base + "/graph")
    node = _one(browser, ".node[aria-label^='Gateway']")
    from selenium.webdriver import ActionChains

    ActionChains(browser).move_to_element(node).perform()
    assert _wait(browser, lambda b: b.find_elements("css selector", ".edge.on"))
    node.click()
    _wait(browser, lambda b: b.current_url.endswith("/topics/projects/gateway.md"))
    assert _one(browser, "h1").text.startswith("Gateway")


@pytest.mark.parametrize("url", ["/topics/projects/nasty.md", "/edit/projects/nasty.md", "/graph", "/topics", "/search?q=pwned",
                                 "/timeline/projects/nasty.md", "/memory/m-ddd111", "/threads"])
def test_no_script_of_a_note_runs(browser, served, url):
    browser.get(served.base + url)
    for link in browser.find_elements("css selector", "main a"):
        assert not (link.get_attribute("href") or "").lower().startswith(("javascript:", "data:"))
    browser.execute_script("for (const e of document.querySelectorAll('main *')) e.dispatchEvent(new MouseEvent('mouseover'))")
    assert browser.execute_script("return window.pwned") is None
    assert not browser.find_elements("css selector", "main script, main iframe, main img")
    assert not _complaints(browser), "the policy had nothing to stop: nothing got that far"


def test_even_markup_that_got_through_would_not_run(browser, served):
    browser.get(served.base + "/")
    browser.execute_script("""
        const box = document.createElement('div');
        box.innerHTML = '<img src="/static/none.png" onerror="window.pwned=1"><a id=l href="javascript:window.pwned=1">x</a>';
        document.querySelector('main').append(box);
        const s = document.createElement('script'); s.textContent = 'window.pwned=1'; document.body.append(s);
        document.querySelector('#l').click();""")
    import time

    time.sleep(0.5)
    assert browser.execute_script("return window.pwned") is None


def test_a_page_of_another_origin_reaches_nothing(browser, served):
    """A page on another port: it can neither read, nor post a form, nor show ours in a frame."""
    target = served.base

    class Evil(BaseHTTPRequestHandler):
        def do_GET(self):
            body = f"""<body><iframe src="{target}/"></iframe><form id=f method=post action="{target}/review/r-ccc111">
                <input name=choice value=accept></form><script>
                fetch("{target}/search?q=port", {{credentials: "include"}}).then(r => r.text()).then(t => window.got = t, e => window.got = "refused")
                </script>""".encode()
            self.send_response(200)
            self.send_header("content-type", "text/html")
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args):
            pass

    server = HTTPServer(("127.0.0.1", 0), Evil)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        before = (served.store.root / "projects/cookies.md").read_bytes()
        browser.get(f"http://127.0.0.1:{server.server_port}/")
        assert _wait(browser, lambda b: b.execute_script("return window.got")) == "refused"
        browser.execute_script("document.querySelector('#f').submit()")
        _wait(browser, lambda b: "/review/r-ccc111" in b.current_url)
        assert "Another" in browser.page_source
        assert (served.store.root / "projects/cookies.md").read_bytes() == before
    finally:
        server.shutdown()
        server.server_close()


def test_the_token_is_not_left_in_the_address_or_in_scripts(browser, served):
    assert served.keys.token not in browser.current_url
    assert browser.execute_script("return document.cookie") == ""


def test_keyboard_skip_link_slash_and_visible_focus(browser, served):
    from selenium.webdriver.common.keys import Keys

    browser.get(served.base + "/topics")
    body = browser.find_element("css selector", "body")
    body.send_keys(Keys.TAB)
    skip = browser.switch_to.active_element
    assert skip.text == "Skip to the content" and skip.rect["x"] >= 0
    body.send_keys("/")
    assert browser.switch_to.active_element.get_attribute("id") == "quick"
    _type(browser, "#quick", "", enter=False)
    browser.switch_to.active_element.send_keys(Keys.TAB)
    focused = browser.switch_to.active_element
    assert browser.execute_script("return getComputedStyle(arguments[0]).outlineStyle", focused) == "solid"


PAGES = ["/", "/search?q=cookie", "/topics", "/topics/projects/cookies.md", "/topics/projects/nasty.md", "/edit/projects/cookies.md",
         "/review", "/graph", "/timeline/projects/cookies.md", "/memory/m-bbb222", "/threads", "/nothing"]
CONTRAST = """
const lum = (c) => { const v = c.map(x => { x /= 255; return x <= .03928 ? x / 12.92 : ((x + .055) / 1.055) ** 2.4 });
  return .2126 * v[0] + .7152 * v[1] + .0722 * v[2] };
const rgb = (s) => s.match(/[\\d.]+/g).map(Number);
const bad = [];
for (const e of document.querySelectorAll('body *')) {
  if (e.closest('svg, .skip, .hidden') || ![...e.childNodes].some(n => n.nodeType === 3 && n.textContent.trim())) continue;
  let back = e; while (back && (rgb(getComputedStyle(back).backgroundColor)[3] ?? 1) === 0) back = back.parentElement;
  const a = lum(rgb(getComputedStyle(e).color)), b = lum(rgb(getComputedStyle(back ?? document.body).backgroundColor));
  const ratio = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
  if (ratio < 4.5) bad.push([e.tagName, e.className, e.textContent.slice(0, 30), ratio.toFixed(2)].join(' '));
}
return bad"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_can_be_read_in_light_and_dark(browser, served, scheme):
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]})
    try:
        backs = set()
        for url in PAGES:
            browser.get(served.base + url)
            assert browser.execute_script(CONTRAST) == [], url
            backs.add(browser.execute_script("return getComputedStyle(document.body).backgroundColor"))
        assert len(backs) == 1 and (min(map(int, backs.pop()[4:-1].split(","))) > 200) == (scheme == "light")
    finally:
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


def test_a_screen_of_400_pixels_needs_no_scrolling_sideways(browser, served):
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {"width": 400, "height": 800, "deviceScaleFactor": 1, "mobile": False})
    try:
        for url in PAGES:
            browser.get(served.base + url)
            assert browser.execute_script("return document.documentElement.scrollWidth") <= 400, url
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


NAMELESS = """
const named = (e) => (e.getAttribute('aria-label') || e.textContent.trim() || e.labels?.length || e.title);
const out = [...document.querySelectorAll('a, button, input:not([type=hidden]), select, textarea, summary, [role=region], section')]
  .filter(e => !named(e)).map(e => e.outerHTML.slice(0, 120));
const ids = [...document.querySelectorAll('[id]')].map(e => e.id);
for (const id of ids) if (ids.indexOf(id) !== ids.lastIndexOf(id)) out.push('twice: ' + id);
for (const e of document.querySelectorAll('[aria-labelledby]')) if (!document.getElementById(e.getAttribute('aria-labelledby'))) out.push(e.outerHTML.slice(0, 80));
if (document.querySelectorAll('h1').length !== 1) out.push('not one h1');
if (!document.documentElement.lang) out.push('no language');
return out"""


def test_everything_has_a_name_for_a_screen_reader(browser, served):
    for url in PAGES:
        browser.get(served.base + url)
        assert browser.execute_script(NAMELESS) == [], url


def test_names_with_percent_signs_and_hashes_open(browser, served):
    for name in ("percent%41.md", "hash#x.md", "日本 語?.md"):
        (served.store.root / "projects" / name).write_text("# Odd name\n", encoding="utf-8")
        browser.get(served.base + "/topics")
        _one(browser, f'a.main[href*="{name[:4] if name.isascii() else "%E6%97%A5"}"]').click()
        _wait(browser, lambda b, name=name: b.find_elements("css selector", "p.quiet") and name in b.page_source)
        assert not browser.find_elements("css selector", ".alert")
