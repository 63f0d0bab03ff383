// The views of a comparison: files with changes, findings that are new, changed or fixed, and one file.

const CHANGES = ['new', 'changed', 'fixed'];
const changeChip = (change) => h('span', { class: `chip change ${CHANGES[change]}` }, CHANGES[change]);

const changedFiles = isScan ? [] : data.files.map((file, index) => ({ ...file, index, package: text(file.package) }));
const changedFindings = isScan ? [] : data.findings.map((finding, index) => ({
	...finding, index, file: changedFiles[finding.file], rule: text(finding.rule), message: text(finding.message), before: text(finding.before), place: text(finding.place), comparedWith: text(finding.compared_with),
}));

const whatChanged = (file) => [file.became, file.coverage?.[0], file.undecided?.length ? 'undecided' : null].filter(Boolean).join('; ');

const changeCount = (label, place) => number(CHANGES[place], label, (file) => file.counts[place]);

function changedFilesView(route) {
	return listView(route, {
		title: 'Files with changes',
		label: 'Files with changes',
		noun: 'file',
		left: data.left.files ? `${counted(data.left.files, 'more file')} with changes are not on this page: \`--format json\` has all of them.` : '',
		columns: [
			{ id: 'name', label: 'File', wide: true, value: (file) => file.name, cell: (file) => h('a', { href: routeTo('file', file.index) }, name(file.name)) },
			{ id: 'package', label: 'Package', optional: true, value: (file) => file.package, cell: (file) => name(file.package) },
			{ id: 'what', label: 'What changed', wide: true, value: whatChanged, cell: (file) => name(whatChanged(file)) },
			{ id: 'worse', label: 'Worse', value: (file) => (file.worse ? 0 : 1), cell: (file) => (file.worse ? h('span', { class: 'chip error' }, 'worse') : '') },
			changeCount('New', 0), changeCount('Changed', 1), changeCount('Fixed', 2),
		],
		rows: changedFiles,
		search: (file) => `${file.name} ${file.package} ${whatChanged(file)}`,
		choices: [
			{ id: 'with', label: 'With', options: [['worse', 'something worse'], ['coverage', 'a change of coverage'], ['undecided', 'undecided changes']], test: (file, value) => ({ worse: file.worse, coverage: Boolean(file.coverage), undecided: Boolean(file.undecided?.length) })[value] ?? true },
			{ id: 'package', label: 'Package', options: options(changedFiles.map((file) => file.package)).slice(0, 1000), test: (file, value) => file.package === value },
		],
	});
}

function changedFindingsView(route) {
	return listView(route, {
		title: 'Findings that changed',
		label: 'Findings that changed',
		noun: 'finding',
		left: data.left.findings ? `${counted(data.left.findings, 'more finding')} are not on this page: \`--format json\` has all of them.` : '',
		columns: [
			{ id: 'change', label: 'Change', value: (finding) => finding.change, cell: (finding) => changeChip(finding.change) },
			severityColumn((finding) => finding.severity),
			{ id: 'rule', label: 'Rule', value: (finding) => finding.rule, cell: (finding) => code(finding.rule) },
			{ id: 'message', label: 'Finding', wide: true, value: (finding) => finding.message, cell: (finding) => h('a', { href: routeTo('file', finding.file.index, { finding: finding.index }) }, name(finding.message || finding.rule)) },
			{ id: 'file', label: 'File', wide: true, value: (finding) => finding.file.name, cell: (finding) => name(finding.file.name) },
		],
		rows: changedFindings,
		search: (finding) => `${finding.rule} ${finding.message} ${finding.place} ${finding.file.name}`,
		choices: [
			{ id: 'change', label: 'Change', options: CHANGES.map((change) => [change, change]), test: (finding, value) => CHANGES[finding.change] === value },
			severityChoice((finding) => finding.severity),
			{ id: 'rule', label: 'Rule', options: options(changedFindings.map((finding) => finding.rule)), test: (finding, value) => finding.rule === value },
		],
	});
}

// The rows of both scans. Cells of SFrame and of the table that it was compared with are side by side; a table that has no row
// is left out.
function changedTable(finding) {
	if (!finding.table) return null;
	const scans = finding.change === 1 ? [1, 2] : [0];
	const lines = [];
	for (const scan of scans) {
		const known = new Map();
		for (const [of, side, start, ...cells] of finding.table) {
			if (scan && of && of !== scan) continue;
			if (!known.has(start)) known.set(start, { scan, start });
			if (side !== 2) known.get(start).first = cells;
			if (side !== 1) known.get(start).second = cells;
		}
		lines.push(...known.values());
	}
	const sides = [['first', 'second', 'SFrame'], ['second', 'first', finding.comparedWith]].filter(([own]) => lines.some((line) => line[own]));
	const cells = (own, other) => [0, 1, 2].map((place) => h('td', { class: [place === 0 && 'side', own && other && own[place] !== other[place] && 'differs'].filter(Boolean).join(' ') || null },
		own ? code(text(own[place])) : null, own && other && own[place] !== other[place] ? hidden(' (differs)') : null));
	const body = lines.map((line) => h('tr', { class: line.first && line.second && String(line.first) !== String(line.second) ? 'unequal' : null },
		scans.length > 1 ? h('td', null, ['', 'old', 'new'][line.scan]) : null, h('th', { scope: 'row' }, code(text(line.start))), sides.map(([own, other]) => cells(line[own], line[other]))));
	const head = h('tr', null, scans.length > 1 ? h('th', { scope: 'col' }, 'Scan') : null, h('th', { scope: 'col' }, 'PC'),
		sides.map(([, , side]) => ['CFA', 'RA', 'FP'].map((part, place) => h('th', { scope: 'col', class: place ? null : 'side' }, `${side} ${part}`))));
	const label = `Rows of ${sides.map(([, , side]) => side).join(' and ')}`;
	return scroller(label, h('table', { class: 'evidence', 'aria-label': label }, h('thead', null, head), h('tbody', null, body)));
}

function changedArticle(finding) {
	return h('article', { class: `finding ${SEVERITIES[finding.severity]}`, id: `finding-${finding.index}`, tabindex: '-1' },
		h('h3', null, changeChip(finding.change), ' ', chip(SEVERITIES[finding.severity]), ' ', code(finding.rule), h('span', { class: 'message' }, name(finding.message))),
		finding.before ? h('p', null, name(finding.before)) : null, finding.place ? h('p', { class: 'place' }, 'at ', name(finding.place)) : null, changedTable(finding));
}

function changedFileView(route) {
	const file = changedFiles[Number(route.argument)];
	if (!file) return notFound();
	const [first, end] = file.findings;
	const wanted = Number(route.params.get('finding') ?? NaN);
	const lines = (title, list) => (list?.length ? h('section', { class: 'panel', 'aria-label': title }, h('h2', null, title), h('ul', { class: 'plain-list' }, list.map((line) => h('li', null, name(line))))) : null);
	const facts = [['Now', file.became], ['Matched', file.matched], ['Package', file.package]].filter(([, value]) => value);
	return {
		title: file.name,
		nodes: [
			h('p', { class: 'crumbs' }, h('a', { href: '#files' }, 'Files')),
			h('h1', { class: 'file-name', tabindex: '-1' }, file.worse ? [h('span', { class: 'chip error' }, 'worse'), ' '] : null, name(file.name)),
			h('dl', { class: 'facts' }, facts.map(([label, value]) => h('div', null, h('dt', null, label), h('dd', null, name(value))))),
			lines('Coverage', file.coverage), lines('Undecided', file.undecided), articlesPanel(changedFindings.slice(first, end), changedArticle, wanted, []),
		],
		ready: () => showArticle(wanted),
	};
}
