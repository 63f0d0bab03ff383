// Everything that a mouse can do, a keyboard can do, too.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { settled, visit, withPage } from './browser.js';
import { differences, large } from './pages.js';

const focused = (page) => page.evaluate(() => document.activeElement.textContent.trim());

test('the first stop skips to the content', () => withPage(differences(), async (page) => {
	await page.keyboard.press('Tab');
	assert.equal(await focused(page), 'Skip to the content');
	await page.keyboard.press('Enter');
	assert.equal(await page.evaluate(() => document.activeElement.id), 'main');
}));

test('a file is found, opened and left', () => withPage(differences(), async (page) => {
	await page.getByRole('link', { name: 'Files', exact: true }).focus();
	await page.keyboard.press('Enter');
	await settled(page);
	assert.equal(await focused(page), 'Files', 'the heading of a new view has the focus');
	await page.keyboard.press('Tab');
	await page.keyboard.type('register-in-place/2.47.50.o');
	await page.waitForFunction(() => document.querySelector('.count').textContent.startsWith('1 of '));
	await page.locator('table.rows tbody a').first().focus();
	await page.keyboard.press('Enter');
	await settled(page);
	assert.equal(await focused(page), 'corpus/differences/register-in-place/2.47.50.o');
	await page.goBack();
	await settled(page);
	assert.equal(await page.getByLabel('Search').inputValue(), 'register-in-place/2.47.50.o');
}));

test('arrows, Home and End move through rows that are not in the document yet', () => withPage(`${large()}#files?sort=name`, async (page) => {
	await page.locator('table.rows tbody a').first().focus();
	assert.match(await focused(page), /lib00000\.so$/);
	for (let step = 0; step < 60; step += 1) await page.keyboard.press('ArrowDown');
	await page.waitForFunction(() => document.activeElement.textContent.endsWith('lib00324.so') || document.activeElement.closest('[data-index]')?.dataset.index === '60');
	await page.keyboard.press('End');
	await page.waitForFunction(() => document.activeElement.closest('[data-index]')?.dataset.index === '9999');
	const box = await page.evaluate(() => { const { top, bottom } = document.activeElement.getBoundingClientRect(); return top >= 0 && bottom <= innerHeight; });
	assert.ok(box, 'the row with the focus is in view');
	await page.keyboard.press('Home');
	await page.waitForFunction(() => document.activeElement.closest('[data-index]')?.dataset.index === '0');
}));

test('a column is sorted with Enter, and the order is announced', () => withPage(`${differences()}#rules`, async (page) => {
	await page.getByRole('button', { name: 'Rule', exact: true }).focus();
	await page.keyboard.press('Enter');
	assert.equal(await page.getByRole('columnheader', { name: 'Rule', exact: true }).getAttribute('aria-sort'), 'ascending');
	await page.waitForFunction(() => document.getElementById('status').textContent.length > 0);
}));

test('the number of rows is announced after a search', () => withPage(`${differences()}#findings`, async (page) => {
	await page.getByLabel('Search').fill('plt-sec');
	await page.waitForFunction(() => / of \d+ findings$/.test(document.getElementById('status').textContent));
	await visit(page, '#overview');
	assert.equal(await page.evaluate(() => document.activeElement.tagName), 'H1');
}));
