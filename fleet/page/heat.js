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
    heatOrder.sort((a, b) => b.counts[4] - a.counts[4] || b.counts[3] - a.counts[3] || b.counts[2] - a.counts[2] || a.i - b.i);
    const all = document.getElementById('checks-all');
    all.addEventListener('change', drawHeat);
    if (heatColumns(false).length === 0) { all.checked = true; all.closest('.tools').hidden = true; }
    else if (heatColumns(false).length === heatOrder.length) all.closest('.tools').hidden = true;
    drawHeat();
}

const heatColumns = (all) => heatOrder.filter(({counts}) => all || counts[2] + counts[3] + counts[4] > 0);

function drawHeat() {
    if (!data.checks.length) return;
    const columns = heatColumns(document.getElementById('checks-all').checked), left = data.checks_left_out;
    document.getElementById('checks-lead').textContent = plural(data.checks.length, 'check') + ', ' + fixed(heatColumns(false).length, 0) +
        ' of them not passed somewhere; most failed first. Rows are the nodes of the table above, as it is filtered and sorted. ' +
        '✕ fail, ? unknown, ! warn, · pass, – not applicable, blank: did not run.' + (left ? ' ' + plural(left, 'rarer check') + ' not shown.' : '');
    const head = el('tr', {}, el('th', {scope: 'col', class: 'corner'}, 'Node'), columns.map(({check}) => el('th', {scope: 'col', class: 'tilt'}, el('span', {}, check))));
    const totals = [4, 3, 2].map((verdict) => el('tr', {class: 'totals'}, el('th', {scope: 'row'}, 'Nodes: ' + kVerdictWords[verdict]),
        columns.map(({counts}) => el('td', {class: counts[verdict] ? 'v-' + kVerdicts[verdict] : 'quiet'}, counts[verdict] || ''))));
    document.getElementById('heat-body').replaceChildren(el('div', {class: 'scroll heat-box'}, el('table', {class: 'heat', id: 'heat'},
        el('caption', {class: 'unseen'}, 'Verdict of each check on each node'), el('thead', {}, head, totals), el('tbody'))));
    heatPager.show(shownNodes.length, 0);
    reachable();
}

function drawHeatRows(first, last) {
    const columns = heatColumns(document.getElementById('checks-all').checked);
    document.querySelector('#heat tbody')?.replaceChildren(...shownNodes.slice(first, last).map((node) => el('tr', {},
        el('th', {scope: 'row'}, el('button', {type: 'button', class: 'link', onclick: () => openNode(node)}, data.node.name[node])),
        columns.map(({check, i}) => {
            const cell = data.check_rows[node][i];
            if (cell === undefined || cell === '.') return el('td', {title: check + ': did not run'});
            return el('td', {class: 'h-' + kVerdicts[Number(cell)], title: check + ': ' + kVerdictWords[Number(cell)]},
                      el('span', {'aria-hidden': 'true'}, kVerdictMarks[Number(cell)]), el('span', {class: 'unseen'}, kVerdictWords[Number(cell)]));
        }))));
}
