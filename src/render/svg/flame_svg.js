(() => {
"use strict";
const NS = "http://www.w3.org/2000/svg", HTML = "http://www.w3.org/1999/xhtml";
const svg = document.currentScript ? document.currentScript.ownerSVGElement : document.documentElement;
const $ = id => svg.querySelector("#" + id);
const area = $("frames"), head = $("head");
const MARGIN = area.x.baseVal.value, PAD = 4, ROW = Number(svg.dataset.row), fluid = svg.classList.contains("fluid");
const upward = !svg.classList.contains("icicle");

// The frames as they were written: preorder, so a frame's descendants follow it up to `end`.
const frames = [], open = [];
for (const g of area.children) {
	const title = g.firstElementChild, rect = title.nextElementSibling;
	const lines = title.textContent.split("\n");
	const parts = /^(.*) \(([\d,]+ samples?), (<?[\d.]+%)\)$/.exec(lines[0]) || [, lines[0], "", ""];
	const frame = {
		g, title, rect, text: rect.nextElementSibling, index: frames.length, name: parts[1], samples: parts[2], share: parts[3],
		notes: lines.slice(1), x: parseFloat(rect.getAttribute("x")), w: parseFloat(rect.getAttribute("width")),
		y: parseFloat(rect.getAttribute("y")), end: 0, parent: null, row: 0,
	};
	frame.row = frames.length ? Math.round(Math.abs(frame.y - frames[0].y) / ROW) : 0;
	while (open.length > frame.row)
		open.pop().end = frame.index;
	frame.parent = open.length ? open[open.length - 1] : null;
	open.push(frame);
	g.frame = frame;
	frames.push(frame);
}
while (open.length)
	open.pop().end = frames.length;
if (!frames.length)
	return;

function element(space, name, attributes, parent) {
	const made = document.createElementNS(space, name);
	for (const key in attributes)
		made.setAttribute(key, attributes[key]);
	if (parent)
		parent.appendChild(made);
	return made;
}

// Search box, share of the matches, reset: they need the script, so the script makes them.
const holder = element(NS, "foreignObject", { y: 6, height: 34 }, head);
const bar = element(HTML, "div", { class: "bar" }, holder);
const unzoom = element(HTML, "button", { id: "unzoom", type: "button", hidden: "" }, bar);
const matched = element(HTML, "span", { id: "matched", role: "status" }, bar);
const input = element(HTML, "input", {
	id: "search", type: "search", placeholder: "Search: regex (Ctrl-F)", spellcheck: "false", autocomplete: "off",
	"aria-label": "Search frames by regular expression" }, bar);
unzoom.textContent = "Reset zoom";

let view = frames[0], at = null, query = "", width = 0;
let charWidth = 6.63;

function measure() {
	const probe = element(NS, "text", { visibility: "hidden" }, area);
	probe.textContent = "0".repeat(100);
	const length = probe.getComputedTextLength();
	probe.remove();
	if (length > 0)
		charWidth = length / 100;
}

function label(frame, w) {
	const room = Math.floor((w / 100 * width - 2 * PAD) / charWidth);
	const fits = room >= 4;
	if (fits && !frame.text)
		frame.text = element(NS, "text", { dx: PAD, y: frame.y + 12.5 }, frame.g);
	if (frame.text) {
		const letters = fits && frame.name.length > room ? Array.from(frame.name) : null;
		frame.text.textContent = !fits ? "" : letters && letters.length > room ? letters.slice(0, room - 1).join("") + "…" : frame.name;
	}
	frame.g.classList.toggle("t", fits);
	frame.g.classList.toggle("s", !fits && w / 100 * width >= 4);
}

function place(frame, x, w) {
	frame.rect.setAttribute("x", x + "%");
	frame.rect.setAttribute("width", w + "%");
	label(frame, w);
	if (frame.text)
		frame.text.setAttribute("x", x + "%");
}

// The frame in view fills the width, what it was called from lies full width below it, the rest is hidden.
function draw() {
	for (const frame of frames) {
		const inside = frame.index >= view.index && frame.index < view.end;
		const above = frame.index < view.index && frame.end >= view.end;
		frame.g.classList.toggle("off", !inside && !above);
		frame.g.classList.toggle("up", above);
		if (inside)
			place(frame, Math.max(0, (frame.x - view.x) / view.w * 100), Math.min(100, frame.w / view.w * 100));
		else if (above)
			place(frame, 0, 100);
	}
	unzoom.hidden = view === frames[0];
}

function resize() {
	if (fluid) {
		svg.removeAttribute("viewBox");
		svg.setAttribute("width", "100%");
	}
	width = (fluid ? svg.getBoundingClientRect().width : svg.width.baseVal.value) - 2 * MARGIN;
	area.setAttribute("width", width);
	holder.setAttribute("x", MARGIN);
	holder.setAttribute("width", width);
	$("legend").style.display = width < 860 ? "none" : "";
	measure();
	draw();
	follow();
}

// The head stays in sight while a tall graph scrolls under it.
function follow() {
	const hidden = -svg.getBoundingClientRect().top;
	head.setAttribute("transform", "translate(0 " + Math.max(0, hidden) + ")");
}

function mark() {
	let sum = 0, i = view.index;
	while (i < view.end) {
		if (frames[i].hit) {
			sum += frames[i].w;
			i = frames[i].end;
		} else {
			i++;
		}
	}
	const share = (sum / view.w * 100).toFixed(1) + "%";
	matched.textContent = !query ? "" : view === frames[0] ? "Matched: " + share : "Matched: " + share + " of view";
}

// Small letters alone match both cases.
function search(text) {
	let pattern = null;
	input.classList.remove("bad");
	try {
		pattern = text ? new RegExp(text, text === text.toLowerCase() ? "i" : "") : null;
	} catch (error) {
		input.classList.add("bad");
		matched.textContent = "not a regular expression";
		return;
	}
	query = text;
	const known = new Map();
	for (const frame of frames) {
		if (!known.has(frame.name))
			known.set(frame.name, pattern !== null && pattern.test(frame.name));
		frame.hit = known.get(frame.name);
		frame.g.classList.toggle("hit", frame.hit);
	}
	svg.classList.toggle("found", pattern !== null);
	mark();
}

function save(step) {
	const state = new URLSearchParams();
	if (view !== frames[0])
		state.set("zoom", view.index);
	if (query)
		state.set("search", query);
	try {
		history[step ? "pushState" : "replaceState"](null, "", "#" + state);
	} catch (error) {
		// a page that may not: the graph works without
	}
}

function load() {
	const state = new URLSearchParams(location.hash.slice(1));
	view = frames[Number(state.get("zoom"))] || frames[0];
	input.value = state.get("search") || "";
	search(input.value);
	draw();
	mark();
}

function zoom(frame) {
	if (frame === view)
		return;
	view = frame;
	draw();
	mark();
	choose(null);
	save(true);
}

function frame_of(event) {
	const g = event.target.closest ? event.target.closest("g") : null;
	return g && g.frame || null;
}

// The tip takes the place of the browser's own, which the titles are for where no script runs.
let tip = null, quiet = null;

function wrapped(text, limit) {
	const letters = Array.from(text), lines = [];
	for (let i = 0; i < letters.length && lines.length < 5; i += limit)
		lines.push(letters.slice(i, i + limit).join(""));
	if (letters.length > 5 * limit)
		lines[4] = lines[4].slice(0, -1) + "…";
	return lines;
}

function show_tip(frame) {
	hide_tip();
	quiet = frame;
	frame.title.remove();
	tip = element(NS, "g", { id: "tip" }, svg);
	const back = element(NS, "rect", { rx: 6 }, tip);
	const name = wrapped(frame.name, Math.max(20, Math.floor(Math.min(width - 40, 760) / 7.4)));
	const of_view = view === frames[0] ? "" : " · " + (frame.w / view.w * 100).toFixed(2) + "% of view";
	const lines = [...name, frame.samples + " · " + frame.share + (frame.index >= view.index ? of_view : ""), ...frame.notes];
	let wide = 0;
	lines.forEach((line, i) => {
		const text = element(NS, "text", { x: 10, y: 20 + i * 17 }, tip);
		if (i < name.length)
			text.setAttribute("class", "name");
		text.textContent = line;
		wide = Math.max(wide, text.getComputedTextLength());
	});
	back.setAttribute("width", wide + 20);
	back.setAttribute("height", lines.length * 17 + 12);
}

function hide_tip() {
	if (tip)
		tip.remove();
	if (quiet)
		quiet.g.insertBefore(quiet.title, quiet.g.firstChild);
	tip = quiet = null;
}

function move_tip(x, y) {
	const box = tip.getBBox(), seen = svg.getBoundingClientRect();
	const bottom = Math.min(seen.height, window.innerHeight - seen.top);
	const left = Math.max(4, Math.min(x + 14, width + 2 * MARGIN - box.width - 4));
	const top = y + 18 + box.height > bottom ? y - 12 - box.height : y + 18;
	tip.setAttribute("transform", "translate(" + left + " " + top + ")");
}

function choose(frame) {
	if (at)
		at.g.classList.remove("at");
	at = frame;
	if (!frame) {
		hide_tip();
		return;
	}
	frame.g.classList.add("at");
	frame.rect.scrollIntoView({ block: "nearest" });
	const box = frame.rect.getBoundingClientRect(), seen = svg.getBoundingClientRect();
	show_tip(frame);
	move_tip(box.left - seen.left, box.top - seen.top + ROW / 2);
}

// Arrows walk from frame to frame: along the stack, or to what lies beside on the same row.
function step(key) {
	if (!at)
		return view;
	const shown = frame => !frame.g.classList.contains("off");
	const towards_leaf = upward ? "ArrowUp" : "ArrowDown";
	if (key === "ArrowLeft" || key === "ArrowRight") {
		const way = key === "ArrowLeft" ? -1 : 1;
		for (let i = at.index + way; i >= 0 && i < frames.length; i += way)
			if (frames[i].row === at.row && shown(frames[i]))
				return frames[i];
		return at;
	}
	if (key !== towards_leaf)
		return at.parent || at;
	let best = null;
	for (let i = at.index + 1; i < at.end; i = frames[i].end)
		if (shown(frames[i]) && (!best || frames[i].w > best.w))
			best = frames[i];
	return best || at;
}

function on_key(event) {
	if ((event.key === "f" && (event.ctrlKey || event.metaKey)) || (event.key === "/" && event.target !== input)) {
		event.preventDefault();
		input.focus();
		input.select();
	} else if (event.key === "Escape") {
		if (input.value || query) {
			input.value = "";
			search("");
			save(false);
		} else {
			zoom(frames[0]);
		}
		choose(null);
		input.blur();
	} else if (event.target !== input && event.key.startsWith("Arrow")) {
		event.preventDefault();
		choose(step(event.key));
	} else if (event.target !== input && event.key === "Enter" && at) {
		zoom(at);
	} else if (event.key.length === 1 && event.key !== " " && !event.ctrlKey && !event.metaKey && !event.altKey) {
		input.focus(); // whoever just types is searching
	}
}

area.addEventListener("click", event => {
	const frame = frame_of(event);
	if (frame)
		zoom(frame);
});
area.addEventListener("mouseover", event => {
	const frame = frame_of(event);
	if (frame && frame !== quiet)
		show_tip(frame);
});
area.addEventListener("mousemove", event => {
	const seen = svg.getBoundingClientRect();
	if (tip)
		move_tip(event.clientX - seen.left, event.clientY - seen.top);
});
area.addEventListener("mouseleave", hide_tip);
unzoom.addEventListener("click", () => zoom(frames[0]));
input.addEventListener("input", () => {
	search(input.value);
	save(false);
});
window.addEventListener("keydown", on_key);
window.addEventListener("scroll", follow, { passive: true });
window.addEventListener("resize", () => requestAnimationFrame(resize));
window.addEventListener("popstate", load);
window.addEventListener("hashchange", load);

resize();
load();
if (upward && svg === document.documentElement)
	window.scrollTo(0, svg.getBoundingClientRect().height);
follow();
})();
