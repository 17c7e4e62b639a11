#!/usr/bin/env python3
"""The flame graph, the page of `report` and the picture of `ipc`, in headless Chromium: records the bundled program, draws it, and tests the page, its
search, zoom, keys and address, hostile names, and the picture without scripts.

FLAMEGRAPH_SCREENSHOTS=FOLDER stores screenshots."""
import functools
import math
import os
import re
import shutil
import sys
import tempfile
import time
import xml.etree.ElementTree as ElementTree

from suite import process
from suite.perf import reference
from suite.process import environment
from suite.settings import CORPUS, PERFUSE, SHAPE_SOURCE
from suite.tests import Failure, Skip, need, report, run_tests, skipped
from suite.webdriver import BACKSPACE, CONTROL, ENTER, ESCAPE, LEFT, RIGHT, UP, DOWN, Browser, Missing

SCREENSHOTS = os.environ.get("FLAMEGRAPH_SCREENSHOTS")
COMMAND = "]]><script>x()"  # holds 15 bytes
FUNCTION = "</title><script>hacked=1</script>]]>&amp;\"' onload=\"hacked=1"

# What a test needs of the page, as one value.
STATE = """
const frames = [...document.querySelectorAll('#frames > g')].map(g => {
	const rect = g.querySelector('rect'), title = g.querySelector('title'), text = g.querySelector('text'), box = rect.getBoundingClientRect();
	return { title: title ? title.textContent : '', label: text ? text.textContent : '', left: box.left, top: box.top,
		width: box.width, shown: getComputedStyle(g).display !== 'none', hit: g.classList.contains('hit'), fill: getComputedStyle(rect).fill };
});
return { frames, matched: document.querySelector('#matched').textContent, query: document.querySelector('#search').value,
	reset: !document.querySelector('#unzoom').hidden, tip: document.querySelector('#tip') ? document.querySelector('#tip').textContent : '',
	width: innerWidth, focus: document.activeElement ? document.activeElement.id : '' };
"""


class Frame:
    def __init__(self, data):
        self.__dict__.update(data)
        found = re.match(r"(.*) \(([\d,]+) samples?, (<?[\d.]+)%\)", self.title)
        self.name, self.samples, self.share = (found.group(1), int(found.group(2).replace(",", "")), found.group(3)) if found else ("", 0, "0")


class Page:
    def __init__(self, browser):
        data = browser.script(STATE)
        self.__dict__.update(data)
        self.frames = [Frame(f) for f in data["frames"]]

    def named(self, name, shown=True):
        return [f for f in self.frames if f.name == name and (f.shown or not shown)]

    def widths(self):
        return [(round(f.left, 1), round(f.width, 1)) for f in self.frames if f.shown]


def run(*command, cwd=None):
    return process.run(*command, cwd=cwd, text=False, env=environment(cwd or process.NO_HOME, LC_ALL="C.UTF-8"))


def record(work, output, *command):
    """A recording with call chains; None if no recorder has permission."""
    for recorder in filter(None, (PERFUSE, reference())):
        result = run(recorder, "record", "-F", "2000", "-e", "cpu-clock", "-g", "-o", output, "--", *command, cwd=work)
        if os.path.exists(output) and os.path.getsize(output) > 0 and result.returncode == 0:
            return output
    return None


def draw(work, data, name, *options):
    path = os.path.join(work, name)
    result = run(PERFUSE, "flamegraph", "-i", data, "-o", path, *options, cwd=work)
    need(result.returncode == 0, "flamegraph ends with %d: %s" % (result.returncode, result.stderr.decode(errors="replace").strip()))
    return path


def keep(browser, name):
    if SCREENSHOTS:
        os.makedirs(SCREENSHOTS, exist_ok=True)
        browser.screenshot(os.path.join(SCREENSHOTS, name + ".png"))


def settle(browser, condition, seconds=60):
    """The page when condition(page) holds, or after the given seconds."""
    end = time.monotonic() + seconds
    while True:
        page = Page(browser)
        if condition(page) or time.monotonic() > end:
            return page
        time.sleep(0.05)


def quiet(browser):
    loud = [text for level, text in browser.console() if level in ("SEVERE", "WARNING") and "favicon" not in text]
    need(not loud, "the console says: %s" % "; ".join(loud)[:300])


def look_at_page(c):
    """the page opens without a console error and shows the functions of the program"""
    c.browser.open("file://" + c.svg)
    page = Page(c.browser)
    keep(c.browser, "graph")
    quiet(c.browser)
    for name in ("all", "shape_seventy", "shape_descend"):
        need(page.named(name), "no frame %s" % name)
    need(all(f.label for f in page.frames if f.width > 60), "a wide frame has no label")


def look_at_shares(c):
    """a frame's width is the share that its title states"""
    page = Page(c.browser)
    whole = page.frames[0].width
    for f in page.frames:
        if not f.share.startswith("<"):
            need(abs(100 * f.width / whole - float(f.share)) < 0.02, "%s: %.2f px of %.2f" % (f.title, f.width, whole))


def look_at_search(c):
    """search marks the matching frames and shows their share"""
    before = Page(c.browser)
    c.browser.click("#search")
    c.browser.keys(*"s")
    for letter in "hape_(seventy|twenty)":
        c.browser.keys(letter)
    page = settle(c.browser, lambda p: p.query == "shape_(seventy|twenty)" and p.matched)
    keep(c.browser, "search")
    hits = [f for f in page.frames if f.hit]
    need({f.name for f in hits} == {"shape_seventy", "shape_twenty"}, "marked: %s" % sorted({f.name for f in hits}))
    fills = {f.fill for f in hits}
    need(len(fills) == 1 and fills.isdisjoint(f.fill for f in before.frames), "marked frames have no colour of their own")
    share = 100 * sum(f.width for f in hits) / page.frames[0].width
    stated = float(re.search(r"([\d.]+)%", page.matched).group(1))
    need(abs(share - stated) < 0.1, "%s, but %.2f%% of the width is marked" % (page.matched, share))
    need("search=" in c.browser.url(), "the address does not have the search: " + c.browser.url())
    c.browser.keys(ESCAPE)
    page = settle(c.browser, lambda p: not p.query)
    need(not page.query and not any(f.hit for f in page.frames) and not page.matched, "Escape does not clear the search")


def look_at_bad_pattern(c):
    """a search that is not a regular expression is reported, and marks nothing"""
    c.browser.click("#search")
    c.browser.keys("(")
    page = settle(c.browser, lambda p: p.matched)
    need("regular expression" in page.matched, "it says: %r" % page.matched)
    c.browser.keys(BACKSPACE)
    c.browser.keys(ESCAPE)
    quiet(c.browser)


def zoom_target(page):
    """A frame of medium width with frames above it."""
    wide = page.frames[0].width
    for i, f in enumerate(page.frames[:-1]):
        if wide * 0.1 < f.width < wide * 0.7 and page.frames[i + 1].left >= f.left - 0.5 and f.name.startswith("shape"):
            return f
    raise Failure("there is no frame to zoom to")


def look_at_zoom(c):
    """a click zooms to a frame, the button resets"""
    before = Page(c.browser)
    target = zoom_target(before)
    c.browser.pointer(target.left + target.width / 2, target.top + 8, click=True)
    page = settle(c.browser, lambda p: p.reset)
    keep(c.browser, "zoom")
    zoomed = [f for f in page.frames if f.shown and f.name == target.name and abs(f.width - before.frames[0].width) < 1]
    need(page.reset and zoomed, "%s is not as wide as the page after the click" % target.name)
    need(abs(page.frames[0].width - before.frames[0].width) < 1, "the root is not as wide as the page")
    need(sum(f.shown for f in page.frames) < len(page.frames), "nothing was hidden")
    need("zoom=" in c.browser.url(), "the address does not have the zoom: " + c.browser.url())
    c.browser.click("#unzoom")
    page = settle(c.browser, lambda p: not p.reset)
    need(not page.reset and page.widths() == before.widths(), "Reset does not bring the whole back")


def look_at_address(c):
    """the address restores zoom and search, and Back undoes a zoom"""
    before = Page(c.browser)
    target = zoom_target(before)
    c.browser.pointer(target.left + target.width / 2, target.top + 8, click=True)
    zoomed = settle(c.browser, lambda p: p.reset)
    c.browser.keys("s")
    for letter in "hape":
        c.browser.keys(letter)
    settle(c.browser, lambda p: p.query == "shape")
    url = c.browser.url()
    c.browser.open("about:blank")
    c.browser.open(url)
    page = settle(c.browser, lambda p: p.reset and p.matched)
    need(page.widths() == zoomed.widths(), "the zoom is another one after a reload of " + url)
    need(page.query == "shape" and "of view" in page.matched, "the search is gone after a reload of " + url)
    c.browser.open("file://" + c.svg)
    c.browser.pointer(target.left + target.width / 2, target.top + 8, click=True)
    settle(c.browser, lambda p: p.reset)
    c.browser.back()
    page = settle(c.browser, lambda p: not p.reset)
    need(page.widths() == before.widths(), "Back does not undo the zoom")
    quiet(c.browser)


def look_at_keys(c):
    """Ctrl-F and / focus the search, arrows move the selection, Enter zooms, Escape resets"""
    c.browser.open("file://" + c.svg)
    before = Page(c.browser)
    c.browser.keys(CONTROL, "f")
    need(Page(c.browser).focus == "search", "Ctrl-F does not lead to the search")
    c.browser.keys(ESCAPE)
    c.browser.keys("/")
    page = Page(c.browser)
    need(page.focus == "search" and page.query == "", "/ does not lead to the search")
    c.browser.keys(ESCAPE)
    for key in (UP, UP, UP, RIGHT, LEFT, DOWN, UP):
        c.browser.keys(key)
    page = settle(c.browser, lambda p: p.tip)
    need(page.tip and not page.tip.startswith("all"), "arrows do not walk: %r" % page.tip)
    c.browser.keys(ENTER)
    page = settle(c.browser, lambda p: p.reset)
    need(page.reset, "Enter does not zoom")
    c.browser.keys(ESCAPE)
    page = settle(c.browser, lambda p: not p.reset)
    need(page.widths() == before.widths(), "Escape does not reset")


def look_at_tip(c):
    """pointing at a frame shows its function, samples, share and module"""
    c.browser.open("file://" + c.svg)
    target = max(Page(c.browser).named("shape_seventy"), key=lambda f: f.width)
    c.browser.pointer(target.left + target.width / 2, target.top + 8)
    page = settle(c.browser, lambda p: p.tip)
    keep(c.browser, "tip")
    for part in ("shape_seventy", "%s samples" % format(target.samples, ","), target.share + "%", "/shape"):
        need(part in page.tip, "the tip %r lacks %r" % (page.tip, part))
    c.browser.pointer(2, 2)
    page = settle(c.browser, lambda p: not p.tip)
    need(not page.tip and len([f for f in page.frames if f.title]) == len(page.frames), "the tip stays")


def look_at_window(c):
    """the graph is as wide as the window, and its labels fit"""
    for width in (1500, 800):
        c.browser.resize(width, 900)
        page = settle(c.browser, lambda p: abs(p.frames[0].width - (p.width - 24)) < 2)
        need(abs(page.frames[0].width - (page.width - 24)) < 2, "%.0f px in a window of %d" % (page.frames[0].width, page.width))
    over = c.browser.script("return [...document.querySelectorAll('#frames text')].filter(t => t.textContent && "
                            "t.getBoundingClientRect().right > t.parentNode.querySelector('rect').getBoundingClientRect().right + 1).length")
    need(over == 0, "%d labels are wider than their frames" % over)
    c.browser.resize(1200, 900)


def look_at_picture(c):
    """without scripts the file is shown as a picture"""
    page = os.path.join(c.work, "page.html")
    with open(page, "w") as out:
        out.write('<!DOCTYPE html><title>x</title><img id="graph" src="%s">' % os.path.basename(c.svg))
    c.browser.open("file://" + page)
    size = c.browser.script("const i = document.querySelector('#graph'); return [i.complete, i.naturalWidth, i.naturalHeight]")
    keep(c.browser, "picture")
    need(size[0] and size[1] == 1200 and size[2] > 200, "the picture is %s" % size)
    quiet(c.browser)


def look_at_layouts(c):
    """inverted, reversed and fixed graphs open without a console error"""
    for name, options in (("inverted", ["--inverted"]), ("reversed", ["--reverse", "--by", "none"]),
                          ("fixed", ["--width", "700", "--by", "tid", "--title", "A title", "--subtitle", "and another"])):
        path = draw(c.work, c.data, name + ".svg", *options)
        c.browser.open("file://" + path)
        page = Page(c.browser)
        keep(c.browser, name)
        quiet(c.browser)
        root = page.frames[0]
        if name == "inverted":
            need(root.top == min(f.top for f in page.frames), "the root is not on top")
        if name == "fixed":
            need(abs(root.width - (700 - 24)) < 1, "%.1f px" % root.width)
            # the thread that works the whole time: the main one only starts the others and is seldom sampled
            roots = [f.name for f in page.frames if re.fullmatch(r"shape-deep-\d+/\d+", f.name)]
            need(len(roots) == 1, "roots name the thread of shape-deep as %s" % roots)


def look_at_comparison(c):
    """in a comparison, frames have the widths of both recordings and the colours of their changes, and the tip shows both shares"""
    other = record(c.work, os.path.join(c.work, "other.data"), os.path.join(c.work, "shape"), "--ms", "300", "--depth", "3")
    fills = {}
    for widths in ("both", "old", "new"):
        c.browser.open("file://" + draw(c.work, c.data, "diff.svg", "--diff", other, "--comm", "shape-deep,shape-even", "--widths", widths))
        page = Page(c.browser)
        quiet(c.browser)
        whole = page.frames[0].width
        shares = {}
        for f in page.frames:
            before = float(re.search(r"before: [\d,]+ samples?, <?([\d.]+)%", f.title).group(1))
            after = float(f.share.lstrip("<"))
            wanted = {"both": (before + after) / 2, "old": before, "new": after}[widths]
            need(abs(100 * f.width / whole - wanted) < 0.03, "%s: %s is %.2f%% wide" % (widths, f.title, 100 * f.width / whole))
            shares[f.title] = before, after
            fills.setdefault((after > 1.5 * before) - (before > 1.5 * after), set()).add(f.fill)
    keep(c.browser, "comparison")
    grey = page.frames[0].fill  # the root does not change, and few samples show nothing
    more, less = fills.get(1, set()) - {grey}, fills.get(-1, set()) - {grey}
    need((more or less) and more.isdisjoint(less | fills[0]) and less.isdisjoint(fills[0]), "the colours are %s" % fills)
    target = max((f for f in page.frames if f.name.startswith("shape")), key=lambda f: f.width)
    c.browser.pointer(target.left + target.width / 2, target.top + 8)
    page = settle(c.browser, lambda p: p.tip)
    need("before:" in page.tip and "change:" in page.tip, "the tip is %r" % page.tip)


def look_at_modules(c):
    """colours by module have a legend of their names, and frames of one module have shades of one colour"""
    c.browser.open("file://" + draw(c.work, c.data, "modules.svg", "--colors", "module", "--fold-recursion"))
    page = Page(c.browser)
    keep(c.browser, "modules")
    quiet(c.browser)
    need(len(page.named("shape_descend")) == 1, "recursion is %d frames" % len(page.named("shape_descend")))
    legend = c.browser.script("return [...document.querySelectorAll('#legend text')].map(t => t.textContent)")
    need("shape" in legend and any(name.startswith("libc") for name in legend), "the legend is %s" % legend)


def look_at_dark(c):
    """a user who prefers dark pages gets a dark page"""
    c.browser.open("file://" + c.svg)
    try:
        c.browser.prefer("dark")
        fill = c.browser.script("return getComputedStyle(document.querySelector('#page')).fill")
        keep(c.browser, "dark")
        need(sum(map(int, re.findall(r"\d+", fill)[:3])) < 150, "the page is " + fill)
    finally:
        c.browser.prefer("light")


def look_at_hostile_names(c):
    """names that contain markup are shown as text"""
    folder = os.path.join(c.work, "<b>&'\"]]>")
    os.mkdir(folder)
    source, program = os.path.join(c.work, "hostile.c"), os.path.join(folder, "a<b>'&")
    with open(source, "w") as out:
        out.write("#include <sys/prctl.h>\nvolatile unsigned long n;\n"
                  "#define SPIN(name, times) __attribute__((noinline)) void name(void) { for (unsigned long i = 0; i < times; i++) n += i; }\n"
                  "SPIN(spin, 200000000ul) SPIN(second, 60000000ul) SPIN(third, 40000000ul) SPIN(fourth, 20000000ul)\n"
                  'int main(void) { prctl(PR_SET_NAME, "%s"); spin(); second(); third(); fourth(); n++; return 0; }\n' % COMMAND)
    need(run("cc", "-O1", "-fno-omit-frame-pointer", "-o", program, source).returncode == 0, "the program does not compile")
    need(run("objcopy", "--redefine-sym", "spin=" + FUNCTION, program).returncode == 0, "objcopy does not rename a symbol")
    data = record(c.work, os.path.join(c.work, "hostile.data"), program)
    need(data, "recording failed")
    c.hostile = data
    svg = draw(c.work, data, "hostile.svg", "--title", "</title><script>x()</script>", "--subtitle", "]]>&amp;")
    root = ElementTree.parse(svg).getroot()
    need(len(root.findall(".//{http://www.w3.org/2000/svg}script")) == 1, "there is more than one script")
    c.browser.open("file://" + svg)
    page = Page(c.browser)
    keep(c.browser, "hostile")
    quiet(c.browser)
    names = [f.name for f in page.frames]
    need(COMMAND in names and FUNCTION in names, "names are not shown as they are: %s" % names)
    need(c.browser.script("return typeof hacked") == "undefined", "a name was run")
    c.browser.pointer(page.frames[0].left + 300, max(page.named(FUNCTION), key=lambda f: f.width).top + 8)
    page = settle(c.browser, lambda p: p.tip)
    need(page.tip.startswith(FUNCTION[:40]) and program in page.tip, "the tip says %r" % page.tip)


def look_at_empty(c):
    """a graph without samples is a page with a sentence about it"""
    path = draw(c.work, c.data, "empty.svg", "--comm", "nobody")
    c.browser.open("file://" + path)
    need("No samples" in c.browser.script("return document.documentElement.textContent"), "it does not say so")
    quiet(c.browser)


def look_at_folded(c):
    """the sum of the folded text is the number of the picture's samples"""
    result = run(PERFUSE, "flamegraph", "--folded", "--weight", "samples", "-i", c.data, cwd=c.work)
    lines = result.stdout.decode().splitlines()
    need(result.returncode == 0 and lines == sorted(lines, key=str.encode), "the lines are not sorted")
    total = sum(int(line.rsplit(" ", 1)[1]) for line in lines)
    titles = [t.text for t in ElementTree.parse(c.svg).getroot().iter("{http://www.w3.org/2000/svg}title")]
    need(("all (%s samples, 100.00%%)" % format(total, ",")) in titles, "%d samples in the folded text" % total)
    need(any(";shape_seventy " in line for line in lines), "no line ends in shape_seventy")


def look_at_report(c):
    """report --gtk writes a page: a click on a heading sorts it, a text filters it, a click on a row opens its callers; names remain text"""
    data = c.hostile if os.path.exists(c.hostile) else c.data
    done = run(PERFUSE, "report", "-i", data, "--gtk", "--no-children", cwd=c.work)
    need(done.returncode == 0 and not done.stdout, done.stderr.decode())
    c.browser.open("file://" + os.path.join(c.work, "perf.html"))
    keep(c.browser, "report")
    rows = "return [...document.querySelectorAll('section > table > tbody > tr[data-depth]')].filter(r => !r.hidden).map(r => [...r.cells].map(cell => cell.textContent))"
    shown = c.browser.script(rows)
    shares = [float(row[0].rstrip("%")) for row in shown]
    need(len(shown) > 3 and shares == sorted(shares, reverse=True), "the rows are %s" % shown[:5])
    c.browser.click("th.number")
    c.browser.click("th.number")
    turned = [float(row[0].rstrip("%")) for row in c.browser.script(rows)]
    need(turned == sorted(shares), "sorted by share, from the smallest: %s" % turned[:5])
    c.browser.click("th:last-child")
    names = [row[-1] for row in c.browser.script(rows)]
    need(names == sorted(names), "sorted by name: %s" % names[:5])
    hot = max(shown, key=lambda row: float(row[0].rstrip("%")))[-1]
    c.browser.type("input", hot)
    kept = c.browser.script(rows)
    need(kept and len(kept) < len(shown) and all(hot in "".join(row) for row in kept), "only rows with %s: %s" % (hot, kept))
    opened = "return [...document.querySelectorAll('tr.detail')].filter(row => row.getClientRects().length).map(row => row.textContent)"
    need(not c.browser.script(opened), "callers are open")
    c.browser.click("tbody > tr.more:not([hidden])")
    need("main" in "".join(c.browser.script(opened)), "no callers: %s" % c.browser.script(opened))
    need(c.browser.script("return typeof hacked") == "undefined", "a name was run")
    quiet(c.browser)


class Context:
    """What the tests share."""


def prepare(c):
    """Recording and picture."""
    program = os.path.join(c.work, "shape")
    need(run("cc", "-O1", "-g", "-fno-omit-frame-pointer", "-o", program, SHAPE_SOURCE, "-lm", "-lpthread").returncode == 0,
         "%s does not compile" % SHAPE_SOURCE)
    c.data = record(c.work, os.path.join(c.work, "perf.data"), program, "--ms", "600")
    if not c.data:
        raise Skip("no recording can be made here (kernel.perf_event_paranoid, seccomp?)")
    c.svg = draw(c.work, c.data, "graph.svg")
    c.hostile = ""
    try:
        c.browser = Browser(1200, 900)
    except Missing as why:
        raise Skip(str(why)) from None


IPC_STATE = """
return { plots: [...document.querySelectorAll('.plot')].map(plot => plot.getAttribute('transform')),
	ticks: [...document.querySelectorAll('.axis')].map(axis => [...axis.children].map(tick => tick.textContent)),
	details: document.querySelector('#details').textContent, titles: document.querySelectorAll('title').length,
	panels: [...document.querySelectorAll('[data-rows]')].map(panel => ({ kind: panel.dataset.kind, top: Number(panel.dataset.top),
		bottom: Number(panel.dataset.bottom), rows: JSON.parse(panel.dataset.rows) })), area: { ...document.querySelector('#area').dataset } };
"""
# An event at a place of the picture, in its own units.
IPC_EVENT = """
const svg = document.documentElement, [kind, x, y, delta] = arguments;
const at = new DOMPoint(x, y).matrixTransform(svg.getScreenCTM()), where = { clientX: at.x, clientY: at.y, bubbles: true, cancelable: true };
svg.dispatchEvent(kind === 'wheel' ? new WheelEvent(kind, { ...where, deltaY: delta }) : new PointerEvent(kind, where));
"""


def look_at_ipc(c):
    """the panels of ipc's picture have one axis, which the wheel magnifies around the pointer; the pointer shows the numbers of the range there"""
    trace, picture = os.path.join(CORPUS, "pt", "truth", "mix.cpu_cyc.data"), os.path.join(c.work, "ipc.svg")
    if not os.path.exists(trace):
        raise Skip("no such file: %s (PERFUSE_CORPUS names another folder)" % trace)
    process.must("tar", "xf", os.path.join(os.path.dirname(trace), "symfs.tar.xz"), "-C", c.work)
    process.must(PERFUSE, "ipc", "--symfs", c.work, "-i", trace, "--svg", picture)
    c.browser.open("file://" + picture)
    whole = c.browser.script(IPC_STATE)
    keep(c.browser, "ipc")
    quiet(c.browser)
    need(len(whole["plots"]) >= 3 and set(whole["plots"]) == {"translate(0 0) scale(1 1)"}, whole["plots"])
    need(whole["ticks"] and all(len(ticks) >= 5 for ticks in whole["ticks"]), whole["ticks"])
    left, width, start, end = (float(whole["area"][name]) for name in ("left", "width", "from", "to"))
    panel = next(one for one in whole["panels"] if one["kind"] == "ranges")
    # the middles of the two widest ranges
    value, other = ((row[0] + row[1]) / 2 for row in sorted(panel["rows"], key=lambda row: row[0] - row[1])[:2])
    y = (panel["top"] + panel["bottom"]) / 2

    def place_of(value):
        return left + width * (value - start) / (end - start)

    def shown_at(place):
        c.browser.script(IPC_EVENT, "pointermove", place, y, 0)
        return c.browser.script(IPC_STATE)["details"]

    def numbers(value):
        row = next(row for row in panel["rows"] if row[0] <= value <= row[1])
        return "%d instructions in %d cycles" % (row[3], row[2])
    x = place_of(value)
    for at in value, other:
        need(numbers(at) in shown_at(place_of(at)), "%s: %s" % (shown_at(place_of(at)), numbers(at)))
    c.browser.script(IPC_EVENT, "wheel", x, y, -1000)
    near = c.browser.script(IPC_STATE)
    keep(c.browser, "ipc-zoomed")
    need(len(set(near["plots"])) == 1 and near["plots"] != whole["plots"], near["plots"])
    factor = float(near["plots"][0].split("scale(")[1].split()[0])
    need(abs(factor - math.exp(2)) < 0.01 and near["ticks"] != whole["ticks"], "%s, %s" % (factor, near["ticks"]))
    need(numbers(value) in shown_at(x), "the place of the pointer moved: %s" % shown_at(x))
    need("at " in shown_at(left + 1) and shown_at(left + 1) != shown_at(left + width - 1), "the axis does not move: %s" % shown_at(left + 1))
    c.browser.script(IPC_EVENT, "dblclick", x, y, 0)
    need(c.browser.script(IPC_STATE)["plots"] == whole["plots"], "a double click does not show all")


TESTS = (look_at_page, look_at_shares, look_at_search, look_at_bad_pattern, look_at_zoom, look_at_address, look_at_keys, look_at_tip,
         look_at_window, look_at_picture, look_at_layouts, look_at_comparison, look_at_modules, look_at_dark, look_at_hostile_names, look_at_empty, look_at_folded,
         look_at_report, look_at_ipc)


def main():
    c = Context()
    c.work = tempfile.mkdtemp(prefix="perfuse-flamegraph-")
    c.browser = None
    try:
        prepare(c)
        return run_tests([("flame graph: " + test.__doc__, functools.partial(test, c)) for test in TESTS])
    except Skip as why:
        skipped("the flame graph in a browser", why)
        return 0
    except (Failure, RuntimeError) as problem:
        return report("the flame graph in a browser", [str(problem)])
    finally:
        if c.browser:
            c.browser.close()
        shutil.rmtree(c.work, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
