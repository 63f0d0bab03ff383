// A comparison of two scans. What the page should list is in the JSON of the same comparison.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { column, count, settled, visit, withPage } from './browser.js';
import { changes, changesJson } from './pages.js';

const all = () => changesJson().files.flatMap((file) => file.findings);

test('the first view has the figures of the comparison', () => withPage(changes(), async (page) => {
	const { summary, rules } = changesJson();
	const tiles = Object.fromEntries(await page.$$eval('.tile', (list) => list.map((tile) => [tile.querySelector('.label').textContent, tile.querySelector('.value').textContent])));
	const sum = ({ errors, warnings, lints }) => String(errors + warnings + lints);
	assert.equal(tiles['New findings'], sum(summary.new));
	assert.equal(tiles['Fixed findings'], sum(summary.fixed));
	assert.equal(tiles['Files in both scans'], String(summary.matched));
	const shown = await page.$$eval('#rules-title ~ .scroll tbody tr', (rows) => rows.map((row) => [...row.children].slice(1, 4).map((cell) => cell.textContent)));
	assert.deepEqual(shown, rules.map((rule) => [rule.rule, String(rule.old), String(rule.new)]));
}));

test('findings are filtered by what happened to them', () => withPage(`${changes()}#findings?change=fixed`, async (page) => {
	const fixed = all().filter((finding) => finding.change === 'fixed').length;
	assert.equal(await count(page).textContent(), `${fixed} of ${all().length} findings`);
	assert.ok((await column(page, 'change')).every((change) => change === 'fixed'));
	await visit(page, '#files?with=worse');
	assert.equal(await count(page).textContent(), `${changesJson().files.filter((file) => file.worse).length} of ${changesJson().files.length} files`);
}));

test('a file shows its changes', () => withPage(`${changes()}#files`, async (page) => {
	const [file] = changesJson().files;
	await page.locator('table.rows tbody td.name a').first().click();
	await settled(page);
	const messages = await page.$$eval('article .message', (list) => list.map((message) => message.textContent));
	assert.deepEqual(messages, file.findings.slice(0, 20).map((finding) => (finding.new ?? finding.old).message));
}));
