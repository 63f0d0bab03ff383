// The browser, and a page that fails its test if the browser has anything to complain about.

import assert from 'node:assert/strict';
import { after, before } from 'node:test';
import { chromium } from 'playwright-core';

const ARGUMENTS = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'];

let browser;
before(async () => { browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ARGUMENTS }); });
after(async () => { await browser.close(); });

export const DESKTOP = { width: 1280, height: 900 };
export const PHONE = { width: 390, height: 844 };

// Opens `url`, runs `test(page)`, and checks that there were no errors, no dialogs and no requests.
export async function withPage(url, test, options = {}) {
	const context = await browser.newContext({ viewport: DESKTOP, reducedMotion: 'reduce', ...options });
	const page = await context.newPage();
	const complaints = [];
	page.on('console', (message) => { if (['error', 'warning'].includes(message.type())) complaints.push(message.text()); });
	page.on('pageerror', (error) => complaints.push(error.stack));
	page.on('dialog', async (dialog) => { complaints.push(`dialog: ${dialog.message()}`); await dialog.dismiss(); });
	page.on('request', (request) => { if (!/^(file|data):/.test(request.url())) complaints.push(`request: ${request.url()}`); });
	try {
		await page.goto(url);
		await test(page);
		assert.deepEqual(complaints, []);
	} finally {
		await context.close();
	}
}

// Goes to another view of the open page.
export async function visit(page, hash) {
	await page.evaluate((to) => { location.hash = to; }, hash);
	await settled(page);
}

// Waits until rows are placed: two frames after the last change of the address.
export const settled = (page) => page.evaluate(() => new Promise((done) => { requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 0))); }));

// The cells of a column in the rows that are in the document, in order.
export const column = (page, id) => page.$$eval(`table.rows tbody td.${id}`, (cells) => cells.map((cell) => cell.textContent));

export const count = (page) => page.locator('.count').first();
