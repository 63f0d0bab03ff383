// The rows of a long table: only those in view are in the document.

const { Virtualizer, observeWindowRect, observeWindowOffset, windowScroll } = TanStackVirtual;

// The number of rows that are printed.
const PRINTED = 1000;

class Rows {
	// `make(index)` returns a new row of the table. The rows are children of `body`.
	constructor(body, make) {
		this.body = body;
		this.make = make;
		this.shown = new Map();
		this.count = 0;
		this.virtualizer = new Virtualizer(this.options());
		this.unmount = this.virtualizer._didMount();
		this.resized = new ResizeObserver(() => this.place());
		this.resized.observe(document.getElementById('main'));
		body.addEventListener('keydown', (event) => this.key(event));
	}

	options() {
		return {
			count: this.count,
			getScrollElement: () => window,
			estimateSize: () => 44,
			overscan: 12,
			observeElementRect: observeWindowRect,
			observeElementOffset: observeWindowOffset,
			scrollToFn: windowScroll,
			scrollMargin: this.margin ?? 0,
			onChange: () => this.render(),
		};
	}

	// Shows `count` rows from the first on.
	reset(count) {
		this.count = count;
		this.clear();
		this.margin = this.top();
		this.virtualizer.setOptions(this.options());
		this.virtualizer.measure();
		this.virtualizer._willUpdate();
		this.render();
	}

	clear() {
		for (const row of this.shown.values()) row.remove();
		this.shown.clear();
	}

	top() {
		return Math.round(this.body.getBoundingClientRect().top + window.scrollY);
	}

	// The table has moved, for instance because the lines above it wrap differently.
	place() {
		const margin = this.top();
		if (this.printing || margin === this.margin) return;
		this.margin = margin;
		this.virtualizer.setOptions(this.options());
		this.render();
	}

	render() {
		if (this.printing || !this.body.isConnected) return;
		const items = this.virtualizer.getVirtualItems();
		this.body.style.height = `${this.virtualizer.getTotalSize()}px`;
		const wanted = new Set(items.map((item) => item.index));
		for (const [index, row] of this.shown) {
			// A row that has the focus keeps it.
			if (wanted.has(index) || row.contains(document.activeElement)) continue;
			row.remove();
			this.shown.delete(index);
		}
		for (const item of items) {
			const row = this.row(item.index);
			row.style.transform = `translateY(${item.start - this.virtualizer.options.scrollMargin}px)`;
		}
	}

	row(index) {
		const known = this.shown.get(index);
		if (known) return known;
		const row = this.make(index);
		row.dataset.index = index;
		row.setAttribute('aria-rowindex', index + 2);
		// In the order of the table, which is also the order of the tabulator key.
		const next = [...this.shown.keys()].filter((other) => other > index).sort((a, b) => a - b)[0];
		this.body.insertBefore(row, next === undefined ? null : this.shown.get(next));
		this.shown.set(index, row);
		this.virtualizer.measureElement(row);
		return row;
	}

	key(event) {
		const row = event.target.closest('[data-index]');
		if (!row || event.ctrlKey || event.altKey || event.metaKey) return;
		const index = Number(row.dataset.index);
		const last = this.count - 1;
		const target = { ArrowDown: index + 1, ArrowUp: index - 1, Home: 0, End: last }[event.key];
		if (target === undefined || target < 0 || target > last) return;
		event.preventDefault();
		this.focus(target);
	}

	focus(index, tries = 20) {
		const row = this.shown.get(index);
		const link = row?.querySelector('a[href]');
		if (link) {
			link.focus();
		} else if (tries > 0) {
			this.virtualizer.scrollToIndex(index, { align: 'center' });
			requestAnimationFrame(() => this.focus(index, tries - 1));
		}
	}

	// For printing, rows follow each other. Returns the number of rows that are left out.
	print() {
		this.printing = true;
		this.clear();
		this.body.style.height = 'auto';
		for (let index = 0; index < Math.min(this.count, PRINTED); index += 1) this.body.append(this.make(index));
		return Math.max(0, this.count - PRINTED);
	}

	endPrint() {
		this.printing = false;
		this.body.replaceChildren();
		this.reset(this.count);
	}

	destroy() {
		this.unmount();
		this.resized.disconnect();
	}
}
