// Filtering, searching, sorting and opening. What the page should list is computed from the JSON of the same scan.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { column, count, settled, visit, withPage } from './browser.js';
import { FILES, differences, differencesJson, large, linked } from './pages.js';

const errors = (record) => record.counts.filter((of) => of.severity === 'error').reduce((sum, of) => sum + of.count, 0);
const nameOf = (record) => record.path + (record.inside ? `!${record.inside}` : '') + (record.member ? `(${record.member})` : '');
const allFindings = () => differencesJson().files.flatMap((record) => record.findings.map((finding) => ({ ...finding, record })));

test('the first view has the figures of the summary', () => withPage(differences(), async (page) => {
	const { summary } = differencesJson();
	const tiles = await page.$$eval('.tile', (all) => all.map((tile) => [tile.querySelector('.label').textContent, tile.querySelector('.value').textContent]));
	assert.deepEqual(Object.fromEntries(tiles), {
		'Files checked': String(summary.checked),
		'With an SFrame section': String(summary.with_section),
		Functions: String(summary.functions),
		'Code with entries': `${(Math.round((summary.covered_bytes * 1000) / summary.code_bytes_with_section) / 10).toFixed(1)} %`,
		Errors: String(summary.errors),
		Warnings: String(summary.warnings),
		Undecided: String(summary.undecided),
	});
	const rules = await page.$$eval('#top-rules tbody tr', (rows) => rows.map((row) => [
		row.querySelector('.chip').textContent, row.querySelector('th').textContent, row.querySelector('.about code')?.textContent ?? '', row.querySelector('.number').textContent,
	]));
	const counts = summary.rules.map((rule) => [rule.severity, rule.rule, rule.known ?? '', String(rule.count)]);
	assert.deepEqual(rules.sort(), counts.sort());
}));

test('files are sorted by errors, and by any column', () => withPage(`${differences()}#files`, async (page) => {
	const records = differencesJson().files;
	const most = Math.max(...records.map(errors));
	assert.equal((await column(page, 'errors'))[0], String(most));
	await page.getByRole('button', { name: 'File', exact: true }).click();
	await settled(page);
	const sorted = records.map(nameOf).sort(new Intl.Collator('en', { numeric: true }).compare);
	const shown = await column(page, 'name');
	assert.deepEqual(shown, sorted.slice(0, shown.length));
	assert.equal(await page.getByRole('columnheader', { name: 'File' }).getAttribute('aria-sort'), 'ascending');
	await page.getByRole('button', { name: 'File', exact: true }).click();
	await settled(page);
	assert.equal((await column(page, 'name'))[0], sorted.at(-1));
}));

test('a filter shows the files with a status', () => withPage(`${differences()}#files`, async (page) => {
	const checked = differencesJson().files.filter((record) => record.status === 'checked');
	await page.getByLabel('Status').selectOption('checked');
	await settled(page);
	assert.equal(await count(page).textContent(), `${checked.length} of ${differencesJson().files.length} files`);
	assert.ok((await column(page, 'status')).every((status) => status.startsWith('checked')));
	assert.match(page.url(), /status=checked/);
	await page.getByRole('button', { name: 'Clear filters' }).click();
	await settled(page);
	assert.equal(await count(page).textContent(), `${differencesJson().files.length} files`);
}));

test('a search finds findings by any of their words', () => withPage(`${differences()}#findings`, async (page) => {
	const wanted = allFindings().filter((finding) => finding.rule === 'cfa-mismatch' && nameOf(finding.record).includes('plt'));
	assert.ok(wanted.length > 0);
	await page.getByLabel('Search').fill('PLT cfa-mismatch');
	await page.waitForFunction((text) => document.querySelector('.count').textContent.startsWith(text), `${wanted.length} of `);
	assert.ok((await column(page, 'rule')).every((rule) => rule === 'cfa-mismatch'));
	await page.getByLabel('Search').fill('no such words');
	await page.waitForFunction(() => document.querySelector('.count').textContent.startsWith('0 of '));
	assert.equal(await page.locator('table.rows.empty').count(), 1);
}));

test('an address names a view with its filters', () => withPage(`${differences()}#findings?severity=warning&rule=fp-lost`, async (page) => {
	const wanted = allFindings().filter((finding) => finding.rule === 'fp-lost').length;
	assert.equal(await count(page).textContent(), `${wanted} of ${allFindings().length} findings`);
	assert.equal(await page.getByLabel('Rule', { exact: true }).inputValue(), 'fp-lost');
	await visit(page, '#files?format=V1+AMD64');
	assert.equal(await page.getByLabel('Format').inputValue(), 'V1 AMD64');
	await visit(page, '#no-such-view');
	assert.equal(await page.locator('h1:visible').textContent(), 'Not found');
}));

test('a finding opens its file, with the rows of both tables beside the instructions', () => withPage(`${differences()}#findings?rule=cfa-mismatch`, async (page) => {
	const path = 'corpus/differences/register-in-place/2.47.50.o';
	await page.getByLabel('Search').fill(`${path} CFI says rbp`);
	await page.waitForFunction(() => document.querySelector('.count').textContent.startsWith('1 of '));
	await page.locator('table.rows tbody td.message a').click();
	await settled(page);
	assert.equal(await page.locator('h1:visible').textContent(), path);
	const article = page.locator('article:focus');
	assert.equal(await article.locator('.message').textContent(), 'CFA is rbp+8, CFI says rbp+16');
	// The README shows this difference, which was examined by hand: `rbp+8` where CFI has `rbp+16`.
	const rows = await article.locator('.evidence:not(.way) tbody tr').evaluateAll((all) => all.map((row) => [...row.children].map((cell) => cell.textContent.replace(' (differs)', ''))));
	assert.deepEqual(rows, [
		['0x0', '', 'rsp+8', '*(CFA-8)', 'unchanged', 'rsp+8', '*(CFA-8)', 'unchanged'],
		['0x4', 'pop %rbp', 'rbp+8', '*(CFA-8)', '*(CFA-16)', 'rbp+16', '*(CFA-8)', '*(CFA-16)'],
		['0x5', '', 'rsp+8', '*(CFA-8)', 'unchanged', 'rsp+8', '*(CFA-8)', 'unchanged'],
	]);
	assert.equal(await article.locator('.ruling').textContent(), 'SFrame is wrong: after 0x1 mov %rsp,%rbp and before 0x4 pop %rbp, the code has CFA rsp+16, RA *(CFA-8), FP *(CFA-16)');
	assert.equal(await article.locator('.place').textContent(), 'at .sframe+0x34 (file offset 0xb4), function 0 f at .text+0x0 (6 bytes), row 1, code .text+0x4..0x5 (1 byte)');
}));

test('a finding has its proof', () => withPage(`${differences()}#findings?rule=cfa-mismatch`, async (page) => {
	await page.getByLabel('Search').fill('register-in-place/2.47.50.o CFI says rbp');
	await page.waitForFunction(() => document.querySelector('.count').textContent.startsWith('1 of '));
	await page.locator('table.rows tbody td.message a').click();
	await settled(page);
	const id = await page.locator('article:focus').getAttribute('id');
	const proof = page.locator(`#${id} details.proof`);
	assert.equal(await proof.locator('table').isVisible(), false);
	await proof.locator('summary').click();
	assert.equal(await proof.locator('table').isVisible(), true);
	// By the listing beside the file: the push moves RSP to CFA-16 and stores RBP there, and the move makes it RBP's own value.
	const rows = await proof.locator('tbody tr').evaluateAll((all) => all.map((row) => [...row.children].map((cell) => cell.textContent)));
	assert.deepEqual(rows, [
		['.text+0x0', 'push %rbp', 'rsp+8', '*(CFA-8)', 'unchanged', 'taken for the start of a function that is called'],
		['.text+0x1', 'mov %rsp,%rbp', 'rsp+16', '*(CFA-8)', 'unchanged', ''],
		['.text+0x4', 'pop %rbp', 'rsp+16', '*(CFA-8)', '*(CFA-16)', ''],
	]);
	assert.deepEqual(await proof.locator('.changed').allTextContents(), ['rsp+16', '*(CFA-16)']);
	assert.match(await proof.locator('li').last().textContent(), /^decided by V3 2\.4; /);
}));

test('rules link to their pages if their address is given', () => withPage(linked(), async (page) => {
	await visit(page, '#file/0');
	const address = 'https://example.org/sframe/rules/cfa-mismatch.html';
	assert.equal(await page.getByRole('link', { name: 'cfa-mismatch' }).first().getAttribute('href'), address);
	await page.getByRole('link', { name: 'findings of this rule' }).first().click();
	await settled(page);
	assert.equal(await page.locator('h1:visible a').getAttribute('href'), address);
}));

test('a root cause lists the findings that have it', () => withPage(`${differences()}#causes`, async (page) => {
	const shown = await page.$$eval('table.rows tbody tr', (rows) => rows.slice(0, 10).map((row) => [row.querySelector('a').getAttribute('href'), Number(row.querySelector('.findings').textContent)]));
	for (const [href, findings] of shown) {
		await visit(page, href);
		assert.equal(await count(page).textContent(), `${findings} finding${findings === 1 ? '' : 's'}`, href);
	}
}));

test('the back button returns to the list where it was left', () => withPage(`${large()}#files?sort=name`, async (page) => {
	await page.mouse.wheel(0, 20000);
	await page.waitForFunction(() => window.scrollY > 15000);
	await settled(page);
	const before = await page.evaluate(() => window.scrollY);
	await page.locator('table.rows tbody td.name a').nth(20).click();
	await settled(page);
	await page.goBack();
	await page.waitForFunction((y) => Math.abs(window.scrollY - y) < 200, before);
}));

test('of 10,000 files, only those in view are in the document', () => withPage(`${large()}#files?sort=name`, async (page) => {
	assert.equal(await count(page).textContent(), `${FILES.toLocaleString('en')} files`);
	assert.ok((await column(page, 'name')).length < 100);
	await page.evaluate(() => window.scrollTo(0, document.documentElement.scrollHeight));
	await page.waitForFunction(() => [...document.querySelectorAll('table.rows tbody td.name')].some((cell) => cell.textContent.endsWith('lib09999.so')));
	assert.ok((await column(page, 'name')).length < 100);
	await page.getByLabel('Search').fill('lib04321');
	await page.waitForFunction(() => document.querySelector('.count').textContent.startsWith('1 of '));
	await page.locator('table.rows tbody td.name a').click();
	await settled(page);
	assert.equal(await page.locator('h1:visible').textContent(), 'pool/package-321/lib04321.so');
	await visit(page, '#files?package=package-321');
	assert.equal(await count(page).textContent(), `${FILES / 400} of ${FILES.toLocaleString('en')} files`);
}));

// Wall times, with the time that the page needs to show the result.
test('with 10,000 files, nothing takes two seconds', async () => {
	const url = large();
	let start = performance.now();
	const times = {};
	const taken = (what) => {
		times[what] = Math.round(performance.now() - start);
		start = performance.now();
	};
	await withPage(url, async (page) => {
		await settled(page);
		taken('open');
		await visit(page, '#files?sort=name');
		taken('list files');
		await page.getByLabel('Search').fill('lib04321');
		await page.waitForFunction(() => document.querySelector('.count').textContent.startsWith('1 of '));
		taken('search');
		await page.locator('table.rows tbody td.name a').click();
		await page.getByRole('heading', { name: 'pool/package-321/lib04321.so' }).waitFor();
		taken('open a file');
		await visit(page, '#findings?severity=error');
		taken('filter findings');
		await visit(page, '#packages');
		taken('list packages');
	});
	console.log(`milliseconds for ${FILES.toLocaleString('en')} files: ${JSON.stringify(times)}`);
	for (const [what, milliseconds] of Object.entries(times)) assert.ok(milliseconds < 2000, `${what}: ${milliseconds} ms`);
});
