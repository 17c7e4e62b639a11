(() => {
"use strict";
const NS = "http://www.w3.org/2000/svg";
const svg = document.currentScript ? document.currentScript.ownerSVGElement : document.documentElement;
const plots = [...svg.querySelectorAll(".plot")], axes = [...svg.querySelectorAll(".axis")];
const area = svg.querySelector("#area");
if (!area)
	return;
const LEFT = Number(area.dataset.left), WIDTH = Number(area.dataset.width), TOP = Number(area.dataset.top), BOTTOM = Number(area.dataset.bottom);
const FROM = Number(area.dataset.from), TO = Number(area.dataset.to), inNs = area.dataset.unit === "ns";
const facts = svg.querySelector("#facts");
let scale = 1, shift = 0;

function element(name, attributes, parent) {
	const made = document.createElementNS(NS, name);
	for (const key in attributes)
		made.setAttribute(key, attributes[key]);
	parent.appendChild(made);
	return made;
}

const details = element("text", { id: "details", x: LEFT + WIDTH, y: 29, "text-anchor": "end" }, svg);
const cursor = element("path", { class: "cursor", visibility: "hidden" }, svg);
const hint = "wheel: zoom, drag: move, double click: all";
details.textContent = hint;

// In units of the data, at a position on the page; and back.
const valueAt = x => FROM + ((x - LEFT - shift) / scale) / WIDTH * (TO - FROM);
const placeOf = value => LEFT + shift + (value - FROM) / (TO - FROM) * WIDTH * scale;

function unitOf(span) {
	return !inNs ? [1, ""] : span >= 1e9 ? [1e9, "s"] : span >= 1e6 ? [1e6, "ms"] : span >= 1e3 ? [1e3, "\u00b5s"] : [1, "ns"];
}

function text(value, step, [unit, name]) {
	const digits = Math.max(0, Math.min(6, Math.ceil(-Math.log10(step / unit) - 1e-9)));
	return (value / unit).toFixed(digits) + name;
}

function stepOf(span) {
	const unit = 10 ** Math.floor(Math.log10(span / 10)), ratio = span / 10 / unit;
	return unit * (ratio <= 1 ? 1 : ratio <= 2 ? 2 : ratio <= 5 ? 5 : 10);
}

function drawAxes() {
	const from = valueAt(LEFT), to = valueAt(LEFT + WIDTH), step = stepOf(to - from), unit = unitOf(to - from);
	for (const axis of axes) {
		axis.replaceChildren();
		for (let value = Math.ceil(from / step) * step; value <= to; value += step)
			element("text", { class: "tick x", x: placeOf(value), y: axis.dataset.y }, axis).textContent = text(value, step, unit);
	}
}

function apply() {
	scale = Math.max(1, Math.min(scale, 1e6));
	shift = Math.min(0, Math.max(shift, WIDTH - WIDTH * scale));
	for (const plot of plots) {
		for (const point of plot.querySelectorAll(".point"))
			point.setAttribute("width", 1.5 / scale);
		plot.setAttribute("transform", "translate(" + shift + " 0) scale(" + scale + " 1)");
		for (const label of plot.querySelectorAll(".label")) {
			// texts keep their shape: the scale of the plot is undone at their place
			const x = Number(label.dataset.x), room = Number(label.dataset.w) * scale;
			label.setAttribute("transform", "translate(" + x + " 0) scale(" + 1 / scale + " 1)");
			label.setAttribute("visibility", room >= Number(label.dataset.need) ? "visible" : "hidden");
		}
	}
	drawAxes();
}

function pageX(event) {
	const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
	return [point.x, point.y];
}

svg.addEventListener("wheel", event => {
	const [x] = pageX(event), factor = Math.exp(-event.deltaY * 0.002), before = (x - LEFT - shift) / scale;
	event.preventDefault();
	scale = Math.max(1, Math.min(scale * factor, 1e6));
	shift = x - LEFT - before * scale;
	apply();
}, { passive: false });

let drag = null;
svg.addEventListener("pointerdown", event => {
	drag = [pageX(event)[0], shift];
});
svg.addEventListener("pointerup", () => {
	drag = null;
});
svg.addEventListener("dblclick", () => {
	scale = 1;
	shift = 0;
	apply();
});

// The rows [from, to, …] of a panel's data, ordered: the one that contains a value.
function rowAt(rows, value) {
	let low = 0, high = rows.length;
	while (low < high) {
		const middle = (low + high) >> 1;
		if (rows[middle][1] < value)
			low = middle + 1;
		else
			high = middle;
	}
	return low < rows.length && rows[low][0] <= value ? rows[low] : null;
}

const panels = [...svg.querySelectorAll("[data-rows]")].map(panel => ({
	top: Number(panel.dataset.top), bottom: Number(panel.dataset.bottom), kind: panel.dataset.kind, rows: JSON.parse(panel.dataset.rows) }));

function describe(kind, row) {
	const of = (row[1] - row[0]);
	const length = text(of, Math.max(of / 1000, 1e-3), unitOf(of)) + (inNs ? "" : " cycles");
	if (kind === "ranges")
		return (row[4] === 2 ? "trace lost in a range" : row[4] === 1 ? "a long range" : "timed ranges") + ": " + row[3] + " instructions in " + row[2] +
			" cycles, IPC " + (row[2] ? (row[3] / row[2]).toFixed(2) : "-");
	return "IPC " + row[3].toFixed(3) + ", between " + row[2].toFixed(3) + " and " + row[4].toFixed(3) + " (" + length + ")" + (row[5] ? ", trace lost" : "");
}

// The bars of a lane of a timechart: [from, to, text, share of the height], as its paths have them.
function barsOf(lane) {
	if (!lane.bars) {
		lane.bars = [];
		for (const path of lane.group.querySelectorAll("[data-what]"))
			for (const [, x, , height, width] of path.getAttribute("d").matchAll(/M(\d+) (\d+)v(\d+)h(\d+)/g))
				lane.bars.push([Number(x), Number(x) + Number(width), path.dataset.what, Number(height) / 1000]);
	}
	return lane.bars;
}

const lanes = [...svg.querySelectorAll("[data-lane]")].map(group => ({ group, top: Number(group.dataset.lane), bottom: Number(group.dataset.end) }));

function describeLane(lane, value) {
	const at = (value - FROM) / (TO - FROM) * 1e6, found = barsOf(lane).filter(bar => bar[0] <= at && at < bar[1]);
	return found.map(([from, to, what, share]) => {
		const length = (to - from) / 1e6 * (TO - FROM);
		return what + " for " + text(length, length / 1000, unitOf(length)) + (share < 0.999 ? " (" + Math.round(100 * share) + " %)" : "");
	}).join(", ");
}

svg.addEventListener("pointermove", event => {
	const [x, y] = pageX(event);
	if (drag) {
		shift = drag[1] + x - drag[0];
		apply();
		return;
	}
	if (x < LEFT || x > LEFT + WIDTH || y < TOP || y > BOTTOM) {
		cursor.setAttribute("visibility", "hidden");
		details.textContent = hint;
		return;
	}
	cursor.setAttribute("d", "M" + x + " " + TOP + "V" + BOTTOM);
	cursor.setAttribute("visibility", "visible");
	const value = valueAt(x), span = valueAt(LEFT + WIDTH) - valueAt(LEFT);
	const panel = panels.find(one => y >= one.top && y <= one.bottom), row = panel ? rowAt(panel.rows, value) : null;
	const lane = lanes.find(one => y >= one.top && y <= one.bottom), words = lane ? describeLane(lane, value) : row ? describe(panel.kind, row) : "";
	details.textContent = "at " + text(value, span / 1000, unitOf(span)) + (words ? ": " + words : "");
});
apply();
})();
