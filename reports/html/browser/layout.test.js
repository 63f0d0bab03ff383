// Phones, dark themes, paper, and pages without scripts.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PHONE, settled, visit, withPage } from './browser.js';
import { changes, differences, differencesJson, forecast, overTime } from './pages.js';

const VIEWS = ['#overview', '#causes', '#cause/0', '#rules', '#rule/cfa-mismatch', '#files', '#findings', '#file/45', '#file/52'];

test('nothing scrolls sideways on a phone', async () => {
	for (const [url, views] of [[differences(), VIEWS], [overTime(), VIEWS], [changes(), ['#overview', '#files', '#findings', '#file/0', '#file/1']]]) {
		await withPage(url, async (page) => {
			for (const view of views) {
				await visit(page, view);
				await page.evaluate(() => { for (const proof of document.querySelectorAll('details')) proof.open = true; });
				const wide = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
				assert.ok(wide <= 0, `${url}${view}: ${wide} pixels`);
			}
		}, { viewport: PHONE, isMobile: true, hasTouch: true });
	}
});

test('the forecast of packages fits a desktop', () => withPage(forecast(), async (page) => {
	await page.setViewportSize({ width: 1280, height: 900 });
	assert.equal(await page.locator('#forecast-packages-title ~ .scroll tbody tr').count(), 13);
	const bars = '#forecast-packages-title ~ .scroll .graph rect';
	const widths = await page.$$eval(bars, (all) => all.map((bar) => Number(bar.getAttribute('width'))));
	assert.equal(widths.length, 13);
	assert.equal(Math.max(...widths), 1000);
	const cut = await page.$$eval('.scroll', (tables) => tables.map((table) => table.scrollWidth - table.clientWidth));
	assert.ok(cut.length > 1 && cut.every((pixels) => pixels <= 0), `${cut} pixels`);
}));

test('rows do not overlap, on a phone or after the window has changed', () => withPage(`${differences()}#findings`, async (page) => {
	const overlaps = () => page.$$eval('table.rows tbody tr', (rows) => {
		const boxes = rows.map((row) => row.getBoundingClientRect()).sort((a, b) => a.top - b.top);
		return boxes.slice(1).filter((box, place) => box.top < boxes[place].bottom - 1).length;
	});
	for (const width of [1280, 390, 800]) {
		await page.setViewportSize({ width, height: 900 });
		await page.waitForFunction(() => document.querySelectorAll('table.rows tbody tr').length > 5);
		await settled(page);
		await settled(page);
		assert.equal(await overlaps(), 0, `${width} pixels`);
	}
}));

const luminance = (page) => page.evaluate(() => {
	const [r, g, b] = getComputedStyle(document.body).backgroundColor.match(/\d+/g).map(Number);
	return r + g + b;
});

test('the theme is that of the system, or chosen', () => withPage(overTime(), async (page) => {
	assert.ok(await luminance(page) < 150);
	const button = page.locator('#theme');
	await button.click();
	assert.equal(await button.textContent(), 'Theme: light');
	assert.ok(await luminance(page) > 600);
	await button.click();
	assert.ok(await luminance(page) < 150);
	await button.click();
	assert.equal(await button.textContent(), 'Theme: system');
}, { colorScheme: 'dark' }));

test('paper has all rows of a table and no controls', () => withPage(`${differences()}#findings`, async (page) => {
	await page.emulateMedia({ media: 'print' });
	await page.evaluate(() => window.dispatchEvent(new Event('beforeprint')));
	const findings = differencesJson().files.flatMap((record) => record.findings).length;
	assert.equal(await page.locator('table.rows tbody tr').count(), findings);
	for (const control of ['nav', '.filters', '#theme']) assert.equal(await page.locator(control).first().isVisible(), false, control);
	const pdf = await page.pdf({ format: 'A4' });
	assert.ok(pdf.length > 10000);
	await page.emulateMedia({ media: 'screen' });
	await page.evaluate(() => window.dispatchEvent(new Event('afterprint')));
	await settled(page);
	assert.ok(await page.locator('table.rows tbody tr').count() < findings);
}));

test('without scripts, the figures are there', () => withPage(differences(), async (page) => {
	assert.match(await page.locator('h1').textContent(), new RegExp(`^${differencesJson().summary.errors} errors`));
	assert.match(await page.locator('noscript').innerHTML(), /need JavaScript/);
	assert.ok(await page.getByRole('heading', { name: 'Coverage' }).first().isVisible());
}, { javaScriptEnabled: false }));

test('lines over time have a table with the same figures', () => withPage(overTime(), async (page) => {
	assert.equal(await page.locator('#history canvas').count(), 3);
	const scans = await page.$$eval('#history .scroll tbody tr', (rows) => rows.map((row) => row.querySelector('th').textContent.split('/').pop()));
	assert.deepEqual(scans, ['2.40.ndjson', '2.44.ndjson', '2.47.50.ndjson']);
}));
