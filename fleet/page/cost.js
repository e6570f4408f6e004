// What a token and an hour cost, and how much more on the dearest node: a slow node is paid like a fast one.
'use strict';

// Values of nodes in sorted order with who is dearest; like with like: by kind of machine.
function spread(values) {
    const known = values.filter(([value]) => value > 0).sort((a, b) => a[0] - b[0]);
    if (!known.length) return null;
    const sorted = known.map(([value]) => value);
    return {
        count: known.length,
        min: sorted[0],
        low: quantile(sorted, 0.25),
        median: quantile(sorted, 0.5),
        high: quantile(sorted, 0.75),
        max: sorted[sorted.length - 1],
        dearest: known[known.length - 1][1]
    };
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
    tokenCosts = data.costs.flatMap(
        (row, c) => byKind((node) => numbers(row.usd, 'usd ' + c)[node]).map((one) => ({...one, ...row})));
    if (!hours.length && !tokenCosts.length) return;
    const money = (title, key) => ({title, class: 'number', key: (r) => r[key], cell: (r) => usd(r[key])});
    const tail = [
        {title: 'Nodes', class: 'number', key: (r) => r.count, cell: (r) => fixed(r.count, 0)},
        money('Min', 'min'),
        money('25 %', 'low'),
        money('Median', 'median'),
        money('75 %', 'high'),
        money('Max', 'max'),
        {
            title: 'Max / median',
            class: 'number',
            key: (r) => r.max / r.median,
            first: 'descending',
            cell: (r) => '× ' + fixed(r.max / r.median, 2)
        },
        {
            title: 'Dearest',
            class: 'named',
            key: (r) => data.node.name[r.dearest],
            cell: (r) => nodeLink(data.node.name[r.dearest])
        },
    ];
    const kind = {title: 'Kind', head: true, key: (r) => r.kind, cell: (r) => r.kind};
    const parts = [];
    if (tokenCosts.length) {
        if (hasCharts) parts.push(costFigure());
        parts.push(makeTable(
            'USD per million output tokens (estimated from what was measured)',
            [
                {title: 'Model', head: true, class: 'slot', key: (r) => r.model, cell: (r) => r.model},
                {title: 'Precision', key: (r) => r.precision, cell: (r) => r.precision}, {
                    title: 'Concurrency',
                    class: 'number',
                    key: (r) => r.concurrency,
                    cell: (r) => whole(r.concurrency)
                },
                {...kind, head: false}, ...tail
            ],
            tokenCosts, 25, 'row'));
        if (data.costs_left_out)
            parts.push(el('p', {class: 'quiet'}, plural(data.costs_left_out, 'rarer model') + ' not shown.'));
    }
    if (hours.length)
        parts.push(makeTable('USD per hour of an instance', [kind, ...tail], hours, 25, 'kind'));
    show('cost', parts);
    if (data.nodes_all > nodeCount)
        document.getElementById('cost-body')
            .append(el('p', {class: 'quiet'}, 'Of the ' + plural(nodeCount, 'listed node') + '.'));
}

// Rows of 1 and of 200 USD on one axis would hide what matters: how much dearer than usual a node is.
const kMostCostBars = 14;
function costFigure() {
    const rows = [...tokenCosts].sort((a, b) => b.max / b.median - a.max / a.median).slice(0, kMostCostBars);
    const box = el(
        'div', {class: 'canvas'}, el('canvas', {
            role: 'img',
            'aria-label':
                'Cheapest and dearest node against the median, in per cent, for each model; the table below has the numbers'
        }));
    box.style.height = 34 + rows.length * 24 + 'px';
    const figure =
        el('figure', {class: 'wide-figure'},
           el('figcaption', {}, el('b', {}, 'Cheapest to dearest node'),
              el('span', {class: 'quiet'},
                 ' against the median of its kind (in the label); thick: the middle half of the nodes' +
                     (rows.length < tokenCosts.length ? '; the ' + rows.length + ' that spread most' : ''))),
           box);
    figure.rows = rows;
    requestAnimationFrame(() => drawCosts(figure));
    return figure;
}

function drawCosts(figure) {
    charts.get(figure)?.destroy();
    const rows = figure.rows, narrow = figure.clientWidth < 600;
    const labels = rows.map(
        (row) => [row.model, row.precision, '@' + whole(row.concurrency), narrow ? '' : row.kind,
                  narrow ? '' : usd(row.median) + ' USD']
                     .filter(Boolean)
                     .join('  '));
    const off = (row, value) => (value / row.median - 1) * 100;
    const ticks = {color: colour('quiet'), font: {size: 11}};
    const bars = (thickness, from, to, fill) => ({
        type: 'bar',
        grouped: false,
        barThickness: thickness,
        borderRadius: 3,
        borderSkipped: false,
        minBarLength: 2,
        backgroundColor: colour(fill),
        data: rows.map((row) => [off(row, row[from]), off(row, row[to])])
    });
    charts.set(
        figure, new Chart(figure.querySelector('canvas'), {
            data: {labels, datasets: [bars(12, 'low', 'high', 'quiet'), bars(6, 'min', 'max', 'bars')]},
            options: {
                indexAxis: 'y',
                animation: false,
                responsive: true,
                maintainAspectRatio: false,
                interaction: {mode: 'index', axis: 'y', intersect: false},
                onClick: (_, hits) => {
                    if (hits[0]) openNode(rows[hits[0].index].dearest);
                },
                scales: {
                    x: {
                        grace: '4%',
                        grid: {color: colour('line')},
                        ticks: {
                            ...ticks,
                            maxTicksLimit: narrow ? 3 : 9,
                            maxRotation: 0,
                            callback: (value) => value === 0 ?
                                'median' :
                                (value > 0 ? '+' : '−') + fixed(Math.abs(value), 0) + ' %'
                        }
                    },
                    y: {
                        type: 'category',
                        labels,
                        grid: {display: false},
                        ticks: {...ticks, color: colour('fg'), autoSkip: false}
                    }
                },
                plugins: {
                    legend: {display: false},
                    tooltip: {
                        displayColors: false,
                        filter: (item) => item.datasetIndex === 0,
                        callbacks: {
                            label: (item) => {
                                const row = rows[item.dataIndex];
                                return usd(row.min) + ' to ' + usd(row.max) + ' USD, median ' +
                                    usd(row.median) + '; dearest ' + data.node.name[row.dearest];
                            }
                        }
                    }
                },
            },
        }));
}
