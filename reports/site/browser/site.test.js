// The web site as files in a browser: the search, the widths, and what axe objects to. reports/html/tools/browser runs this.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import { DESKTOP, PHONE, withPage } from './browser.js';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const address = (path) => `file://${join(resolve('.'), 'target/browser/site', path)}`;
const PAGES = ['index.html', 'index.html?q=cfi', 'rules/cfa-mismatch.html', 'defects/ld-plt-push.html', 'guides/FORECAST.html', 'guides/comparison.html'];

test('the search finds a rule by its name, and leads to its page', () => withPage(address('index.html'), async (page) => {
	await page.fill('#q', 'cfa-mismatch');
	assert.equal(await page.isVisible('#contents'), false);
	const first = page.locator('#results a').first();
	assert.equal(await first.textContent(), 'cfa-mismatch');
	await first.click();
	assert.equal(await page.textContent('h1'), 'cfa-mismatch');
	await page.fill('#q', 'cfa mismatch');
	await page.press('#q', 'Enter');
	await page.waitForURL(/index\.html\?q=cfa\+mismatch$/);
	assert.equal(await page.locator('#results a').first().textContent(), 'cfa-mismatch');
	await page.fill('#q', '');
	assert.equal(await page.isVisible('#contents'), true);
	assert.equal(await page.isVisible('#results'), false);
}));

test('a query is text', () => withPage(address('index.html?q=%3Cimg+src%3Dx+onerror%3Dalert(1)%3E'), async (page) => {
	assert.match(await page.textContent('#count'), /^0 pages with “<img/);
	assert.equal(await page.locator('main img').count(), 0);
}));

for (const [theme, viewport] of [['light', DESKTOP], ['dark', DESKTOP], ['light', PHONE]]) {
	for (const path of PAGES) {
		test(`${path}, ${theme}, ${viewport.width} pixels`, () => withPage(address(path), async (page) => {
			assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), 'it scrolls sideways');
			await page.evaluate(axe);
			const { violations } = await page.evaluate(() => window.axe.run(document, { resultTypes: ['violations'], preload: false }));
			const found = violations.map(({ id, impact, nodes }) => `${impact} ${id}: ${nodes.slice(0, 3).map((node) => node.html.slice(0, 160)).join(' | ')}`);
			assert.deepEqual(found, []);
		}, { colorScheme: theme, viewport }));
	}
}
