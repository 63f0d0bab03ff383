// Rules: a table of those that are broken, and a view of each with its page.

const ruleColumns = [
	severityColumn((rule) => rule.severity),
	{ id: 'rule', label: 'Rule', value: (rule) => rule.name, cell: (rule) => h('a', { href: routeTo('rule', rule.name) }, code(rule.name)) },
	{ id: 'summary', label: 'Requirement', wide: true, value: (rule) => rule.page?.[0] ?? '', cell: (rule) => rule.page?.[0] ?? '' },
	{ id: 'known', label: 'Known defect', optional: true, value: (rule) => rule.known ?? '', cell: (rule) => name(rule.known ?? '') },
	number('count', 'Findings', (rule) => rule.count),
	number('files', 'Files', (rule) => rule.files),
];

// Most serious first, then the most frequent.
const byWeight = (rows) => [...rows].sort((a, b) => a.severity - b.severity || b.count - a.count);

function rulesView(route) {
	return listView(route, {
		title: 'Rules',
		lead: 'The rules that are broken. Open one to read what it means and what to do.',
		label: 'Rules that are broken',
		noun: 'rule',
		columns: ruleColumns,
		rows: byWeight(rules),
		search: (rule) => `${rule.name} ${rule.page?.join(' ') ?? ''}`,
		choices: [severityChoice((rule) => rule.severity)],
	});
}

function ruleView(route) {
	const rule = rules.find((known) => known.name === route.argument);
	if (!rule) return notFound();
	const [summary, consequence, remedy, source] = rule.page ?? ['This version does not know the rule.', '', '', ''];
	const paragraphs = [['What goes wrong', consequence], ['What to do', remedy], ['Source', source]];
	const nodes = [
		h('p', { class: 'crumbs' }, h('a', { href: '#rules' }, 'Rules')),
		h('h1', { tabindex: '-1' }, chip(SEVERITIES[rule.severity]), ' ', rule.address ? outside(rule.address, rule.name) : name(rule.name)),
		h('p', { class: 'lead' }, summary),
		h('dl', { class: 'page' }, paragraphs.filter(([, words]) => words).map(([label, words]) => h('div', null, h('dt', null, label), h('dd', null, words)))),
	];
	const listed = findings.filter((finding) => finding.rule.name === rule.name);
	const list = findingList(route, listed, ['rule', 'severity']);
	const counts = rules.filter((known) => known.name === rule.name).map((part) => h('p', null, `${counted(part.count, 'finding')} in ${counted(part.files, 'file')}`,
		part.known ? [', known defect ', code(part.known)] : null, part.severity === rule.severity ? null : [' ', chip(SEVERITIES[part.severity])], listed.length ? '' : ': counted, not listed'));
	return { title: rule.name, nodes: [...nodes, h('h2', null, 'Findings'), counts, ...list.nodes], tables: list.tables };
}

// The rules on the first view.
function topRules(place) {
	const body = byWeight(rules).map((rule) => h('tr', null, h('td', null, chip(SEVERITIES[rule.severity])),
		h('th', { scope: 'row' }, h('a', { href: routeTo('rule', rule.name) }, code(rule.name))), h('td', { class: 'number' }, grouped(rule.count)),
		h('td', { class: 'number' }, grouped(rule.files)), h('td', { class: 'about' }, rule.known ? ['known defect ', code(rule.known), ': '] : null, rule.page?.[0] ?? '')));
	const head = [['Severity'], ['Rule'], ['Findings', 'number'], ['Files', 'number'], ['Requirement', 'about']];
	place.append(scroller('Findings by rule', h('table', { class: 'plain' }, h('caption', { class: 'visually-hidden' }, 'Findings by rule'),
		h('thead', null, h('tr', null, head.map(([label, kind]) => h('th', { scope: 'col', class: kind }, label)))), h('tbody', null, body))));
}
