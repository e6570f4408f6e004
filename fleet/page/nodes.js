// The table of nodes: worst first, found by any word that stands in a report, opened by Enter.
'use strict';

const kRowsOnAPage = 100;
const kRowsOnPaper = 200;
const filter = {
    text: '',
    decision: '',
    group: ''
};
let laterHeat = 0;
let shownNodes = [];  // what the filter leaves, in the order on the screen

// Everything about a node that somebody may search for, lower case; made at the first search.
let haystacks = null;
function haystack(node) {
    const n = data.node, parts = [n.name[node], n.key[node], n.report_id[node]];
    for (const column of [n.provider, n.instance_type, n.region, n.zone, n.driver, n.kernel, n.os])
        parts.push(names[column[node]]);
    for (let i = 0; i + 1 < n.labels[node].length; i += 2)
        parts.push(names[n.labels[node][i]] + ' ' + names[n.labels[node][i + 1]]);
    for (let i = gpuStart[node]; i < gpuStart[node + 1]; i++)
        parts.push(data.gpu.identity[i], names[data.gpu.board[i]]);
    for (let i = reasonStart[node]; i < reasonStart[node + 1]; i++) parts.push(data.reason.text[i]);
    for (let i = problemStart[node]; i < problemStart[node + 1]; i++) parts.push(names[data.problem.code[i]]);
    return parts.join('\n').toLowerCase();
}

function matching() {
    const words = filter.text.toLowerCase().split(/\s+/).filter(Boolean);
    if (words.length && !haystacks) haystacks = Array.from({length: nodeCount}, (_, node) => haystack(node));
    const nodes = [];
    for (let node = 0; node < nodeCount; node++) {
        if (filter.decision !== '' && kDecisions[decisionOf(node)] !== filter.decision) continue;
        if (filter.group !== '' && !groupsOf[node].includes(Number(filter.group))) continue;
        if (words.every((word) => haystacks[node].includes(word))) nodes.push(node);
    }
    return nodes;
}

function reasonCell(node) {
    const first = reasonStart[node], all = data.reason.all[node];
    if (first === reasonStart[node + 1])
        return el(
            'span', {class: 'quiet'}, decisionOf(node) === 0 ? 'nothing against it' : 'no reason given');
    const gpu = gpuName(node, data.reason.gpu[first]);
    return el(
        'span', {}, data.reason.text[first],
        gpu && !data.reason.text[first].includes('GPU') ? el('span', {class: 'quiet'}, ' · ' + gpu) : null,
        all > 1 ? el('span', {class: 'more'}, ' and ' + plural(all - 1, 'more reason')) : null);
}
function gpuCell(node) {
    const expected = data.node.gpus_expected[node], found = data.node.gpus_found[node];
    const text = (found < 0 ? '?' : found) + (expected < 0 ? '' : ' of ' + expected);
    return found >= 0 && expected >= 0 && found < expected ? el('b', {class: 'v-fail'}, text) : text;
}
function worstCell(node) {
    const ratio = data.node.worst_ratio[node];
    if (!(ratio > 0)) return el('span', {class: 'quiet'}, 'not compared');
    return el(
        'span', {}, percent(ratio),
        el('span', {class: 'quiet'}, ' ' + metricWords(names[data.node.worst_metric[node]]).name));
}
const boardsOf = (node) => {
    const boards = new Set();
    for (let i = gpuStart[node]; i < gpuStart[node + 1]; i++) boards.add(names[data.gpu.board[i]]);
    return [...boards].filter(Boolean).join(', ');
};
const kindOf = (node) => names[data.node.instance_type[node]] || boardsOf(node);
const shortened = (text) => el('span', {class: 'ellipsis', title: text}, text);
function nodeCell(node) {
    const flags = Number(data.node.flags[node]);
    const note = [flags & 1 ? 'simulated' : '', flags & 2 ? 'fault injected' : ''].filter(Boolean).join(', ');
    return [
        el('span', {class: 'phone'}, decisionMark(decisionOf(node))),
        el('button', {type: 'button', class: 'link', 'data-node': node, onclick: () => openNode(node)},
           data.node.name[node]),
        sharedNames.has(data.node.name[node]) ? el('span', {class: 'quiet'}, ' ' + data.node.key[node]) :
                                                null,
        note ? el('span', {class: 'tag'}, note) : null
    ];
}

const nodeTable = new SortedTable(document.getElementById('node-table'), [
    {title: 'Decision', class: 'c-decision', key: (n) => kSeverity[decisionOf(n)], first: 'descending', cell: (n) => decisionMark(decisionOf(n))},
    {title: 'Node', class: 'c-node', head: true, key: (n) => data.node.name[n], cell: nodeCell},
    {title: 'Why', class: 'c-why', cell: reasonCell},
    {title: 'Evidence', class: 'number wide', key: (n) => data.node.evidence[n], first: 'descending', cell: (n) => amount(data.node.evidence[n])},
    {title: 'Worst against peers', class: 'c-worst mid', key: (n) => data.node.worst_ratio[n] || NaN, cell: worstCell},
    {title: 'GPUs', class: 'c-gpus mid', key: (n) => data.node.gpus_found[n] - Math.max(0, data.node.gpus_expected[n]), cell: gpuCell},
    {title: 'Report', class: 'mid', key: (n) => verdictOf(n), first: 'descending', cell: (n) => verdictMark(verdictOf(n))},
    {title: 'Kind', class: 'wide', key: kindOf, cell: (n) => shortened(kindOf(n))},
    {title: 'Driver', class: 'extra', key: (n) => names[data.node.driver[n]], cell: (n) => shortened(names[data.node.driver[n]])},
    {title: 'USD/h', class: 'number extra', key: (n) => data.node.usd_per_hour[n] || NaN, first: 'descending', cell: (n) => usd(data.node.usd_per_hour[n])},
    {title: 'Reported', class: 'c-time wide', key: (n) => data.node.created[n], first: 'descending', cell: (n) => when(data.node.created[n])},
], () => { showNodes(false); remember(); });

const nodePager = new Pager(
    document.getElementById('node-pager'), kRowsOnAPage,
    (first, last) => nodeTable.draw(shownNodes.slice(first, last)), 'node');

function showNodes(refiltered) {
    shownNodes = nodeTable.sorted(matching());
    nodePager.show(shownNodes.length, 0);
    document.getElementById('node-table').hidden = shownNodes.length === 0;
    const left = data.nodes_all - nodeCount;
    for (const id of ['filter', 'keys']) document.getElementById(id).hidden = nodeCount === 0;
    const out =
        [shownNodes.length === nodeCount ? 'All ' + plural(nodeCount, 'node') :
                                           plural(shownNodes.length, 'node') + ' of ' + fixed(nodeCount, 0)];
    if (left > 0)
        out.push(plural(left, 'node') + ' that rank after these are counted above and not listed here');
    if (nodeCount === 0)
        out.splice(0, 1, 'No report of a node was read');
    else if (shownNodes.length === 0)
        out.push('nothing matches; clear the filter to see all');
    document.getElementById('status').textContent = out.join('; ') + '.';
    for (const button of document.querySelectorAll('#counts button'))
        button.setAttribute('aria-pressed', String(button.dataset.decision === filter.decision));
    document.getElementById('by-decision').value = filter.decision;
    document.getElementById('by-group').value = filter.group;
    if (refiltered) remember();
    cancelAnimationFrame(laterHeat);  // the table first: it is what was asked for
    laterHeat = requestAnimationFrame(() => setTimeout(drawHeat));
}

// What is filtered and open stands in the address after '#': a link to a node is a link to that node.
function remember() {
    const state = new URLSearchParams();
    for (const [key, value] of [
             ['q', filter.text], ['decision', filter.decision], ['group', filter.group],
             ['sort', nodeTable.state()], ['node', openedKey]])
        if (value !== '') state.set(key, value);
    const text = state.toString();
    history.replaceState(null, '', text === '' ? location.pathname + location.search : '#' + text);
}
function recall() {
    const state = new URLSearchParams(location.hash.slice(1));
    filter.text = state.get('q') || '';
    filter.decision = kDecisions.includes(state.get('decision')) ? state.get('decision') : '';
    filter.group = data.groups[Number(state.get('group') || NaN)] ? state.get('group') : '';
    document.getElementById('search').value = filter.text;
    nodeTable.restore(state.get('sort') || '');
    return state.get('node') || '';
}

function wireFilter() {
    const search = document.getElementById('search'), decision = document.getElementById('by-decision'),
          group = document.getElementById('by-group');
    for (const index of [2, 1, 3, 0])
        decision.append(el('option', {value: kDecisions[index]}, kDecisionWords[index]));
    data.groups.forEach(
        (one, g) => group.append(el('option', {value: g}, groupName(one) + ' (' + one.size + ')')));
    group.closest('label').hidden = data.groups.length < 2;
    let waiting = 0;
    search.addEventListener('input', () => {
        clearTimeout(waiting);
        waiting = setTimeout(() => {
            filter.text = search.value;
            showNodes(true);
        }, 80);
    });
    decision.addEventListener('change', () => {
        filter.decision = decision.value;
        showNodes(true);
    });
    group.addEventListener('change', () => {
        filter.group = group.value;
        showNodes(true);
    });
    for (const button of document.querySelectorAll('#counts button')) {
        button.addEventListener('click', () => {
            filter.decision = filter.decision === button.dataset.decision ? '' : button.dataset.decision;
            showNodes(true);
        });
    }
    const clear = () => {
        Object.assign(filter, {text: '', decision: '', group: ''});
        search.value = '';
        showNodes(true);
    };
    document.getElementById('clear').addEventListener('click', () => {
        clear();
        search.focus();
    });
    document.getElementById('filter').addEventListener('submit', (event) => {
        event.preventDefault();
        document.querySelector('#node-table button.link')?.focus();
    });
}

function wireKeys() {
    document.addEventListener('keydown', (event) => {
        if (event.ctrlKey || event.altKey || event.metaKey || document.getElementById('node').open) return;
        const typing = event.target instanceof Element && event.target.closest('input, select, textarea');
        if (event.key === '/' && !typing) {
            event.preventDefault();
            document.getElementById('search').focus();
        } else if (
            (event.key === 'ArrowDown' || event.key === 'ArrowUp') && event.target instanceof Element &&
            (event.target.matches('#node-table button.link') || event.target.id === 'search')) {
            const links = [...document.querySelectorAll('#node-table button.link')];
            const next = links[links.indexOf(event.target) + (event.key === 'ArrowDown' ? 1 : -1)];
            if (next) {
                event.preventDefault();
                next.focus();
            }
        }
    });
}
