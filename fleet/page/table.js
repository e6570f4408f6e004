// One kind of table for everything: headers that sort and say so, pages instead of four thousand rows, and
// all of it by keyboard.
'use strict';

// A page of rows and the buttons to the others; `draw(first, last)` shows rows [first, last).
class Pager {
    constructor(holder, size, draw, noun) {
        Object.assign(this, {holder, size, draw, noun, page: 0, count: 0});
    }
    show(count, page) {
        this.count = count;
        const pages = Math.max(1, Math.ceil(count / this.size));
        this.page = Math.min(Math.max(0, page), pages - 1);
        const first = this.page * this.size, last = Math.min(count, first + this.size);
        this.draw(first, last);
        this.holder.hidden = pages === 1;
        const step = (text, label, to) =>
            el('button', {
                type: 'button',
                'aria-label': label,
                disabled: to < 0 || to >= pages || to === this.page,
                onclick: () => {
                    this.show(this.count, to);
                    this.focus(label);
                },
            },
               text);
        this.holder.replaceChildren(
            step('«', 'First page', 0), step('‹', 'Previous page', this.page - 1),
            el('span', {},
               fixed(first + (count ? 1 : 0), 0) + '–' + fixed(last, 0) + ' of ' + plural(count, this.noun)),
            step('›', 'Next page', this.page + 1), step('»', 'Last page', pages - 1));
    }
    focus(label) {
        const buttons = [...this.holder.querySelectorAll('button')];
        const same =
            buttons.find((button) => button.getAttribute('aria-label') === label && !button.disabled);
        (same || buttons.find((button) => !button.disabled))?.focus();
    }
}

// columns: {title, key(row) for sorting, cell(row) -> text or element, class, unsorted, first: 'descending'}.
class SortedTable {
    constructor(table, columns, onsort) {
        Object.assign(this, {table, columns, onsort, by: -1, descending: false});
        table.tHead.replaceChildren(el('tr', {}, columns.map((column, i) => this.header(column, i))));
    }
    header(column, i) {
        if (!column.key) return el('th', {scope: 'col', class: column.class}, column.title);
        return el(
            'th', {scope: 'col', class: column.class, 'aria-sort': 'none', 'data-title': column.title},
            el('button', {type: 'button', onclick: () => this.sortBy(i)}, column.title,
               el('span', {class: 'arrow', 'aria-hidden': 'true'})));
    }
    sortBy(i) {
        const firstDescending = this.columns[i].first === 'descending';
        if (this.by !== i)
            Object.assign(this, {by: i, descending: firstDescending});
        else if (this.descending === firstDescending)
            this.descending = !firstDescending;
        else
            this.by = -1;  // the third press: as it came, worst first
        this.said();
        this.onsort();
    }
    // "3d": by the fourth column, descending; empty: as it came.
    state() { return this.by < 0 ? '' : this.by + (this.descending ? 'd' : 'a'); }
    restore(state) {
        const [, by, direction] = /^(\d{1,2})([ad])$/.exec(state) || [];
        Object.assign(this, {by: this.columns[by]?.key ? Number(by) : -1, descending: direction === 'd'});
        this.said();
    }
    said() {
        [...this.table.tHead.rows[0].cells].forEach((cell, i) => {
            if (this.columns[i].key)
                cell.setAttribute(
                    'aria-sort',
                    i !== this.by       ? 'none' :
                        this.descending ? 'descending' :
                                          'ascending');
        });
    }
    // Rows in the order asked for; equal ones stay as they came, what has no value comes last either way.
    sorted(rows) {
        if (this.by < 0) return rows;
        const key = this.columns[this.by].key, sign = this.descending ? -1 : 1;
        const absent = (value) =>
            value === '' || value === null || value === undefined || Number.isNaN(value);
        return rows.map((row) => [key(row), row])
            .sort(([a], [b]) => {
                if (absent(a) || absent(b)) return absent(a) - absent(b);
                return sign * (typeof a === 'string' ? compareNames(a, b) : a - b);
            })
            .map(([, row]) => row);
    }
    draw(rows) {
        this.table.tBodies[0].replaceChildren(
            ...rows.map((row) => el('tr', {}, this.columns.map((column) => {
                            const cell = column.cell(row);
                            return el(
                                column.head ? 'th' : 'td',
                                {class: column.class, scope: column.head ? 'row' : null}, cell);
                        }))));
    }
}

// "node-2" before "node-10". One collator: localeCompare makes one for each call.
const collator = new Intl.Collator('en', {numeric: true});
const compareNames = (a, b) => collator.compare(a, b);

// A whole sortable table with its pages, made from rows at hand.
function makeTable(caption, columns, rows, size, noun) {
    const table = el('table', {}, el('caption', {}, caption), el('thead'), el('tbody'));
    const holder = el('div', {class: 'pager', role: 'group', 'aria-label': 'Pages: ' + caption});
    const box = el('div', {class: 'scroll'}, table);
    let order = rows;
    const sorted = new SortedTable(table, columns, () => {
        order = sorted.sorted(rows);
        pager.show(order.length, 0);
    });
    const pager =
        new Pager(holder, size || 25, (first, last) => sorted.draw(order.slice(first, last)), noun || 'row');
    pager.show(rows.length, 0);
    return [box, holder];
}

// Wide content scrolls inside its box, and a box that scrolls can be reached by keyboard (WCAG 2.1.1).
function reachable() {
    for (const box of document.querySelectorAll('.scroll')) {
        const wide = box.scrollWidth > box.clientWidth + 1;
        if (!wide) {
            box.removeAttribute('tabindex');
            box.removeAttribute('role');
            box.removeAttribute('aria-label');
            continue;
        }
        box.tabIndex = 0;
        box.setAttribute('role', 'region');
        box.setAttribute('aria-label', (box.querySelector('caption')?.textContent || 'table') + ', scrolls');
    }
}
