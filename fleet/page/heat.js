// Nodes by checks: a column of one colour is a common cause, a row of many is a bad node. A table, so that it
// can be read without colours and without eyes.
'use strict';

const kHeatRows = 40;
const heatOrder = [];  // columns: the checks that most nodes fail first
const heatPager = new Pager(document.getElementById('heat-pager'), kHeatRows, drawHeatRows, 'node');

function countChecks() {
    const counts = data.checks.map(() => [0, 0, 0, 0, 0]);
    for (const row of data.check_rows) {
        for (let i = 0; i < row.length; i++) {
            if (row[i] !== '.') counts[i][Number(row[i])]++;
        }
    }
    return counts;
}

function showHeat() {
    if (!data.checks.length) return;
    document.getElementById('checks').hidden = false;
    const counts = countChecks();
    heatOrder.push(...data.checks.map((check, i) => ({check, i, counts: counts[i]})));
    heatOrder.sort(
        (a, b) =>
            b.counts[4] - a.counts[4] || b.counts[3] - a.counts[3] || b.counts[2] - a.counts[2] || a.i - b.i);
    const all = document.getElementById('checks-all');
    all.addEventListener('change', drawHeat);
    if (heatColumns(false).length === 0) {
        all.checked = true;
        all.closest('.tools').hidden = true;
    } else if (heatColumns(false).length === heatOrder.length)
        all.closest('.tools').hidden = true;
    drawHeat();
}

const heatColumns = (all) => heatOrder.filter(({counts}) => all || counts[2] + counts[3] + counts[4] > 0);

function drawHeat() {
    if (!heatOrder.length) return;  // not put up yet
    const columns = heatColumns(document.getElementById('checks-all').checked), left = data.checks_left_out;
    document.getElementById('checks-lead').textContent = plural(data.checks.length, 'check') + ', ' +
        fixed(heatColumns(false).length, 0) +
        ' of them not passed somewhere; most failed first. Rows are the nodes of the table above, as it is filtered and sorted. ' +
        '✕ fail, ? unknown, ! warn, · pass, – not applicable, blank: did not run.' +
        (left ? ' ' + plural(left, 'rarer check') + ' not shown.' : '');
    const head =
        el('tr', {}, el('th', {scope: 'col', class: 'corner'}, 'Node'),
           columns.map(({check}) => el('th', {scope: 'col', class: 'tilt'}, el('span', {}, check))));
    const totals =
        [4, 3, 2]
            .filter((verdict) => columns.some(({counts}) => counts[verdict]))
            .map(
                (verdict) =>
                    el('tr', {class: 'totals'}, el('th', {scope: 'row'}, 'Nodes: ' + kVerdictWords[verdict]),
                       columns.map(
                           ({counts}) =>
                               el('td', {class: counts[verdict] ? 'v-' + kVerdicts[verdict] : 'quiet'},
                                  counts[verdict] || ''))));
    document.getElementById('heat-body')
        .replaceChildren(
            overview(columns),
            el('div', {class: 'scroll heat-box'},
               el('table', {class: 'heat', id: 'heat'},
                  el('caption', {class: 'unseen'}, 'Verdict of each check on each node'),
                  el('thead', {}, head, totals), el('tbody'))));
    // Room for the longest slanted name and no more.
    const longest = Math.max(...columns.map(({check}) => check.length));
    document.getElementById('heat').style.setProperty('--tilt', Math.min(12, 1.4 + longest * 0.4) + 'rem');
    heatPager.show(shownNodes.length, 0);
    drawOverview();
    reachable();
}

// All nodes of the table at once, a column for a few of them: sorted by name, a bad rack shows as a block.
const kBarHeight = 14;
function overview(columns) {
    const rows = columns.filter(({counts}) => counts[2] + counts[3] + counts[4] > 0).slice(0, 16);
    if (shownNodes.length <= kHeatRows || !rows.length) return '';
    const canvas = el('canvas', {
        role: 'img',
        'aria-label': 'Where among ' + plural(shownNodes.length, 'node') +
            ' in the order of the table each check did not pass; the rows of totals and the table below have the numbers'
    });
    canvas.rows = rows;
    return el(
        'figure', {class: 'overview', id: 'overview'},
        el('figcaption', {}, el('b', {}, 'All ' + plural(shownNodes.length, 'node')),
           el('span', {class: 'quiet'},
              ' from left to right in the order of the table (sort it by name and a bad rack is a block)')),
        el('div', {class: 'strip'},
           el('div', {class: 'bar-names', 'aria-hidden': 'true'},
              rows.map(({check}) => el('span', {}, check))),
           el('div', {class: 'bar-canvas'}, canvas)));
}

function drawOverview() {
    const canvas = document.querySelector('#overview canvas');
    if (!canvas) return;
    const width = canvas.parentElement.clientWidth, scale = devicePixelRatio || 1, rows = canvas.rows;
    canvas.width = width * scale;
    canvas.height = rows.length * kBarHeight * scale;
    canvas.style.height = rows.length * kBarHeight + 'px';
    const context = canvas.getContext('2d'),
          fills = {2: colour('quarantine'), 3: colour('no_evidence'), 4: colour('reject')};
    // Fail is the full height, unknown and warn are lower: the colour is not the only sign.
    const heights = {2: 0.4, 3: 0.65, 4: 1}, step = canvas.width / shownNodes.length,
          high = kBarHeight * scale;
    rows.forEach(({i}, row) => {
        context.fillStyle = colour('soft');
        context.fillRect(0, row * high, canvas.width, high - 2 * scale);
        for (const verdict of [2, 3, 4]) {  // the worst is drawn over the others
            context.fillStyle = fills[verdict];
            shownNodes.forEach((node, at) => {
                if (data.check_rows[node][i] !== String(verdict)) return;
                const tall = (high - 2 * scale) * heights[verdict];
                context.fillRect(
                    Math.floor(at * step), (row + 1) * high - 2 * scale - tall,
                    Math.max(scale, Math.ceil(step)), tall);
            });
        }
    });
}

function drawHeatRows(first, last) {
    const columns = heatColumns(document.getElementById('checks-all').checked);
    document.querySelector('#heat tbody')
        ?.replaceChildren(
            ...shownNodes.slice(first, last)
                .map(
                    (node) =>
                        el('tr', {},
                           el('th', {scope: 'row', title: data.node.name[node]},
                              el('button', {type: 'button', class: 'link', onclick: () => openNode(node)},
                                 data.node.name[node])),
                           columns.map(({check, i}) => {
                               const cell = data.check_rows[node][i];
                               if (cell === undefined || cell === '.')
                                   return el('td', {title: check + ': did not run'});
                               return el(
                                   'td', {
                                       class: 'h-' + kVerdicts[Number(cell)],
                                       title: check + ': ' + kVerdictWords[Number(cell)]
                                   },
                                   el('span', {'aria-hidden': 'true'}, kVerdictMarks[Number(cell)]),
                                   el('span', {class: 'unseen'}, kVerdictWords[Number(cell)]));
                           }))));
}
