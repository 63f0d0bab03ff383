// Records whose every text tries to become markup, to run a script, or to change the direction of text.

export const LONG = 'x'.repeat(10000);

export const ATTACKS = [
	'<img src=x onerror="window.attacked=1">',
	'</script><script>window.attacked=1</script>',
	'</title></style><svg onload=window.attacked=1>',
	'" autofocus onfocus="window.attacked=1" x="',
	'javascript:window.attacked=1',
	'<!--<script>',
	'&lt;b&gt;&amp;',
	'\u202egnp.exe\u2066',
	'{{7*7}}${7*7}',
];

const MARK = ATTACKS.join(' ');

const row = (side, start) => ({ side, start, cfa: `rsp ${MARK}`, ra: MARK, fp: MARK, ra_signed: true });

function difference() {
	return {
		fields: ['cfa', MARK],
		table: [row('sframe', '0x10'), row('cfi', '0x10'), row('both', '0x20')],
		instructions: [{ address: '0x10', bytes: '90', text: MARK }],
		ruling: { wrong: 'sframe', proof: { instruction: { address: '0x10', bytes: '90', text: MARK }, cfa: MARK, ra: MARK, fp: MARK } },
		similar: { functions: 2, ranges: 2, bytes: 20 },
	};
}

function why() {
	const step = { code_section: MARK, instruction: { address: '0x10', bytes: '90', text: MARK }, arrival: 'jump', ways: 2, code: { cfa: MARK, ra: MARK, fp: MARK, ra_signed: true }, registers: [{ name: MARK, rule: MARK }] };
	return { way: [step, step], left_out: { after: 1, instructions: 9 }, lost: [{ what: MARK, at: '0x10', is_join: true }], clause: MARK };
}

function finding(number, when, rule = 'cfa-mismatch') {
	return {
		rule, severity: 'error', group: MARK, known: number === 2 ? MARK : undefined, owner: ['yours', 'linker', 'assembler'][number], elf_section: MARK, message: `${number} ${when} ${MARK}`, section: 0, offset: 16, file_offset: 80,
		field: { name: MARK, value: MARK, allowed: MARK },
		function: { index: 0, start: '0x10', code_section: MARK, size: 32, symbol: number === 1 ? LONG : `symbol ${number} ${MARK}`, symbol_offset: 4 },
		row: 1, code: { start: '0x10', end: '0x20', code_section: MARK, symbol: MARK },
		context: number % 2 ? [{ offset: 16, bytes: MARK, name: MARK, value: MARK, blamed: true }] : [],
		...(number % 2 ? {} : { difference: difference(), why: number ? why() : undefined }),
	};
}

function checked(name, when) {
	const findings = [0, 1, 2, 3].map((number) => finding(number, when)).concat(finding(4, when, MARK));
	return {
		path: name, inside: MARK, member: MARK, status: 'checked', code_bytes: 64, covered_bytes: 32,
		build_id: MARK, elf_type: 'shared', suppressed: [{ rule: MARK, reason: MARK, count: 2 }],
		content: { size: 9, hash: MARK }, package: { name: `package ${MARK}`, version: MARK, architecture: MARK, source: MARK },
		producers: [{ kind: 'assembler', name: MARK, version: when, text: MARK }, { kind: MARK, name: MARK }],
		sections: [{ name: MARK, address: '0x40', file_offset: 64, size: 100, header: { version: when === 'now' ? 3 : 2, abi: MARK, endian: 'little' }, functions: 1, rows: 2 }],
		counts: [{ rule: 'cfa-mismatch', severity: 'error', count: 9 }, { rule: MARK, severity: 'error', count: 1 }, { rule: 'fp-lost', severity: 'warning', count: when === 'now' ? 3 : 1 }],
		findings, undecided: [{ section: 0, reason: MARK }, { reason: MARK }],
		coverage: {
			bytes: { equal: 10, different: 20, only_cfi: 30, undecided: 4 }, functions: { both: 1, partly: 1, only_cfi: when === 'now' ? 2 : 1, only_sframe: 0 }, debug_file: MARK,
			losses: [{ cause: MARK, functions: when === 'now' ? 2 : 1, bytes: 30, examples: [{ start: '0x30', code_section: MARK, size: 4, symbol: MARK }] }],
			without_entry: { functions: 3, bytes: 24, largest: [{ start: '0x40', code_section: MARK, size: 20, symbol: MARK, source: { file: MARK, line: 1 } }] },
			limits: [{ field: MARK, functions: 1, bytes: 4 }],
		},
	};
}

// `when` is `before` or `now`, so that each record differs between both scans.
export function hostileRecords(when) {
	return [
		...ATTACKS.map((attack) => checked(`${attack} ${MARK}`, when)),
		checked(LONG, when),
		{ path: `${MARK}/unreadable`, status: when === 'now' ? 'unreadable' : 'no-section', reason: MARK },
		{ path: `${MARK}/unsupported`, status: 'unsupported', reason: MARK },
		{ path: `${MARK}/special`, status: 'special', reason: MARK },
		{ path: `${MARK}/crashed`, status: 'crashed', reason: MARK },
	];
}
