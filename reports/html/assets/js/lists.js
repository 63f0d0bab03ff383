// The views with long tables: packages, files, findings.

function listView(route, { title, lead, left, ...of }) {
	const list = listOf(route, of);
	return {
		title,
		nodes: [h('h1', { tabindex: '-1' }, title), lead ? h('p', { class: 'lead' }, lead) : null, left ? h('p', { class: 'notice' }, left) : null, ...list.nodes],
		tables: list.tables,
	};
}

// A table with its filters. They work once the nodes are in the document.
function listOf(route, { label, noun, columns, rows, sort, search, choices }) {
	// A column or choice that is the same for all rows says nothing.
	const used = columns.filter((column) => !column.optional || rows.some((row) => column.value(row)));
	const offered = choices.filter(({ id, options: values }) => values.length > 1 || route.params.has(id));
	const table = new Table({ label, noun, columns: used, rows, sort });
	const bar = h('div');
	table.start = () => bar.replaceWith(new Filters(table, { search, choices: offered, params: route.params }).element);
	return { nodes: [bar, table.count, table.element, table.more], tables: [table] };
}

const issues = (row) => row.counts.reduce((sum, count) => sum + count, 0);

const countColumns = [
	number('errors', 'Errors', (row) => row.counts[0]),
	number('warnings', 'Warnings', (row) => row.counts[1]),
];

const coveredColumn = {
	id: 'covered', label: 'Covered', number: true,
	value: (row) => (row.code ? row.covered / row.code : -1),
	cell: (row) => (row.code && (row.format === undefined || row.format) ? percent(row.covered, row.code) : ''),
};

function packagesView(route) {
	return listView(route, {
		title: 'Packages',
		lead: 'Files by the package that contains them.',
		label: 'Packages',
		noun: 'package',
		columns: [
			{ id: 'package', label: 'Package', wide: true, value: (row) => row.name, cell: (row) => h('a', { href: routeTo('files', '', { package: row.name }) }, name(row.name)) },
			number('files', 'Files', (row) => row.files), ...countColumns,
			number('undecided', 'Undecided', (row) => row.undecided), coveredColumn,
		],
		rows: packages(),
		sort: [{ id: 'errors', desc: true }],
		search: (row) => row.name,
		choices: [{ id: 'with', label: 'With', options: [['findings', 'findings'], ['errors', 'errors'], ['undecided', 'undecided']], test: withTest }],
	});
}

function withTest(row, value) {
	return { findings: issues(row) > 0, errors: row.counts[0] > 0, undecided: row.undecided > 0 }[value] ?? true;
}

function filesView(route) {
	return listView(route, {
		title: 'Files',
		label: 'Files',
		noun: 'file',
		left: data.left.files ? `${counted(data.left.files, 'more file')} are not on this page: \`--format ndjson\` has all of them.` : '',
		columns: [
			{ id: 'name', label: 'File', wide: true, value: (file) => file.name, cell: (file) => h('a', { href: routeTo('file', file.index) }, name(file.name)) },
			{ id: 'package', label: 'Package', optional: true, value: (file) => file.package, cell: (file) => name(file.package) },
			{ id: 'status', label: 'Status', value: (file) => file.status, cell: (file) => (file.undecided ? `${file.status}, ${grouped(file.undecided)} undecided` : file.status) },
			{ id: 'format', label: 'Format', value: (file) => file.format, cell: (file) => name(file.format) },
			...countColumns, coveredColumn,
		],
		rows: files,
		sort: [{ id: 'errors', desc: true }],
		search: (file) => `${file.name} ${file.package} ${file.format}`,
		choices: [
			{ id: 'status', label: 'Status', options: [...options(files.map((file) => file.status)), ['undecided', 'undecided parts']], test: (file, value) => (value === 'undecided' ? file.undecided > 0 : file.status === value) },
			{ id: 'format', label: 'Format', options: options(files.map((file) => file.format)), test: (file, value) => file.format === value },
			{ id: 'with', label: 'With', options: [['findings', 'findings'], ['errors', 'errors']], test: withTest },
			{ id: 'package', label: 'Package', options: options(files.map((file) => file.package)).slice(0, 1000), test: (file, value) => file.package === value },
		],
	});
}

const findingColumns = [
	severityColumn((finding) => finding.rule.severity),
	{ id: 'rule', label: 'Rule', value: (finding) => finding.rule.name, cell: (finding) => h('a', { href: routeTo('rule', finding.rule.name) }, code(finding.rule.name)) },
	{ id: 'message', label: 'Finding', wide: true, value: (finding) => finding.message, cell: (finding) => h('a', { href: routeTo('file', finding.file.index, { finding: finding.index }) }, name(finding.message || finding.rule.name)) },
	{ id: 'file', label: 'File', wide: true, value: (finding) => finding.file.name, cell: (finding) => name(finding.file.name) },
	{ id: 'symbol', label: 'Function', value: (finding) => finding.symbol || finding.address, cell: (finding) => name([finding.symbol, finding.address && `at ${finding.address}`].filter(Boolean).join(' ')) },
];

function findingList(route, rows, without) {
	const used = (column) => !without.includes(column.id);
	return listOf(route, {
		label: 'Findings',
		noun: 'finding',
		sort: without.includes('severity') ? [] : [{ id: 'severity', desc: false }],
		columns: findingColumns.filter(used),
		rows,
		search: (finding) => `${finding.rule.name} ${finding.message} ${finding.file.name} ${finding.symbol} ${finding.address} ${finding.known}`,
		choices: [
			severityChoice((finding) => finding.rule.severity),
			{ id: 'rule', label: 'Rule', options: options(rows.map((finding) => finding.rule.name)), test: (finding, value) => finding.rule.name === value },
			{ id: 'package', label: 'Package', options: options(rows.map((finding) => finding.file.package)).slice(0, 1000), test: (finding, value) => finding.file.package === value },
			...optionalChoices(rows),
		].filter(used),
	});
}

// Choices of properties that not all findings have.
function optionalChoices(rows) {
	const choices = [];
	if (rows.some((finding) => finding.owner)) choices.push({ id: 'owner', label: 'To be fixed by', options: options(rows.map((finding) => finding.owner)).map(([owner]) => [owner, ownerText(owner)]), test: (finding, value) => finding.owner === value });
	if (rows.some((finding) => finding.known)) choices.push({ id: 'known', label: 'Known', options: [['no', 'findings that are not known defects'], ...options(rows.map((finding) => finding.known))], test: (finding, value) => (value === 'no' ? !finding.known : finding.known === value) });
	return choices;
}

function findingsView(route) {
	const list = findingList(route, findings, []);
	const { left } = data;
	const notes = [
		left.findings ? `${counted(left.findings, 'more finding')} are not on this page: \`--format json\` has all of them.` : null,
		left.details ? `The evidence of findings in ${counted(left.details, 'file')} is not on this page.` : null,
	].filter(Boolean);
	return { title: 'Findings', nodes: [h('h1', { tabindex: '-1' }, 'Findings'), notes.map((note) => h('p', { class: 'notice' }, note)), ...list.nodes], tables: list.tables };
}
