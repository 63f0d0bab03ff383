// A table that is sorted, filtered and scrolled.

const { constructTable, tableFeatures, createFilteredRowModel, createSortedRowModel, columnFilteringFeature, rowSortingFeature, storeReactivityBindings } = TanStackTable;

const features = tableFeatures({
	coreReactivityFeature: storeReactivityBindings(),
	columnFilteringFeature,
	rowSortingFeature,
	filteredRowModel: createFilteredRowModel(),
	sortedRowModel: createSortedRowModel(),
});

const collator = new Intl.Collator('en', { numeric: true });

function compare(a, b) {
	return typeof a === 'string' ? collator.compare(a, b) : a - b;
}

// A column has: id, label, value(row) to sort by, cell(row) to show, and optionally `number` and `wide`.
// The filter is a function of a row.
class Table {
	constructor({ label, noun, columns, rows, sort }) {
		this.columns = columns;
		this.noun = noun;
		this.total = rows.length;
		this.model = constructTable({
			features,
			data: rows,
			columns: [
				...columns.map((column) => ({
					id: column.id,
					accessorFn: column.value,
					enableColumnFilter: false,
					sortFn: (a, b) => compare(column.value(a.original), column.value(b.original)),
				})),
				{ id: 'all', accessorFn: (row) => row, enableSorting: false, filterFn: (row, _, filter) => filter(row.original) },
			],
			initialState: { sorting: sort ?? [], columnFilters: [] },
			renderFallbackValue: null,
		});
		this.count = h('p', { class: 'count' });
		this.heads = columns.map((column) => this.head(column));
		this.body = h('tbody', { role: 'rowgroup' });
		this.element = h('table', { class: 'rows', role: 'table', 'aria-label': label },
			h('thead', { role: 'rowgroup' }, h('tr', { role: 'row', 'aria-rowindex': '1' }, this.heads)), this.body);
		this.more = h('p', { class: 'print-only' });
		this.rows = new Rows(this.body, (index) => this.row(this.shown[index].original));
	}

	head(column) {
		const classes = [column.number && 'number', column.wide && 'wide'].filter(Boolean).join(' ');
		const button = h('button', { type: 'button', onclick: () => this.sortBy(column) }, column.label, h('span', { class: 'arrow', 'aria-hidden': 'true' }));
		return h('th', { role: 'columnheader', scope: 'col', class: classes || null, 'data-column': column.id }, button);
	}

	get sorting() {
		return this.model.atoms.sorting.get()[0];
	}

	// The first click sorts numbers from the largest on, and texts from A on; the second one reverses.
	sortBy(column) {
		const { sorting } = this;
		const desc = sorting?.id === column.id ? !sorting.desc : Boolean(column.number);
		this.sort(column.id, desc);
	}

	sort(id, desc) {
		this.model.setSorting([{ id, desc }]);
		updateRoute({ sort: `${id}${desc ? '-' : ''}` });
		this.update();
		announce(`sorted by ${this.columns.find((column) => column.id === id).label}, ${desc ? 'descending' : 'ascending'}`);
	}

	// Shows the rows for which `filter` is true.
	filter(filter) {
		this.model.setColumnFilters(filter ? [{ id: 'all', value: filter }] : []);
		this.update();
	}

	update() {
		this.shown = this.model.getRowModel().rows;
		const { length } = this.shown;
		for (const head of this.heads) {
			const sorted = this.sorting?.id === head.dataset.column;
			if (sorted) head.setAttribute('aria-sort', this.sorting.desc ? 'descending' : 'ascending');
			else head.removeAttribute('aria-sort');
		}
		const all = length === this.total;
		this.count.textContent = all ? counted(length, this.noun) : `${grouped(length)} of ${counted(this.total, this.noun)}`;
		announce(this.count.textContent);
		this.element.setAttribute('aria-rowcount', length + 1);
		this.element.classList.toggle('empty', length === 0);
		this.rows.reset(length);
	}

	row(item) {
		const cells = this.columns.map((column) => {
			const classes = [column.number && 'number', column.wide && 'wide', column.id].filter(Boolean).join(' ');
			const cell = h('td', { role: 'cell', class: classes, 'data-label': column.label });
			add(cell, [column.cell(item)]);
			return cell;
		});
		return h('tr', { role: 'row' }, cells);
	}

	print() {
		const left = this.rows.print();
		this.more.textContent = left ? `and ${counted(left, `more ${this.noun}`)}, which are not printed` : '';
	}

	endPrint() {
		this.more.textContent = '';
		this.rows.endPrint();
	}

	destroy() {
		this.rows.destroy();
	}
}
