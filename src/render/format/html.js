"use strict";
// The rows of a table in groups: a top row, the rows below it, its details.
function groups(table) {
	const list = [];
	for (const row of table.tBodies[0].rows)
		if (row.dataset.depth === "0")
			list.push([row]);
		else
			list[list.length - 1].push(row);
	return list;
}

function value(row, column) {
	const cell = row.cells[column];
	return cell.dataset.value === undefined ? cell.textContent : Number(cell.dataset.value);
}

// The first click sorts numbers from the largest, texts from A; the next one turns the order round.
function sort(table, column) {
	const head = table.tHead.rows[0].cells[column];
	const down = head.ariaSort ? head.ariaSort === "ascending" : head.classList.contains("number");
	for (const other of table.tHead.rows[0].cells)
		other.ariaSort = null;
	head.ariaSort = down ? "descending" : "ascending";
	const sorted = groups(table).map(rows => [value(rows[0], column), rows]);
	sorted.sort((a, b) => (down ? -1 : 1) * (a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : 0));
	for (const group of sorted)
		table.tBodies[0].append(...group[1]);
}

// The table that belongs to a row is opened and closed by a click on the row.
function fold(table) {
	for (const detail of table.querySelectorAll(":scope > tbody > tr.detail")) {
		const row = detail.previousElementSibling;
		detail.hidden = true;
		detail.querySelector("details").open = true;
		row.classList.add("more");
		row.addEventListener("click", () => { detail.hidden = !detail.hidden; });
	}
}

function filter(table, text) {
	for (const rows of groups(table)) {
		const own = rows.filter(row => row.className !== "detail");
		const shown = own.some(row => row.textContent.toLowerCase().includes(text.toLowerCase()));
		for (const row of rows)
			row.hidden = !shown || row.className === "detail";
	}
}

for (const table of document.querySelectorAll("section > table")) {
	[...table.tHead.rows[0].cells].forEach((head, column) => head.addEventListener("click", () => sort(table, column)));
	const field = table.parentElement.querySelector("input");
	field.addEventListener("input", () => filter(table, field.value));
	fold(table);
}
