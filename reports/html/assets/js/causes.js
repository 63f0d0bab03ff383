// Root causes: a table of all of them, and a view of each.

function causeTitle(cause) {
	if (cause.unlisted) return 'counted, not listed (--all lists each)';
	const at = cause.instructions.length ? ` at ${cause.instructions.join('; ')}` : '';
	if (cause.shape) return cause.shape + at;
	return cause.examples[0]?.message ?? '';
}

const causeLink = (cause) => h('a', { href: routeTo('cause', cause.index) }, name(causeTitle(cause) || cause.rule));

function severityColumn(of) {
	return { id: 'severity', label: 'Severity', value: (row) => of(row), cell: (row) => chip(SEVERITIES[of(row)]) };
}

const number = (id, label, value) => ({ id, label, number: true, value, cell: (row) => grouped(value(row)) });

const causeColumns = [
	severityColumn((cause) => cause.severity),
	{ id: 'rule', label: 'Rule', value: (cause) => cause.rule, cell: (cause) => code(cause.rule) },
	{ id: 'cause', label: 'Cause', wide: true, value: causeTitle, cell: (cause) => causeLink(cause) },
	{ id: 'producers', label: 'Made by', optional: true, value: (cause) => cause.producers.join(', '), cell: (cause) => name(cause.producers.join(', ')) },
	{ id: 'known', label: 'Known defect', optional: true, value: (cause) => cause.known ?? '', cell: (cause) => name(cause.known ?? '') },
	{ id: 'owner', label: 'To be fixed by', optional: true, value: (cause) => cause.owner ?? '', cell: (cause) => (cause.owner ? ownerText(cause.owner) : '') },
	number('findings', 'Findings', (cause) => cause.findings),
	number('files', 'Files', (cause) => cause.files),
	{ ...number('packages', 'Packages', (cause) => cause.packages), optional: true },
];

const severityChoice = (of) => ({ id: 'severity', label: 'Severity', options: SEVERITIES.map((severity) => [severity, severity]), test: (row, value) => SEVERITIES[of(row)] === value });

const options = (values) => [...new Set(values)].filter(Boolean).sort(collator.compare).map((value) => [value, value]);

function causesView(route) {
	return listView(route, {
		title: 'Root causes',
		lead: 'Findings of the same rule, producer and shape have the same cause: one mistake of one producer.',
		label: 'Root causes',
		noun: 'root cause',
		columns: causeColumns,
		rows: causes,
		search: (cause) => [cause.rule, cause.shape, ...cause.producers, ...cause.instructions, ...cause.examples.map((example) => `${example.file} ${example.symbol} ${example.message}`)].join(' '),
		choices: [
			severityChoice((cause) => cause.severity),
			{ id: 'rule', label: 'Rule', options: options(causes.map((cause) => cause.rule)), test: (cause, value) => cause.rule === value },
			{ id: 'producer', label: 'Made by', options: options(causes.flatMap((cause) => cause.producers)), test: (cause, value) => cause.producers.includes(value) },
			...optionalChoices(causes),
		],
		left: data.left.causes ? `${counted(data.left.causes, 'more root cause')} with fewer findings are not on this page: \`--format json\` has all findings.` : '',
	});
}

function causeView(route) {
	const cause = causes[Number(route.argument)];
	if (!cause) return notFound();
	const byName = (file) => files.find((known) => known.name === file);
	const example = ({ file, symbol, address, message, ruling }) => {
		const known = byName(file);
		const place = [symbol, address && `at ${address}`].filter(Boolean).join(' ');
		return h('li', null, known ? h('a', { href: routeTo('file', known.index) }, name(file)) : name(file),
			place ? [': ', name(place)] : null, message ? [': ', name(message)] : null, ruling ? ['; ', name(ruling)] : null);
	};
	const facts = [
		['Rule', h('a', { href: routeTo('rule', cause.rule) }, code(cause.rule))],
		['Made by', name(cause.producers.join(', ') || 'unknown')],
		['Known defect', cause.known ? code(cause.known) : null], ['To be fixed by', cause.owner ? ownerText(cause.owner) : null],
		['Findings', grouped(cause.findings)], ['Functions', grouped(cause.functions)], ['Files', grouped(cause.files)], ['Packages', grouped(cause.packages)],
		['Shape', cause.shape ? code(cause.shape) : null], ['Instructions', cause.instructions.length ? code(cause.instructions.join('; ')) : null],
	].filter(([, value]) => value !== null && value !== '0');
	const listed = findings.filter((finding) => finding.cause === cause.index);
	const nodes = [
		h('p', { class: 'crumbs' }, h('a', { href: '#causes' }, 'Root causes')),
		h('h1', { tabindex: '-1' }, chip(SEVERITIES[cause.severity]), ' ', name(causeTitle(cause) || cause.rule)),
		h('dl', { class: 'facts' }, facts.map(([label, value]) => h('div', null, h('dt', null, label), h('dd', null, value)))),
		h('section', { class: 'panel', 'aria-label': 'Examples' }, h('h2', null, 'Examples'), h('ul', { class: 'plain-list' }, cause.examples.map(example))),
	];
	if (!listed.length) return { title: causeTitle(cause), nodes };
	const list = findingList(route, listed, ['rule', 'severity']);
	return { title: causeTitle(cause), nodes: [...nodes, h('h2', null, 'Findings with this cause'), ...list.nodes], tables: list.tables };
}

// The first few causes, on the first view.
function topCauses(place) {
	const shown = causes.slice(0, 6).map((cause) => h('li', { class: SEVERITIES[cause.severity] },
		h('p', { class: 'head' }, chip(SEVERITIES[cause.severity]), ' ', code(cause.rule), ' ', h('span', { class: 'extent' },
			[counted(cause.findings, 'finding'), counted(cause.files, 'file'), cause.packages ? counted(cause.packages, 'package') : null].filter(Boolean).join(', '))),
		h('p', { class: 'what' }, causeLink(cause)),
		cause.producers.length ? h('p', { class: 'by' }, 'made by ', name(cause.producers.join(', '))) : null,
		cause.known ? h('p', { class: 'by' }, 'known defect ', code(cause.known)) : null,
		cause.owner ? h('p', { class: 'by' }, `to be fixed by ${ownerText(cause.owner)}`) : null));
	add(place, [h('ol', { class: 'cause-list' }, shown), causes.length > 6 ? h('p', null, h('a', { href: '#causes' }, `All ${counted(causes.length, 'root cause')}`)) : null]);
}
