// The proof of a finding that the machine code decides: the way from an entry of the function to the instruction that decides.

const DECIDED = ['sframe', 'cfi', 'both', 'inherited'];

// Only a reader with the file at hand can have the rest.
const lookUp = (place) => code(`sframe-check lookup FILE ${place} --why`);

function proofTable(details, why) {
	const { text: at } = details;
	const columns = why.columns.map(at);
	const width = columns.length + 3;
	let known = null;
	const body = why.lines.map((line) => {
		if (line.length === 2) return h('tr', { class: 'gap' }, h('td', { colspan: String(width) }, `… ${counted(line[0], 'instruction')} ${line[1]}`));
		const [place, instruction, state, note] = line;
		const before = known;
		known = state ?? known;
		return h('tr', null, h('th', { scope: 'row' }, code(at(place))), h('td', { class: 'instruction' }, code(at(instruction))),
			columns.map((label, column) => {
				const isChanged = state && before && state[column] !== before[column];
				return h('td', { class: isChanged ? 'changed' : null, 'data-label': label }, state ? code(at(state[column])) : null);
			}),
			h('td', { class: 'note' }, note === null ? null : at(note)));
	});
	const label = 'Instructions on the way, and what is known before each';
	const head = ['PC', 'Instruction', ...columns, 'How control comes there'].map((title) => h('th', { scope: 'col' }, title));
	return scroller(label, h('table', { class: 'evidence way', 'aria-label': label }, h('thead', null, h('tr', null, head)), h('tbody', null, body)));
}

// The proof, or how to get it.
function proofOf(details, { why, difference, code: range }) {
	const { text: at } = details;
	if (!why) {
		if (!range || !DECIDED.includes(difference?.wrong)) return null;
		const [start, , from] = range;
		return h('p', { class: 'notes' }, 'Proof: ', lookUp(`${from === null ? '' : `${at(from)}+`}${start}`));
	}
	const to = at(why.to);
	return h('details', { class: 'proof', ontoggle: settleScrollers }, h('summary', null, 'Proof: the way from an entry of the function to ', code(to), ', and what is known before each instruction'),
		proofTable(details, why),
		why.sentences.length ? h('ul', { class: 'plain-list' }, why.sentences.map((sentence) => h('li', null, name(at(sentence))))) : null,
		why.cut ? h('p', { class: 'notes' }, 'All of it: ', lookUp(to)) : null);
}
