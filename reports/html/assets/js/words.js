// Numbers and places in the words of the text report.

const grouped = (number) => String(number).replace(/\B(?=(\d{3})+(?!\d))/g, ',');

const counted = (number, what) => `${grouped(number)} ${what}${number === 1 ? '' : 's'}`;

// Rounded to the nearest tenth: 100 % is written only for all of it, and 0 % only for nothing.
function percent(part, whole) {
	if (!whole) return 'none';
	const tenths = Math.floor((part * 1000 + Math.floor(whole / 2)) / whole);
	if (tenths === 0 && part > 0) return 'under 0.1 %';
	if (tenths === 1000 && part < whole) return 'over 99.9 %';
	return `${Math.floor(tenths / 10)}.${tenths % 10} %`;
}

const hex = (number) => `0x${number.toString(16)}`;

const symbolPlace = (symbol, offset) => (offset ? `${symbol}+${hex(offset)}` : symbol);

// `.sframe+0x20 (file offset 0x2020), function 3 foo at 0x1000 (60 bytes), row 2`.
function placeText(details, evidence) {
	const { text: at } = details;
	const parts = [];
	const section = details.sections?.[evidence.section];
	if (section && evidence.offset !== undefined) {
		parts.push(`${at(section[0])}+${hex(evidence.offset)} (file offset ${hex(section[3] + evidence.offset)})`);
	} else if (section) {
		parts.push(at(section[0]));
	}
	if (evidence.function) {
		const [index, start, from, size, symbol, offset] = evidence.function;
		let words = `function ${index}`;
		if (symbol !== null) words += ` ${symbolPlace(at(symbol), offset)}`;
		if (start !== null) words += ` at ${from === null ? '' : `${at(from)}+`}${start}`;
		parts.push(`${words} (${counted(size, 'byte')})`);
	}
	if (evidence.row !== undefined) parts.push(`row ${evidence.row}`);
	if (evidence.code) {
		const [start, end, from, symbol, offset, size] = evidence.code;
		const inside = symbol !== null && !evidence.function ? ` in ${symbolPlace(at(symbol), offset)}` : '';
		parts.push(`code ${from === null ? '' : `${at(from)}+`}${start}..${end} (${counted(size, 'byte')})${inside}`);
	}
	return parts.join(', ');
}

// Who has to act on a finding.
const ownerText = (owner) => (owner === 'yours' ? 'the author of the code' : `the ${owner}`);
