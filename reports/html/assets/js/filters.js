// The fields above a table: a search, choices, and the order on narrow screens.

let field = 0;

// A choice has: id, label, options as [value, label], and test(row, value). `search` returns the text to search in.
class Filters {
	constructor(table, { search, choices, params }) {
		this.table = table;
		this.searched = search;
		this.choices = choices;
		this.haystacks = new Map();
		this.selects = choices.map((choice) => this.choice(choice, params.get(choice.id) ?? ''));
		this.input = h('input', { type: 'search', id: `field-${field += 1}`, autocomplete: 'off', spellcheck: 'false', maxlength: '200' });
		this.input.value = params.get('search') ?? '';
		this.input.addEventListener('input', () => this.later());
		this.order = this.orderField();
		this.clearing = h('button', { type: 'button', class: 'quiet', onclick: () => this.clear() }, 'Clear filters');
		this.element = h('form', { class: 'filters', role: 'search' },
			h('div', { class: 'field search' }, h('label', { for: this.input.id }, 'Search'), this.input),
			this.selects.map(({ box }) => box), this.order.box, this.clearing);
		this.element.addEventListener('submit', (event) => event.preventDefault());
		this.restoreOrder(params.get('sort') ?? '');
		this.apply();
	}

	choice(choice, value) {
		const select = h('select', { id: `field-${field += 1}` }, h('option', { value: '' }, 'all'),
			choice.options.map(([option, label]) => h('option', { value: option }, label)));
		select.value = value;
		// An address may name what the list does not have.
		if (select.selectedIndex < 0) {
			select.append(h('option', { value }, plain(value)));
			select.value = value;
		}
		select.addEventListener('change', () => this.changed());
		const box = h('div', { class: 'field' }, h('label', { for: select.id }, choice.label), select);
		return { select, box };
	}

	// On narrow screens, the heads of columns are not shown.
	orderField() {
		const options = this.table.columns.flatMap(({ id, label, number }) => {
			const [up, down] = number ? ['smallest first', 'largest first'] : ['A to Z', 'Z to A'];
			return [h('option', { value: id }, `${label}, ${up}`), h('option', { value: `${id}-` }, `${label}, ${down}`)];
		});
		const select = h('select', { id: `field-${field += 1}` }, h('option', { value: '' }, 'as found'), options);
		select.addEventListener('change', () => {
			if (select.value) this.table.sort(select.value.replace(/-$/, ''), select.value.endsWith('-'));
		});
		return { select, box: h('div', { class: 'field order' }, h('label', { for: select.id }, 'Order'), select) };
	}

	restoreOrder(sort) {
		const id = sort.replace(/-$/, '');
		if (this.table.columns.some((column) => column.id === id)) this.table.model.setSorting([{ id, desc: sort.endsWith('-') }]);
		const { sorting } = this.table;
		this.order.select.value = sorting ? `${sorting.id}${sorting.desc ? '-' : ''}` : '';
	}

	later() {
		clearTimeout(this.waiting);
		this.waiting = setTimeout(() => this.changed(), 80);
	}

	changed() {
		updateRoute({ search: this.input.value, ...Object.fromEntries(this.choices.map(({ id }, place) => [id, this.selects[place].select.value])) });
		this.apply();
	}

	clear() {
		this.input.value = '';
		for (const { select } of this.selects) select.value = '';
		this.changed();
		this.input.focus();
	}

	haystack(row) {
		let known = this.haystacks.get(row);
		if (known === undefined) {
			known = this.searched(row).toLowerCase();
			this.haystacks.set(row, known);
		}
		return known;
	}

	apply() {
		const words = this.input.value.toLowerCase().split(/\s+/).filter(Boolean);
		const chosen = this.choices.map((choice, place) => [choice, this.selects[place].select.value]).filter(([, value]) => value !== '');
		this.clearing.hidden = !words.length && !chosen.length;
		if (this.clearing.hidden) return this.table.filter(null);
		return this.table.filter((row) => chosen.every(([choice, value]) => choice.test(row, value)) && words.every((word) => this.haystack(row).includes(word)));
	}
}
