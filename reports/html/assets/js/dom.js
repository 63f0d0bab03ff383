// Elements. Text is only ever set as text: nothing here or elsewhere parses markup.

// h('a', { class: 'name', href: '#files' }, 'text', element)
function h(tag, attributes, ...children) {
	const element = document.createElement(tag);
	for (const [name, value] of Object.entries(attributes ?? {})) {
		if (value === null || value === undefined || value === false) continue;
		if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
		else element.setAttribute(name, value === true ? '' : value);
	}
	add(element, children);
	return element;
}

function add(element, children) {
	for (const child of children.flat(Infinity)) {
		if (child !== null && child !== undefined && child !== false && child !== '') element.append(child);
	}
}

// Text from the input, whose direction does not change that of the text around it.
const name = (value, attributes) => h('bdi', attributes, value);

const code = (value) => h('code', { dir: 'ltr' }, value);

// A link that leaves the page, which only `--pages` makes.
const outside = (address, ...children) => h('a', { class: 'rule', href: address, rel: 'noreferrer' }, children);

const chip = (severity) => h('span', { class: `chip ${severity}` }, severity);

const hidden = (value) => h('span', { class: 'visually-hidden' }, value);

// A box that scrolls sideways on narrow screens, also by keyboard.
const scroller = (label, ...children) => h('div', { class: 'scroll', tabindex: '0', role: 'group', 'aria-label': label }, children);

// Text from an address, without the characters that change the direction of text. Other text is embedded without them.
const plain = (value) => value.replace(/[\p{Cc}\p{Cf}]/gu, '\ufffd');

// Regions that have nothing to scroll need no stop of the tabulator key.
function settleScrollers() {
	for (const box of document.querySelectorAll('.scroll')) {
		if (box.scrollWidth > box.clientWidth + 1) box.setAttribute('tabindex', '0');
		else box.removeAttribute('tabindex');
	}
}

const status = document.getElementById('status');
let announcement = 0;

// Has screen readers read a text, once it no longer changes.
function announce(value) {
	clearTimeout(announcement);
	announcement = setTimeout(() => { status.textContent = value; }, 400);
}
