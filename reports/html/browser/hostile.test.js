// No text from the input becomes markup, runs as a script, or changes the direction of text.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { settled, visit, withPage } from './browser.js';
import { ATTACKS } from './hostile.js';
import { hostile, hostileChanges } from './pages.js';

async function checkView(page, view) {
	await page.evaluate(() => { for (const proof of document.querySelectorAll('details')) proof.open = true; });
	await settled(page);
	const found = await page.evaluate(() => ({
		attacked: window.attacked,
		elements: [...document.querySelectorAll('img, iframe, object, embed, audio, video, link:not([rel=icon]), base, [onload], [onerror], [onfocus], [autofocus]')].map((element) => element.outerHTML),
		scripts: [...document.scripts].filter((script) => script.type !== 'application/json').length,
		links: [...document.querySelectorAll('a')].filter((link) => !link.getAttribute('href').startsWith('#')).length,
		turned: /[\u202a-\u202e\u2066-\u2069]/.test(document.body.innerText + document.title),
		wide: document.documentElement.scrollWidth - window.innerWidth,
	}));
	assert.deepEqual(found, { attacked: undefined, elements: [], scripts: 2, links: 0, turned: false, wide: found.wide }, view);
	assert.ok(found.wide <= 0, `${view} scrolls sideways by ${found.wide} pixels`);
}

async function checkAll(page, views) {
	await checkView(page, 'first view');
	for (const view of views) {
		await visit(page, view);
		await checkView(page, view);
	}
}

const FILES = Array.from({ length: ATTACKS.length + 5 }, (_, index) => `#file/${index}`);

for (const [label, viewport] of [['a desktop', { width: 1280, height: 900 }], ['a phone', { width: 390, height: 844 }]]) {
	test(`hostile names stay text on ${label}`, () => withPage(hostile(), async (page) => {
		await checkAll(page, ['#causes', '#cause/0', '#cause/1', '#rules', `#rule/${encodeURIComponent(ATTACKS.join(' '))}`, '#packages', '#files', '#findings', ...FILES]);
	}, { viewport }));

	test(`hostile names stay text in a comparison on ${label}`, () => withPage(hostileChanges(), async (page) => {
		await checkAll(page, ['#files', '#findings', ...FILES]);
	}, { viewport }));
}

test('hostile names are shown as they are', () => withPage(`${hostile()}#files`, async (page) => {
	const shown = await page.locator('table.rows tbody').innerText();
	for (const attack of ATTACKS.filter((text) => !/[\u2066\u202e]/.test(text))) assert.ok(shown.includes(attack), attack);
	assert.ok(shown.includes('\\xe2\\x80\\xaegnp.exe'), 'characters that turn text are escaped');
}));

test('hostile addresses stay text', () => withPage(hostile(), async (page) => {
	for (const attack of ATTACKS) {
		const part = encodeURIComponent(attack);
		for (const view of [`#${part}`, `#file/${part}`, `#rule/${part}`, `#cause/${part}`, `#files?status=${part}&search=${part}&sort=${part}`, '#file/-1', '#file/1e9?finding=%', '#%E0%A4%A']) {
			await visit(page, view);
			await checkView(page, view);
		}
	}
}));
