// The data of the page. Each list is an array of arrays, in the order that `report.rs` documents.

const data = JSON.parse(document.getElementById('data').textContent);
const text = (place) => (place === null || place === undefined ? '' : data.strings[place]);

// A page shows a scan, or the changes between two scans, which `changes.js` reads.
const isScan = data.kind === 'scan';
const ofScan = (list) => (isScan ? list : []);

const SEVERITIES = ['error', 'warning', 'lint'];
const STATUSES = ['checked', 'archive', 'no section', 'not supported', 'not ELF', 'special', 'unreadable', 'crashed'];

const files = ofScan(data.files).map((row, index) => ({
	index,
	name: row[0],
	package: text(row[1]),
	status: STATUSES[row[2]] ?? '',
	format: text(row[3]),
	code: row[4],
	covered: row[5],
	counts: row.slice(6, 9),
	undecided: row[9],
	first: row[10],
	listed: row[11],
	details: row[12],
}));

const rules = ofScan(data.rules).map((row, index) => ({ index, ...row }));

const findings = ofScan(data.findings).map((row, index) => ({
	index,
	file: files[row[0]],
	rule: rules[row[1]],
	message: text(row[2]),
	symbol: text(row[3]),
	address: row[4],
	cause: row[5],
	weight: row[6],
	known: rules[row[1]].known ?? '',
	owner: row[7] ?? '',
}));

const causes = ofScan(data.causes).map((row, index) => ({ index, ...row }));

const chunks = new Map();

// The details of a file, or null if the page does not have them. They are read when they are first needed.
function detailsOf(file) {
	if (file.details === null) return null;
	let chunk = data.chunks.length - 1;
	while (chunk > 0 && data.chunks[chunk] > file.details) chunk -= 1;
	if (!chunks.has(chunk)) chunks.set(chunk, JSON.parse(document.getElementById(`details-${chunk}`).textContent));
	const { strings, files: rows } = chunks.get(chunk);
	return { ...rows[file.details - data.chunks[chunk]], text: (place) => strings[place] ?? '' };
}

// The findings of a file that the page has.
const findingsOf = (file) => findings.slice(file.first, file.first + file.listed);

// Files by package, with sums.
function packages() {
	const known = new Map();
	for (const file of files) {
		if (!file.package) continue;
		const sum = known.get(file.package) ?? { name: file.package, files: 0, counts: [0, 0, 0], undecided: 0, code: 0, covered: 0 };
		known.set(file.package, sum);
		sum.files += 1;
		sum.undecided += file.undecided;
		if (file.format) {
			sum.code += file.code;
			sum.covered += file.covered;
		}
		file.counts.forEach((count, place) => { sum.counts[place] += count; });
	}
	return [...known.values()];
}
