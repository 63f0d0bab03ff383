// Axe finds nothing to object to, in either theme, at either width.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { test } from 'node:test';
import { DESKTOP, PHONE, visit, withPage } from './browser.js';
import { changes, differences, large, overTime } from './pages.js';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

const PAGES = [
	['a scan', differences, ['#overview', '#causes', '#cause/0', '#rules', '#rule/cfa-mismatch', '#files', '#findings', '#file/45', '#file/52']],
	['a comparison', changes, ['#overview', '#files', '#findings', '#file/0']],
	['several scans', overTime, ['#overview']],
	['packages', large, ['#packages', '#files']],
];

for (const [label, url, views] of PAGES) {
	for (const [theme, viewport] of [['light', DESKTOP], ['dark', DESKTOP], ['light', PHONE]]) {
		test(`${label}, ${theme}, ${viewport.width} pixels`, () => withPage(url(), async (page) => {
			await page.evaluate(axe);
			for (const view of views) {
				await visit(page, view);
				await page.evaluate(() => { for (const proof of document.querySelectorAll('details')) proof.open = true; });
				const { violations } = await page.evaluate(() => window.axe.run(document, { resultTypes: ['violations'] }));
				const found = violations.map(({ id, impact, nodes }) => `${impact} ${id}: ${nodes.slice(0, 3).map((node) => node.html.slice(0, 160)).join(' | ')}`);
				assert.deepEqual(found, [], view);
			}
		}, { colorScheme: theme, viewport }));
	}
}
