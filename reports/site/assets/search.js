// The search of the first page: every word of the query has to be in a page; names count most.

const MOST = 50;
const field = document.getElementById('q');
const results = document.getElementById('results');
const count = document.getElementById('count');
const pages = INDEX.map((page) => ({ page, name: page.name.toLowerCase(), title: page.title.toLowerCase(), text: `${page.about} ${page.text}`.toLowerCase() }));

function weight({ name, title, text }, words) {
	let sum = name === words.join(' ') ? 100 : 0;
	for (const word of words) {
		if (name.startsWith(word)) sum += 30;
		else if (name.includes(word)) sum += 20;
		else if (title.includes(word)) sum += 5;
		else if (text.includes(word)) sum += 1;
		else return 0;
	}
	return sum;
}

function found(query) {
	const words = query.toLowerCase().split(/\s+/).filter(Boolean);
	const weighed = words.length === 0 ? [] : pages.map((one) => ({ page: one.page, sum: weight(one, words) })).filter(({ sum }) => sum > 0);
	return weighed.sort((a, b) => b.sum - a.sum).map(({ page }) => page);
}

function element(name, text) {
	const made = document.createElement(name);
	made.textContent = text;
	return made;
}

function item(page) {
	const made = document.createElement('li');
	const link = element('a', page.name);
	link.href = page.address;
	made.append(link, ' ', element('span', page.about), element('p', page.title || `${page.text.slice(0, 160)}…`));
	return made;
}

function show() {
	const query = field.value.trim();
	const pages = found(query);
	results.replaceChildren(...pages.slice(0, MOST).map(item));
	results.hidden = query === '';
	document.getElementById('contents').hidden = query !== '';
	const shown = pages.length > MOST ? `, the first ${MOST} are shown` : '';
	count.textContent = query === '' ? '' : `${pages.length} ${pages.length === 1 ? 'page' : 'pages'} with “${query}”${shown}`;
}

field.value = new URLSearchParams(location.search).get('q') ?? '';
field.addEventListener('input', show);
field.form.addEventListener('submit', (event) => event.preventDefault());
show();
