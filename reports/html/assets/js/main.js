// Shows the view that the address names.

const VIEWS = !isScan ? { files: changedFilesView, file: changedFileView, findings: changedFindingsView } : {
	causes: causesView, cause: causeView, rules: rulesView, rule: ruleView, packages: packagesView, files: filesView, file: fileView, findings: findingsView,
};

// The entry in the list of views that a view belongs to.
const PARENTS = { cause: 'causes', rule: 'rules', file: 'files' };

const overview = document.getElementById('view-overview');
const view = document.getElementById('view');
const heading = document.title;
let tables = [];
// How far each view was scrolled when it was left.
const scrolled = new Map();
let followed = false;

function notFound() {
	return { title: 'Not found', nodes: [h('h1', { tabindex: '-1' }, 'Not found'), h('p', null, 'This report has no such view. ', h('a', { href: '#overview' }, 'Overview'))] };
}

function markView(route) {
	const marked = PARENTS[route.view] ?? route.view;
	for (const link of document.querySelectorAll('nav [data-view]')) {
		if (link.dataset.view === marked) link.setAttribute('aria-current', 'page');
		else link.removeAttribute('aria-current');
	}
}

function show(first) {
	const route = parseRoute(location.hash);
	for (const table of tables) table.destroy();
	tables = [];
	const isOverview = route.view === 'overview';
	overview.hidden = !isOverview;
	view.hidden = isOverview;
	markView(route);
	const made = isOverview ? { title: '', nodes: [] } : (VIEWS[route.view] ?? notFound)(route);
	view.replaceChildren();
	add(view, made.nodes);
	document.title = made.title ? `${made.title.slice(0, 80)}: ${heading}` : heading;
	tables = made.tables ?? [];
	for (const table of tables) table.start();
	const placed = made.ready?.();
	if (!placed) {
		window.scrollTo(0, followed || first ? 0 : scrolled.get(location.hash) ?? 0);
		if (!first) (isOverview ? overview : view).querySelector('h1')?.focus({ preventScroll: true });
	}
	followed = false;
	if (isOverview) resizePlots();
	settleScrollers();
}

function start() {
	for (const [id, fill] of [['top-causes', topCauses], ['top-rules', topRules], ['history', drawHistory]]) {
		const place = document.getElementById(id);
		if (place) fill(place);
	}
	if (isScan && !files.some((file) => file.package)) document.querySelector('[data-view="packages"]')?.parentElement.remove();
	overview.querySelector('h1')?.setAttribute('tabindex', '-1');
	const chart = document.getElementById('history');
	startTheme(() => { if (chart) drawHistory(chart); });
	history.scrollRestoration = 'manual';
	document.querySelector('.skip').addEventListener('click', (event) => {
		event.preventDefault();
		document.getElementById('main').focus();
	});
	document.addEventListener('click', (event) => { followed ||= Boolean(event.target.closest?.('a[href^="#"]')); });
	window.addEventListener('hashchange', () => {
		scrolled.set(current, lastScroll);
		current = location.hash;
		show(false);
	});
	let lastScroll = 0;
	window.addEventListener('scroll', () => { if (location.hash === current) lastScroll = window.scrollY; }, { passive: true });
	window.addEventListener('resize', () => {
		resizePlots();
		settleScrollers();
	});
	window.addEventListener('beforeprint', () => tables.forEach((table) => table.print()));
	window.addEventListener('afterprint', () => tables.forEach((table) => table.endPrint()));
	show(true);
}

start();
