// Where every GPU of a group lies, and the few that lie elsewhere; the same numbers stand in a table below.
'use strict';

const hasCharts = typeof Chart !== 'undefined';
const charts = new Map();  // figure -> Chart
let plottedGroup = -1;

const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue('--' + name).trim();

function describe(metric) {
    const {name, unit} = metricWords(metric.name);
    const parts =
        [name + ': ' + plural(metric.count, 'GPU') + ', median ' + measured(metric.name, metric.spread[3]) +
         ' ' + unit];
    parts.push(
        'from ' + measured(metric.name, metric.spread[0]) + ' to ' + measured(metric.name, metric.spread[6]));
    if (metric.centre && metric.judged)
        parts.push('worst value that belongs to the centre ' + measured(metric.name, metric.centre[2]));
    parts.push(outlierWords(plottedGroup, metric.name) || 'no outlier');
    return parts.join(', ');
}

function outliersOf(group, metric) {
    const rows = [];
    data.outlier.node.forEach((node, i) => {
        if (data.outlier.group[i] === group && names[data.outlier.metric[i]] === metric) rows.push(i);
    });
    return rows;
}

// GPUs and whole nodes are different findings.
function outlierWords(group, metric) {
    const rows = outliersOf(group, metric);
    const wholeNodes = rows.filter((i) => data.outlier.against[i] === kAgainstNodes).length;
    const gpus = rows.length - wholeNodes;
    return [gpus ? '▼ ' + plural(gpus, 'outlier') : '', wholeNodes ? '◆ ' + plural(wholeNodes, 'node') : '']
        .filter(Boolean)
        .join(' ');
}

// A vertical line at a value: Chart.js has none of its own.
const lines = {
    id: 'lines',
    afterDatasetsDraw(chart, _, options) {
        const {ctx, chartArea: area, scales: {x}} = chart;
        for (const {at, stroke, dash} of options.at || []) {
            if (!(at >= x.min && at <= x.max)) continue;
            ctx.save();
            ctx.strokeStyle = stroke;
            ctx.lineWidth = 1.5;
            ctx.setLineDash(dash);
            ctx.beginPath();
            ctx.moveTo(x.getPixelForValue(at), area.top);
            ctx.lineTo(x.getPixelForValue(at), area.bottom);
            ctx.stroke();
            ctx.restore();
        }
    },
};

function plot(figure, metric) {
    charts.get(figure)?.destroy();
    const {scale, unit} = metricWords(metric.name);
    const low = metric.spread[0] * scale, high = metric.spread[6] * scale,
          step = (high - low) / metric.bins.length || 1;
    const peak = Math.max(1, ...metric.bins);
    // A stepped area: each bin's count from its left edge on.
    const steps = metric.bins.map((count, i) => ({x: low + i * step, y: count}));
    steps.push({x: low + metric.bins.length * step, y: 0});
    const outliers = outliersOf(plottedGroup, metric.name).map((i) => {
        const whole = data.outlier.against[i] === kAgainstNodes;
        return {x: data.outlier.value[i] * scale, y: peak * (whole ? 0.2 : 0.07), i, whole};
    });
    const at = [];
    if (metric.centre) at.push({at: metric.centre[0] * scale, stroke: colour('accept'), dash: []});
    if (metric.centre && metric.judged)
        at.push({at: metric.centre[2] * scale, stroke: colour('fg'), dash: [4, 3]});
    const ticks = {color: colour('quiet'), maxRotation: 0, font: {size: 11}};
    charts.set(
        figure, new Chart(figure.querySelector('canvas'), {
            type: 'line',
            data: {
                datasets: [
                    {
                        type: 'scatter',
                        data: outliers,
                        pointStyle: outliers.map(({whole}) => whole ? 'rectRot' : 'triangle'),
                        rotation: outliers.map(({whole}) => whole ? 0 : 180),
                        radius: 5,
                        hoverRadius: 7,
                        backgroundColor: colour('reject'),
                        borderColor: colour('bg'),
                        borderWidth: 1
                    },
                    {
                        data: steps,
                        stepped: 'before',
                        fill: 'origin',
                        pointRadius: 0,
                        pointHitRadius: 0,
                        borderWidth: 1,
                        borderColor: colour('bars'),
                        backgroundColor: colour('bars')
                    },
                ]
            },
            options: {
                animation: false,
                responsive: true,
                maintainAspectRatio: false,
                parsing: false,
                normalized: true,
                interaction: {mode: 'nearest', intersect: true},
                onClick: (_, hits) => {
                    if (hits[0]?.datasetIndex === 0) openNode(data.outlier.node[outliers[hits[0].index].i]);
                },
                scales: {
                    x: {
                        type: 'linear',
                        min: low - step,
                        max: high + step,
                        grid: {display: false},
                        ticks: {...ticks, align: 'inner', callback: (value) => amount(value)},
                        afterBuildTicks: (axis) => {
                            axis.ticks = [low, (low + high) / 2, high].map((value) => ({value}));
                        }
                    },
                    y: {
                        min: 0,
                        max: peak * 1.05,
                        grid: {color: colour('line')},
                        ticks: {...ticks, callback: (value) => fixed(value, 0)},
                        afterBuildTicks: (axis) => {
                            axis.ticks = [{value: 0}, {value: peak}];
                        }
                    },
                },
                plugins: {
                    legend: {display: false},
                    lines: {at},
                    tooltip: {
                        filter: (item) => item.datasetIndex === 0,
                        displayColors: false,
                        callbacks: {
                            title: () => '',
                            label: ({raw}) => data.node.name[data.outlier.node[raw.i]] +
                                (raw.whole ? '' : ' GPU ' + data.outlier.gpu[raw.i]) + ': ' + amount(raw.x) +
                                ' ' + unit + ', ' + percent(data.outlier.ratio[raw.i]) + ' of the centre',
                        }
                    },
                },
            },
            plugins: [lines],
        }));
}

// Drawn when it comes into view: most groups are never looked at.
const inView = hasCharts && new IntersectionObserver((entries) => {
                   for (const {isIntersecting, target} of entries) {
                       if (isIntersecting && !charts.has(target)) plot(target, target.metric);
                   }
               }, {rootMargin: '300px'});

function drawPlots(group) {
    for (const [figure, chart] of charts) {
        inView.unobserve(figure);
        chart.destroy();
    }
    charts.clear();
    const holder = document.getElementById('plots');
    holder.replaceChildren();
    if (!hasCharts) return;
    // With one value for all there is nothing to draw; the table has it.
    for (const metric of group.metrics.filter((one) => one.spread[6] > one.spread[0])) {
        const {name, unit} = metricWords(metric.name), out = outlierWords(plottedGroup, metric.name);
        const figure =
            el('figure', {},
               el('figcaption', {}, el('b', {}, name), el('span', {class: 'quiet'}, ' ' + unit),
                  out ? el('span', {class: 'outs'}, out) : null),
               el('div', {class: 'canvas'}, el('canvas', {role: 'img', 'aria-label': describe(metric)})));
        figure.metric = metric;
        holder.append(figure);
        inView.observe(figure);
    }
}

function redrawCharts() {
    for (const figure of [...charts.keys()]) figure.metric ? plot(figure, figure.metric) : drawCosts(figure);
}

function groupTable(group) {
    const number = (title, value) =>
        ({title, class: 'number', key: value, cell: (metric) => measured(metric.name, value(metric))});
    return makeTable(
        'Distribution of each measurement',
        [
            {
                title: 'Measurement',
                head: true,
                key: (m) => m.name,
                cell: (m) =>
                    [metricWords(m.name).name, el('span', {class: 'quiet'}, ' ' + metricWords(m.name).unit)]
            },
            {title: 'GPUs', class: 'number', key: (m) => m.count, cell: (m) => fixed(m.count, 0)},
            number('Min', (m) => m.spread[0]),
            number('5 %', (m) => m.spread[1]),
            number('25 %', (m) => m.spread[2]),
            number('Median', (m) => m.spread[3]),
            number('75 %', (m) => m.spread[4]),
            number('95 %', (m) => m.spread[5]),
            number('Max', (m) => m.spread[6]),
            {
                title: 'Centre',
                class: 'number',
                key: (m) => m.centre ? m.centre[0] : NaN,
                cell: (m) =>
                    m.centre ? measured(m.name, m.centre[0]) : el('span', {class: 'quiet'}, 'too few')
            },
            {
                title: 'Spread',
                class: 'number',
                key: (m) => m.centre ? m.centre[1] / m.centre[0] : NaN,
                cell: (m) => m.centre ? '± ' + percent(m.centre[1] / m.centre[0]) : ''
            },
            {
                title: 'Bar',
                class: 'number',
                key: (m) => m.centre && m.judged ? m.centre[2] : NaN,
                cell: (m) => !m.judged ? el('span', {class: 'quiet'}, 'not judged') :
                    m.centre           ? measured(m.name, m.centre[2]) :
                                         ''
            },
            {
                title: 'Outside',
                class: 'number',
                key: (m) => m.centre && m.judged ? m.centre[4] : NaN,
                first: 'descending',
                cell: (m) => m.centre && m.judged ? fixed(m.centre[4], 0) : ''
            },
        ],
        group.metrics, 60, 'measurement');
}

function showGroup(g) {
    plottedGroup = g;
    const group = data.groups[g], given = group.metrics.filter((metric) => metric.baseline).length;
    const verdicts = Object.entries(group.verdicts)
                         .map(([verdict, count]) => fixed(count, 0) + ' ' + verdict.replace('_', ' '))
                         .join(', ');
    document.getElementById('measured-lead').textContent = plural(group.size, 'node') +
        (verdicts ? '; their reports: ' + verdicts : '') +
        (given ? '; centres of ' + plural(given, 'measurement') + ' come from the baseline' : '') +
        (group.metrics.length ? '.' : '; nothing was measured (a profile without experiments).') +
        (hasCharts ? '' : ' Built without Chart.js: the numbers stand in the table and are not drawn.');
    drawPlots(group);
    document.getElementById('measured-legend').hidden = !document.getElementById('plots').children.length;
    document.getElementById('measured-body')
        .replaceChildren(...group.metrics.length ? groupTable(group) : []);
    reachable();
}

function showMeasured() {
    if (!data.groups.length) return;
    document.getElementById('measured').hidden = false;
    const select = document.getElementById('measured-group'), weight = data.groups.map((group) => group.size);
    for (const g of data.outlier.group)
        if (g < weight.length) weight[g] += 1e6;  // first the group that has something to show
    data.groups.forEach(
        (group, g) => select.append(
            el('option', {value: g}, groupName(group) + ' (' + plural(group.size, 'node') + ')')));
    select.value = weight.indexOf(Math.max(...weight));
    select.addEventListener('change', () => showGroup(Number(select.value)));
    showGroup(Number(select.value));
    showOutliers();
}

function showOutliers() {
    const o = data.outlier, body = document.getElementById('outliers-body'), left = o.all - o.node.length;
    if (!o.all) return body.replaceChildren(el('p', {class: 'quiet'}, 'No GPU lies outside its group.'));
    const rows = o.node.map((_, i) => i);
    body.replaceChildren(...makeTable('GPUs that their peers do not share a value with', [
        {title: 'Node', head: true, class: 'named', key: (i) => data.node.name[o.node[i]], cell: (i) => el('button', {type: 'button', class: 'link', onclick: () => openNode(o.node[i])}, data.node.name[o.node[i]])},
        {title: 'GPU', class: 'slot', key: (i) => o.gpu[i], cell: (i) => o.against[i] === kAgainstNodes ? 'whole node' : gpuName(o.node[i], o.gpu[i]).slice(4)},
        {title: 'Measurement', key: (i) => names[o.metric[i]], cell: (i) => [metricWords(names[o.metric[i]]).name, el('span', {class: 'quiet'}, ' ' + metricWords(names[o.metric[i]]).unit)]},
        {title: 'Compared with', key: (i) => o.against[i], cell: (i) => ({[kAgainstNodes]: 'other nodes', [kAgainstOwnNode]: 'GPUs of its node'})[o.against[i]] || 'GPUs of its group'},
        {title: 'Value', class: 'number', key: (i) => o.value[i], cell: (i) => measured(names[o.metric[i]], o.value[i])},
        {title: 'Centre', class: 'number', key: (i) => o.centre[i], cell: (i) => measured(names[o.metric[i]], o.centre[i])},
        {title: 'Of the centre', class: 'number', key: (i) => o.ratio[i], cell: (i) => percent(o.ratio[i])},
        {title: 'Robust z', class: 'number', key: (i) => o.z[i], cell: (i) => o.z[i] === null ? '' : fixed(o.z[i], 1)},
        {title: 'Group', class: 'wide', key: (i) => o.group[i], cell: (i) => data.groups[o.group[i]] ? groupName(data.groups[o.group[i]]) : ''},
    ], rows, 20, 'outlier'));
    body.querySelector('caption').classList.add('unseen');  // the heading says it
    if (left > 0)
        body.append(el('p', {class: 'quiet'}, plural(left, 'further outlier') + ' not listed here.'));
}
