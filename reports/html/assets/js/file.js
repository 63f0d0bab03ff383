// The view of one file: its figures, its coverage, and its findings with their evidence.

// The number of findings that are shown at once.
const AT_ONCE = 20;

const VERDICTS = [
	['equal', 'both say the same'], ['limited', 'the same as far as the version can say'], ['different', 'they differ'],
	['only-cfi', ' alone describes it'], ['only-sframe', 'SFrame alone describes it'], ['neither', 'neither does'], ['undecided', 'undecided'],
];

const svg = (tag, attributes) => {
	const element = document.createElementNS('http://www.w3.org/2000/svg', tag);
	for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
	return element;
};

function verdictBar(bytes) {
	const total = bytes.reduce((sum, part) => sum + part, 0) || 1;
	const bar = svg('svg', { class: 'bar', viewBox: '0 0 1000 10', preserveAspectRatio: 'none', 'aria-hidden': 'true' });
	let start = 0;
	bytes.forEach((part, place) => {
		const width = (part * 1000) / total;
		bar.append(svg('rect', { class: VERDICTS[place][0], x: start, y: 0, width, height: 10 }));
		start += width;
	});
	return bar;
}

function coveragePanel(details) {
	const { coverage, table, text: at } = details;
	if (!coverage) return null;
	const total = coverage.bytes.reduce((sum, part) => sum + part, 0);
	if (!total) return null;
	const rows = coverage.bytes.map((bytes, place) => {
		if (!bytes) return null;
		const [kind, words] = VERDICTS[place];
		return h('tr', null, h('th', { scope: 'row' }, h('span', { class: `key ${kind}`, 'aria-hidden': 'true' }), kind === 'only-cfi' ? table + words : words),
			h('td', { class: 'number' }, grouped(bytes)), h('td', { class: 'number' }, percent(bytes, total)));
	});
	const lost = (coverage.losses ?? []).map(([cause, functions, bytes, examples]) => h('li', null,
		at(cause) === 'none' ? 'nothing explains it' : at(cause), `: ${counted(functions, 'function')}, ${counted(bytes, 'byte')}`,
		examples.length ? [': ', name(examples.map(at).join(', '))] : null));
	const [without, withoutBytes, largest] = coverage.without ?? [0, 0, []];
	const undescribed = largest.map(([bytes, place]) => h('li', null, name(at(place)), `: ${counted(bytes, 'byte')}`));
	if (without > largest.length) undescribed.push(h('li', null, `and ${grouped(without - largest.length)} more`));
	const limits = (coverage.limits ?? []).map(([limit, functions, bytes]) => h('li', null,
		'not in this version: ', at(limit), `: ${counted(functions, 'function')}, ${counted(bytes, 'byte')}`));
	return h('section', { class: 'panel', 'aria-label': 'Coverage' }, h('h2', null, 'Coverage'),
		h('p', { class: 'subtitle' }, `${counted(total, 'byte')} of code`),
		verdictBar(coverage.bytes), h('table', { class: 'plain' }, h('caption', { class: 'visually-hidden' }, `SFrame and ${table}, by bytes of code`),
			h('thead', null, h('tr', null, h('th', { scope: 'col' }, `SFrame and ${table}`), h('th', { scope: 'col', class: 'number' }, 'Bytes'), h('th', { scope: 'col', class: 'number' }, 'Share'))),
			h('tbody', null, rows)),
		lost.length ? [h('h3', null, 'Functions that SFrame does not describe'), h('ul', { class: 'causes' }, lost)] : null,
		without ? [h('h3', null, `Functions without an entry in SFrame or ${table}`),
			h('p', null, `${counted(without, 'function')}, ${counted(withoutBytes, 'byte')}`), h('ul', { class: 'causes' }, undescribed)] : null,
		limits.length ? h('ul', { class: 'causes' }, limits) : null);
}

const ELF_TYPES = { relocatable: 'relocatable object', executable: 'program', shared: 'shared library or position-independent program', other: 'other' };

const capital = (word) => word.charAt(0).toUpperCase() + word.slice(1);

function factsOf(file, details) {
	const facts = [['Status', file.status]];
	const { text: at } = details;
	if (details.reason !== undefined) facts.push(['Reason', name(at(details.reason))]);
	if (details.elf_type) facts.push(['ELF type', ELF_TYPES[details.elf_type]]);
	if (details.build_id !== undefined) facts.push(['Build-id', code(at(details.build_id))]);
	for (const [rule, reason, count] of details.suppressed ?? []) facts.push(['Suppressed', name(`${grouped(count)} of ${at(rule)}: ${at(reason)}`)]);
	for (const [key, value] of details.package ?? []) facts.push([{ name: 'Package', source: 'Source package' }[key] ?? `Package's ${key}`, name(at(value))]);
	for (const [kind, producer] of details.producers ?? []) facts.push([capital(at(kind)), name(at(producer))]);
	for (const [section, format, address, offset, size, functions, rows] of details.sections ?? []) {
		facts.push([at(section), name(`${at(format)}, ${counted(functions, 'function')}, ${counted(rows, 'row')}, ${counted(size, 'byte')} at ${address} (file offset ${hex(offset)})`)]);
	}
	if (file.code) facts.push(['Code with entries', `${percent(file.covered, file.code)} (${grouped(file.covered)} of ${grouped(file.code)} bytes)`]);
	for (const sentence of details.proofs ?? []) facts.push(['Compared with the code', at(sentence)]);
	for (const sentence of details.calls ?? []) facts.push(['Call sites', at(sentence)]);
	if (details.content) facts.push(['BLAKE3', h('code', { class: 'hash' }, at(details.content[1])) ], ['Size', counted(details.content[0], 'byte')]);
	if (details.coverage?.debug_file !== undefined) facts.push(['CFI also from', name(at(details.coverage.debug_file))]);
	return h('dl', { class: 'facts' }, facts.map(([label, value]) => h('div', null, h('dt', null, label), h('dd', null, value))));
}

function findingArticle(finding, details, evidence) {
	const { rule } = finding;
	const severity = SEVERITIES[rule.severity];
	const notes = [
		finding.known ? ['known defect ', code(finding.known)] : null,
		finding.owner ? `to be fixed by ${ownerText(finding.owner)}` : null,
		evidence?.elf_section === undefined ? null : ['in ', code(details.text(evidence.elf_section))],
		rule.address ? h('a', { href: routeTo('rule', rule.name) }, 'findings of this rule') : null,
		finding.cause !== null ? h('a', { href: routeTo('cause', finding.cause) }, 'root cause') : null,
	].filter(Boolean);
	return h('article', { class: `finding ${severity}`, id: `finding-${finding.index}`, tabindex: '-1' },
		h('h3', null, chip(severity), ' ', rule.address ? outside(rule.address, rule.name) : h('a', { class: 'rule', href: routeTo('rule', rule.name) }, rule.name), h('span', { class: 'message' }, name(finding.message))),
		notes.length ? h('p', { class: 'notes' }, notes.map((note, place) => [place ? ' · ' : null, note])) : null,
		evidence ? evidenceOf(details, evidence) : h('p', { class: 'notice' }, 'The evidence is not on this page: the page is full. Other formats have it.'));
}

// The rules that are broken more often than the page lists.
function unlisted(file, details, listed) {
	const weights = new Map();
	for (const finding of listed) weights.set(finding.rule.name, (weights.get(finding.rule.name) ?? 0) + finding.weight);
	return (details.counts ?? []).map(([rule, severity, count]) => {
		const label = details.text(rule);
		const more = count - (weights.get(label) ?? 0);
		return more > 0 ? h('li', null, chip(SEVERITIES[severity]), ` ${grouped(more)} more of `, name(label), ' (--all lists each)') : null;
	}).filter(Boolean);
}

function findingsPanel(file, details, wanted) {
	const listed = findingsOf(file);
	const article = (finding) => findingArticle(finding, details, details.findings?.[finding.index - file.first]);
	return articlesPanel(listed, article, wanted, unlisted(file, details, listed));
}

// The first articles and that of the wanted finding, and a button for more. `more` are lines below them.
function articlesPanel(listed, article, wanted, more) {
	if (!listed.length && !more.length) return null;
	const list = h('div', { class: 'findings' });
	let shown = 0;
	const button = h('button', { type: 'button', class: 'more', onclick: () => { const first = shown; show(AT_ONCE); list.children[first]?.focus(); } });
	const show = (count) => {
		for (const finding of listed.slice(shown, shown + count)) list.append(article(finding));
		shown = Math.min(listed.length, shown + count);
		button.hidden = shown === listed.length;
		button.textContent = `Show ${Math.min(AT_ONCE, listed.length - shown)} more of ${counted(listed.length - shown, 'finding')}`;
		settleScrollers();
	};
	show(Math.max(AT_ONCE, wanted - listed[0]?.index + 1 || 0));
	return h('section', { class: 'panel', 'aria-label': 'Findings' }, h('h2', null, 'Findings'), list, button,
		more.length ? h('ul', { class: 'more-list' }, more) : null);
}

// Moves to the article of a finding. Returns whether there is one.
function showArticle(wanted) {
	const article = document.getElementById(`finding-${wanted}`);
	article?.scrollIntoView({ block: 'start' });
	article?.focus({ preventScroll: true });
	return Boolean(article);
}

function undecidedPanel(details) {
	if (!details.undecided?.length) return null;
	const { text: at } = details;
	return h('section', { class: 'panel', 'aria-label': 'Undecided' }, h('h2', null, 'Undecided'), h('ul', { class: 'plain-list' },
		details.undecided.map(([section, reason]) => h('li', null, name(`${section === null ? '' : `${at(details.sections?.[section]?.[0])}: `}${at(reason)}`)))));
}

function fileView(route) {
	const file = files[Number(route.argument)];
	if (!file) return notFound();
	const details = detailsOf(file) ?? { text: () => '', table: data.table };
	const wanted = Number(route.params.get('finding') ?? NaN);
	const title = [h('p', { class: 'crumbs' }, h('a', { href: '#files' }, 'Files')), h('h1', { class: 'file-name', tabindex: '-1' }, name(file.name))];
	const parts = [title, factsOf(file, details), undecidedPanel(details), findingsPanel(file, details, wanted), coveragePanel(details)];
	return {
		title: file.name,
		nodes: parts,
		ready: () => showArticle(wanted),
	};
}
