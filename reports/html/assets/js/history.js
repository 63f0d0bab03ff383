// Figures of several scans as lines over time, and as a table for those who cannot see lines.

const CHARTS = [
	{ title: 'Findings', lines: [['errors', 'errors', '--error'], ['warnings', 'warnings', '--warning']], value: (point, key) => point[key] },
	{ title: 'Code with entries', unit: ' %', lines: [['covered', 'of the files with a section', '--equal']], value: (point) => (point.code ? (point.covered * 100) / point.code : null) },
	{ title: 'Code that differs', unit: ' bytes', lines: [['different', 'bytes', '--different']], value: (point, key) => point[key] },
];

const colour = (variable) => getComputedStyle(document.documentElement).getPropertyValue(variable).trim();

// The computed colour of a variable whose value depends on the theme.
function themed(variable) {
	const probe = h('span');
	probe.style.color = `var(${variable})`;
	document.body.append(probe);
	const { color } = getComputedStyle(probe);
	probe.remove();
	return color || colour(variable);
}

let plots = [];

function drawHistory(place) {
	for (const { plot } of plots) plot.destroy();
	plots = [];
	const points = data.history;
	const places = points.map((_, index) => index);
	const boxes = CHARTS.map((chart) => {
		const known = points.some((point) => chart.lines.some(([key]) => chart.value(point, key) !== null && chart.value(point, key) !== undefined));
		return known ? { chart, box: h('div', { class: 'plot', 'aria-hidden': 'true' }) } : null;
	}).filter(Boolean);
	place.replaceChildren(h('div', { class: 'plots' }, boxes.map(({ chart, box }) => h('figure', null, h('figcaption', null, chart.title), box))), historyTable(points));
	for (const { chart, box } of boxes) {
		const values = chart.lines.map(([key]) => points.map((point) => chart.value(point, key) ?? null));
		const plot = new uPlot(plotOptions(chart, points, box.clientWidth), [places, ...values], box);
		plots.push({ plot, box });
	}
}

function plotOptions(chart, points, width) {
	const axis = { stroke: themed('--dim'), grid: { stroke: themed('--line'), width: 1 }, ticks: { stroke: themed('--line') } };
	const short = (index) => (Number.isInteger(index) && points[index] ? shortLabel(points[index].label) : '');
	return {
		width: Math.max(width, 200),
		height: 200,
		scales: { x: { time: false, range: [-0.2, points.length - 0.8] }, y: { range: (_, low, high) => [Math.max(0, Math.floor(low - (high - low) * 0.2 - 1)), Math.ceil(high + (high - low) * 0.2 + 1)] } },
		axes: [{ ...axis, values: (_, splits) => splits.map(short), incrs: [1, 2, 5, 10, 20, 50, 100] }, { ...axis, size: 70, values: (_, splits) => splits.map((split) => `${grouped(split)}${chart.unit === ' %' ? ' %' : ''}`) }],
		legend: { show: chart.lines.length > 1, live: false },
		cursor: { show: false },
		series: [{}, ...chart.lines.map(([, label, variable], place) => ({ label, stroke: themed(variable), width: 2, dash: place ? [6, 4] : undefined, points: { show: true, size: 7, fill: themed(variable) } }))],
	};
}

// The last part of a path, which is usually a date.
function shortLabel(label) {
	const last = label.replace(/\/+$/, '').split('/').pop();
	return last.length > 14 ? `${last.slice(0, 13)}…` : last;
}

const FIGURES = [['files', 'Files'], ['with_section', 'With a section'], ['errors', 'Errors'], ['warnings', 'Warnings'], ['undecided', 'Undecided'], ['different', 'Bytes that differ']];

function historyTable(points) {
	const used = FIGURES.filter(([key]) => points.some((point) => point[key] !== null && point[key] !== undefined));
	const share = points.some((point) => point.code);
	const head = h('tr', null, h('th', { scope: 'col' }, 'Scan'), used.map(([, label]) => h('th', { scope: 'col', class: 'number' }, label)), share ? h('th', { scope: 'col', class: 'number' }, 'Code with entries') : null);
	const body = points.map((point) => h('tr', null, h('th', { scope: 'row' }, name(point.label)), used.map(([key]) => h('td', { class: 'number' }, point[key] === null ? '' : grouped(point[key]))),
		share ? h('td', { class: 'number' }, point.code ? percent(point.covered, point.code) : '') : null));
	return scroller('Figures of each scan', h('table', { class: 'plain' }, h('caption', { class: 'visually-hidden' }, 'Figures of each scan'), h('thead', null, head), h('tbody', null, body)));
}

function resizePlots() {
	for (const { plot, box } of plots) {
		if (box.clientWidth && Math.abs(box.clientWidth - plot.width) > 1) plot.setSize({ width: Math.max(box.clientWidth, 200), height: plot.height });
	}
}
