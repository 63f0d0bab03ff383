// The evidence of a finding: the rows of SFrame and CFI beside the instructions, or the bytes of the section.

const SIDES = { both: 0, first: 1, second: 2 };

// Rows and instructions by address: [{ address, instruction, first, second }].
function sideBySide(difference) {
	const lines = new Map();
	const line = (address) => {
		if (!lines.has(address)) lines.set(address, { address });
		return lines.get(address);
	};
	for (const [side, start, ...values] of difference.rows) {
		if (side !== SIDES.second) line(start).first = values;
		if (side !== SIDES.first) line(start).second = values;
	}
	for (const [address, instruction] of difference.instructions) line(address).instruction = instruction;
	return [...lines.values()].sort((a, b) => (BigInt(a.address) < BigInt(b.address) ? -1 : 1));
}

function rowCells(details, own, other) {
	if (!own) return [0, 1, 2].map((place) => h('td', { class: place === 0 ? 'side' : null }));
	const { text: at } = details;
	return own.slice(0, 3).map((value, place) => {
		const signed = (row) => (place === 1 && row[3] ? ' signed' : '');
		const shown = at(value) + signed(own);
		const differs = other && shown !== at(other[place]) + signed(other);
		const only = !other;
		const classes = [place === 0 && 'side', differs && 'differs', only && 'only'].filter(Boolean).join(' ');
		return h('td', { class: classes || null }, code(shown), differs && hidden(' (differs)'));
	});
}

// The tables of both witnesses, side by side with the code.
function differenceTable(details, difference) {
	const lines = sideBySide(difference);
	const sides = ['first', 'second'].filter((side) => lines.some((line) => line[side]));
	const titles = { first: 'SFrame', second: details.table };
	const head = h('thead', null,
		h('tr', null, h('th', { rowspan: '2', scope: 'col' }, 'PC'), h('th', { rowspan: '2', scope: 'col' }, 'Instruction'),
			sides.map((side) => h('th', { colspan: '3', scope: 'colgroup', class: 'side' }, titles[side]))),
		h('tr', null, sides.map(() => ['CFA', 'RA', 'FP'].map((part, place) => h('th', { scope: 'col', class: place === 0 ? 'side' : null }, part)))));
	const body = lines.map((line) => {
		const other = { first: 'second', second: 'first' };
		const differs = sides.length > 1 && (line.first || line.second) && JSON.stringify(line.first) !== JSON.stringify(line.second);
		return h('tr', { class: differs ? 'unequal' : null }, h('th', { scope: 'row' }, code(line.address)),
			h('td', null, line.instruction === undefined ? null : code(details.text(line.instruction))),
			sides.map((side) => rowCells(details, line[side], sides.length > 1 ? line[other[side]] : line[side])));
	});
	if (difference.cut) body.push(h('tr', null, h('td', { colspan: String(2 + 3 * sides.length) }, 'further rows are not shown')));
	const label = sides.length > 1 ? `Rows of SFrame and ${details.table} beside the instructions` : 'Rows beside the instructions';
	return scroller(label, h('table', { class: 'evidence', 'aria-label': label }, head, h('tbody', null, body)));
}

const spaced = (bytes) => bytes.replace(/(..)(?=.)/g, '$1 ');

// The section's bytes around the defect, split into fields.
function contextTable(details, context) {
	const { text: at } = details;
	const body = context.map(([offset, bytes, field, value, blamed]) => h('tr', { class: blamed ? 'blamed' : null },
		h('th', { scope: 'row' }, code(hex(offset))), h('td', null, code(spaced(at(bytes)))),
		h('td', null, code(at(field)), blamed ? hidden(' (the defect)') : null), h('td', null, name(at(value)))));
	const head = ['Offset', 'Bytes', 'Field', 'Value'].map((title) => h('th', { scope: 'col' }, title));
	const label = 'Bytes of the section around the defect';
	return scroller(label, h('table', { class: 'evidence', 'aria-label': label }, h('thead', null, h('tr', null, head)), h('tbody', null, body)));
}

function evidenceOf(details, evidence) {
	const { text: at } = details;
	const parts = [];
	const place = placeText(details, evidence);
	if (place) parts.push(h('p', { class: 'place' }, 'at ', name(place)));
	if (evidence.field) {
		const [field, value, allowed] = evidence.field.map(at);
		parts.push(h('p', null, code(field), ' is ', code(value), ', allowed: ', name(allowed)));
	}
	const { difference } = evidence;
	if (difference) {
		parts.push(differenceTable(details, difference));
		if (difference.wrong) parts.push(h('p', { class: `ruling ${difference.wrong}` }, name(at(difference.ruling))));
		if (difference.similar) {
			const [functions, bytes] = difference.similar;
			parts.push(h('p', null, `and at ${counted(functions, 'more function')} (${counted(bytes, 'byte')})`));
		}
	} else if (evidence.context?.length) {
		parts.push(contextTable(details, evidence.context));
	}
	parts.push(proofOf(details, evidence));
	return parts;
}
