// What the bad nodes share, what the fleet costs, and what nobody could judge: a decision is only as good as
// what it left out.
'use strict';

const nodeLink = (name) => nodeOf.has(name) ? el('button', {type: 'button', class: 'link', onclick: () => openNode(nodeOf.get(name))}, name) : name;
const show = (id, ...content) => {
    document.getElementById(id + '-body').replaceChildren(...content.flat().filter(Boolean));
    document.getElementById(id).hidden = false;
};

function showShares() {
    const counts = Object.fromEntries([...document.querySelectorAll('#counts button')].map((button) => [button.dataset.decision, Number(button.querySelector('b').textContent)]));
    const bar = document.getElementById('shares');
    for (const [decision, count] of Object.entries(counts)) {
        if (!count) continue;
        const part = el('span', {class: decision});
        part.style.flexGrow = count;
        bar.append(part);
    }
}

function showCommons() {
    if (!data.commons.length) return;
    const left = data.commons_all - data.commons.length;
    const search = (property, value) => { filter.text = value; document.getElementById('search').value = value; showNodes(true); document.getElementById('nodes').scrollIntoView(); document.getElementById('search').focus(); };
    const share = (a, b) => b ? fixed(a, 0) + ' of ' + fixed(b, 0) : '0';
    show('shared', makeTable('Properties in common, strongest first', [
        {title: 'Property', head: true, key: (r) => r[0], cell: (r) => r[0]},
        {title: 'Value', key: (r) => r[1], cell: (r) => el('button', {type: 'button', class: 'link', title: 'Search the nodes for it', onclick: () => search(r[0], r[1])}, r[1])},
        {title: 'Problem', key: (r) => r[2], cell: (r) => [el('code', {}, r[2]), data.codes[r[2]] ? el('div', {class: 'quiet'}, data.codes[r[2]][0]) : null]},
        {title: 'Bad with it', class: 'number', key: (r) => r[3] / (r[4] || 1), first: 'descending', cell: (r) => share(r[3], r[4])},
        {title: 'Bad without it', class: 'number', key: (r) => (r[5] - r[3]) / (r[6] - r[4] || 1), cell: (r) => share(r[5] - r[3], r[6] - r[4])},
        {title: 'By chance', class: 'number', key: (r) => r[6], cell: (r) => chance(r[7])},
    ], data.commons, 20, 'property'), left > 0 ? el('p', {class: 'quiet'}, plural(left, 'weaker one') + ' not listed here.') : null);
}

function showOffenders() {
    if (!data.offenders.length) return;
    const left = data.offenders_all - data.offenders.length;
    const times = (row) => Array.from({length: (row.length - 2) / 3}, (_, i) => row.slice(2 + 3 * i, 5 + 3 * i));
    show('offenders', makeTable('GPUs by how often they were bad', [
        {title: 'GPU', head: true, key: (r) => r[0], cell: (r) => el('code', {}, r[0])},
        {title: 'Times', class: 'number', key: (r) => r[1], first: 'descending', cell: (r) => fixed(r[1], 0)},
        {title: 'Last', class: 'c-time', key: (r) => r[r.length - 3], first: 'descending', cell: (r) => when(r[r.length - 3])},
        {title: 'When, where, what', cell: (r) => el('ul', {class: 'plain'}, times(r).map(([created, node, problem]) => el('li', {}, el('span', {class: 'quiet'}, when(created) + ' '), nodeLink(node), ' ', el('code', {}, problem))))},
    ], data.offenders.filter((row) => row.length >= 5), 10, 'GPU'), left > 0 ? el('p', {class: 'quiet'}, plural(left, 'further GPU') + ' not listed here.') : null);
}

// Values of nodes in sorted order with who is dearest; like with like: by kind of machine.
function spread(values) {
    const known = values.filter(([value]) => value > 0).sort((a, b) => a[0] - b[0]);
    if (!known.length) return null;
    const sorted = known.map(([value]) => value);
    return {count: known.length, min: sorted[0], low: quantile(sorted, 0.25), median: quantile(sorted, 0.5), high: quantile(sorted, 0.75), max: sorted[sorted.length - 1], dearest: known[known.length - 1][1]};
}

function byKind(value) {
    const kinds = new Map();
    for (let node = 0; node < nodeCount; node++) {
        const kind = kindOf(node) || 'unknown kind';
        if (!kinds.has(kind)) kinds.set(kind, []);
        kinds.get(kind).push([value(node), node]);
    }
    return [...kinds].map(([kind, values]) => ({kind, ...spread(values)})).filter((row) => row.count);
}

let tokenCosts = [];
function showCost() {
    const hours = byKind((node) => data.node.usd_per_hour[node]);
    tokenCosts = data.costs.flatMap((row, c) => byKind((node) => numbers(row.usd, 'usd ' + c)[node]).map((one) => ({...one, ...row})));
    if (!hours.length && !tokenCosts.length) return;
    const money = (title, key) => ({title, class: 'number', key: (r) => r[key], cell: (r) => usd(r[key])});
    const tail = [
        {title: 'Nodes', class: 'number', key: (r) => r.count, cell: (r) => fixed(r.count, 0)},
        money('Min', 'min'), money('25 %', 'low'), money('Median', 'median'), money('75 %', 'high'), money('Max', 'max'),
        {title: 'Max / median', class: 'number', key: (r) => r.max / r.median, first: 'descending', cell: (r) => '× ' + fixed(r.max / r.median, 2)},
        {title: 'Dearest', key: (r) => data.node.name[r.dearest], cell: (r) => nodeLink(data.node.name[r.dearest])},
    ];
    const kind = {title: 'Kind', head: true, key: (r) => r.kind, cell: (r) => r.kind};
    const parts = [];
    if (tokenCosts.length) {
        if (hasCharts) parts.push(costFigure());
        parts.push(makeTable('USD per million output tokens (estimated from what was measured)', [
            {title: 'Model', head: true, key: (r) => r.model, cell: (r) => r.model}, {title: 'Precision', key: (r) => r.precision, cell: (r) => r.precision},
            {title: 'Concurrency', class: 'number', key: (r) => r.concurrency, cell: (r) => amount(r.concurrency)}, {...kind, head: false}, ...tail], tokenCosts, 25, 'row'));
        if (data.costs_left_out) parts.push(el('p', {class: 'quiet'}, plural(data.costs_left_out, 'rarer model') + ' not shown.'));
    }
    if (hours.length) parts.push(makeTable('USD per hour of an instance', [kind, ...tail], hours, 25, 'kind'));
    show('cost', parts);
    if (data.nodes_all > nodeCount) document.getElementById('cost-body').append(el('p', {class: 'quiet'}, 'Of the ' + plural(nodeCount, 'listed node') + '.'));
}

const kMostCostBars = 14;
function costFigure() {
    const rows = [...tokenCosts].sort((a, b) => b.max / b.median - a.max / a.median).slice(0, kMostCostBars);
    const box = el('div', {class: 'canvas'}, el('canvas', {role: 'img', 'aria-label': 'Spread of USD per million output tokens between nodes; the table below has the numbers'}));
    box.style.height = 44 + rows.length * 26 + 'px';
    const figure = el('figure', {class: 'wide-figure'}, el('figcaption', {}, el('b', {}, 'Spread between nodes'), el('span', {class: 'quiet'}, ' USD per million output tokens, cheapest to dearest; the dot is the median')), box);
    figure.rows = rows;
    requestAnimationFrame(() => drawCosts(figure));
    return figure;
}

function drawCosts(figure) {
    charts.get(figure)?.destroy();
    const rows = figure.rows, labels = rows.map((row) => [row.model, row.precision, '@' + amount(row.concurrency)].join(' ') + (new Set(rows.map((one) => one.kind)).size > 1 ? ' · ' + row.kind : ''));
    const ticks = {color: colour('quiet'), font: {size: 11}};
    charts.set(figure, new Chart(figure.querySelector('canvas'), {
        data: {labels, datasets: [
            {type: 'scatter', data: rows.map((row, i) => ({x: row.median, y: labels[i]})), radius: 5, backgroundColor: colour('fg'), borderColor: colour('bg'), borderWidth: 2},
            {type: 'bar', data: rows.map((row) => [row.min, Math.max(row.max, row.min * 1.01)]), backgroundColor: colour('bars'), barThickness: 12, borderRadius: 3, borderSkipped: false},
        ]},
        options: {
            indexAxis: 'y', animation: false, responsive: true, maintainAspectRatio: false,
            onClick: (_, hits) => { if (hits[0]) openNode(rows[hits[0].index].dearest); },
            scales: {x: {type: 'logarithmic', grid: {color: colour('line')}, ticks: {...ticks, maxTicksLimit: 8, callback: (value) => usd(value)}}, y: {grid: {display: false}, ticks: {...ticks, color: colour('fg')}}},
            plugins: {legend: {display: false}, tooltip: {displayColors: false, callbacks: {label: (item) => {
                const row = rows[item.dataIndex];
                return usd(row.min) + ' to ' + usd(row.max) + ' USD, median ' + usd(row.median) + '; dearest ' + data.node.name[row.dearest];
            }}}},
        },
    }));
}

function showUnjudged() {
    const parts = [];
    const counted = (text, test) => {
        const nodes = [];
        for (let node = 0; node < nodeCount; node++) if (test(node)) nodes.push(node);
        return nodes.length ? el('li', {}, plural(nodes.length, 'node') + ' ' + text + ': ', nodes.slice(0, 12).map((node, i) => [i ? ', ' : '', nodeLink(data.node.name[node])]).flat(), nodes.length > 12 ? ' and ' + fixed(nodes.length - 12, 0) + ' more' : '') : null;
    };
    const notes = [...data.notes.map((note) => el('li', {}, note)),
        counted('without enough evidence', (node) => decisionOf(node) === 3),
        counted('simulated or with an injected fault, shown and not counted', (node) => Number(data.node.flags[node]) & 3),
        counted('whose group is too small, or without measurements, so that nothing could be compared', (node) => !(data.node.worst_ratio[node] > 0)),
        !data.costs.length && !data.node.usd_per_hour.some((price) => price > 0) ? el('li', {}, 'No report knows a price or what a token costs, so there is no cost section.') : null,
        data.gpu.metrics_left_out || data.metrics_left_out ? el('li', {}, plural(data.gpu.metrics_left_out || data.metrics_left_out, 'rarer measurement') + ' not shown.') : null,
    ].filter(Boolean);
    if (notes.length) parts.push(el('ul', {class: 'notes'}, notes));
    const rows = [];
    for (let i = 0; i + 1 < data.rejected.length; i += 2) rows.push([data.rejected[i], data.rejected[i + 1]]);
    if (rows.length) {
        parts.push(makeTable('Inputs that are no report', [
            {title: 'Input', head: true, key: (r) => r[0], cell: (r) => el('code', {}, r[0])}, {title: 'Why', key: (r) => r[1], cell: (r) => r[1]}], rows, 25, 'input'));
        if (data.rejected_all > rows.length) parts.push(el('p', {class: 'quiet'}, plural(data.rejected_all - rows.length, 'further input') + ' not listed here.'));
    }
    if (parts.length) show('unjudged', parts);
}
