// The pages that the tests open. The program writes them below target/browser.

import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { hostileRecords } from './hostile.js';

export const root = resolve('.');
const program = process.env.SFRAME_CHECK ?? join(root, 'target/debug/sframe-check');
const folder = join(root, 'target/browser/pages');

// What the program prints. Findings and undecided parts are no failure.
function run(...args) {
	try {
		return execFileSync(program, args, { cwd: root, maxBuffer: 1 << 30, stdio: ['ignore', 'pipe', 'ignore'] });
	} catch (error) {
		if (error.status === 1 || error.status === 2) return error.stdout;
		throw error;
	}
}

function file(name, make) {
	mkdirSync(folder, { recursive: true });
	const path = join(folder, name);
	writeFileSync(path, make());
	return path;
}

const known = new Map();
const once = (name, make) => () => {
	if (!known.has(name)) known.set(name, make());
	return known.get(name);
};

const html = (name, ...args) => once(name, () => `file://${file(`${name}.html`, () => run(...args))}`);

// The corpus of differences, and the same results as JSON.
export const differences = html('differences', '--format', 'html', '--thorough', 'corpus/differences');
export const differencesJson = once('json', () => JSON.parse(run('--format', 'json', '--thorough', 'corpus/differences')));

// A report whose rules link to their pages.
export const linked = html('linked', '--format', 'html', '--known', 'deny', '--pages', 'https://example.org/sframe', 'corpus/differences/register-in-place/2.47.50.o');

// A scan of a version of the golden corpus as a report.
const scan = (version) => once(version, () => file(`${version}.ndjson`, () => run('--format', 'ndjson', '--all', `corpus/golden/${version}`)));
const [first, second, third] = ['2.40', '2.44', '2.47.50'].map(scan);

export const changes = once('changes', () => html('comparison', 'compare', '--format', 'html', second(), third())());
export const changesJson = once('changes-json', () => JSON.parse(run('compare', '--format', 'json', second(), third())));
export const overTime = once('over-time', () => html('history', 'show', '--format', 'html', first(), second(), third())());

const lines = (records) => `${records.map((record) => JSON.stringify({ type: 'file', ...record })).join('\n')}\n${JSON.stringify({ type: 'summary', format: 1, tool: { name: 'sframe-check', version: '0' } })}\n`;

// Records with markup in every text.
export const hostile = once('hostile', () => html('hostile-scan', 'show', '--format', 'html', file('hostile.ndjson', () => lines(hostileRecords('now'))))());
export const hostileChanges = once('hostile-changes', () => html('hostile-comparison', 'compare', '--format', 'html', file('before.ndjson', () => lines(hostileRecords('before'))), file('now.ndjson', () => lines(hostileRecords('now'))))());

// The forecast for 13 packages of a distribution, in five encodings.
const encodings = ['gnu-2.40', 'gnu-2.44', 'smallest-v2', 'gnu-2.47.50', 'smallest-v3'];
const sections = encodings.map((encoding) => ({ encoding, files: 1, bytes: 36372856, functions: 685220, described_bytes: 195454933 }));
const sizes = { file: 443259712, code: 219620840, eh_frame: 30000000, eh_frame_hdr: 6086476 };
const packaged = Array.from({ length: 13 }, (_, place) => ({ path: `lib${place}.deb`, inside: 'usr/lib/lib.so', status: 'no-section', package: { name: `libreoffice-core-nogui-${place}`, version: '4:7.4.7-1+deb12u8', architecture: 'amd64' }, forecast: { elf_type: 'shared', sizes, sections } }));
export const forecast = once('forecast', () => html('forecast', 'show', '--format', 'html', file('forecast.ndjson', () => lines(packaged)))());

// The records of the corpus, again and again under other names, in packages.
export function manyRecords(count) {
	const records = differencesJson().files.filter((record) => record.status === 'checked');
	return Array.from({ length: count }, (_, index) => {
		const record = records[index % records.length];
		const package_ = `package-${index % 400}`;
		return { ...record, path: `pool/${package_}/lib${String(index).padStart(5, '0')}.so`, package: { name: package_, version: '1.0' } };
	});
}

export const FILES = 10000;
export const large = once('large', () => html('large-scan', 'show', '--format', 'html', file('large.ndjson', () => lines(manyRecords(FILES))))());

if (!existsSync(program)) throw new Error(`${program} is missing: reports/html/tools/browser builds it`);
