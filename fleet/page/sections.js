// What the bad nodes share, and what nobody could judge: a decision is only as good as what it left out.
'use strict';

const nodeLink = (name) => nodeOf.has(name) ?
    el('button', {type: 'button', class: 'link', onclick: () => openNode(nodeOf.get(name))}, name) :
    name;
const show = (id, ...content) => {
    document.getElementById(id + '-body').replaceChildren(...content.flat(Infinity).filter(Boolean));
    document.getElementById(id).hidden = false;
};

function showShares() {
    const counts = Object.fromEntries([...document.querySelectorAll('#counts button')].map(
        (button) =>
            [button.dataset.decision, Number(button.querySelector('b').textContent.replaceAll(',', ''))]));
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
    const search = (value) => {
        filter.text = value;
        document.getElementById('search').value = value;
        showNodes(true);
        document.getElementById('nodes').scrollIntoView();
        document.getElementById('search').focus();
    };
    const share = (a, b) => b ? fixed(a, 0) + ' of ' + fixed(b, 0) : '0';
    show(
        'shared',
        makeTable(
            'Properties in common, strongest first',
            [
                {title: 'Property', head: true, key: (r) => r[0], cell: (r) => r[0]},
                {
                    title: 'Value',
                    key: (r) => r[1],
                    cell: (r) =>
                        el('button', {
                            type: 'button',
                            class: 'link',
                            title: 'Search the nodes for it',
                            onclick: () => search(r[1])
                        },
                           r[1])
                },
                {
                    title: 'Problem',
                    key: (r) => r[2],
                    cell: (r) =>
                        [el('code', {}, r[2]),
                         codes.has(r[2]) ? el('div', {class: 'quiet'}, codes.get(r[2])[0]) : null]
                },
                {
                    title: 'Bad with it',
                    class: 'number',
                    key: (r) => r[3] / (r[4] || 1),
                    first: 'descending',
                    cell: (r) => share(r[3], r[4])
                },
                {
                    title: 'Bad without it',
                    class: 'number',
                    key: (r) => (r[5] - r[3]) / (r[6] - r[4] || 1),
                    cell: (r) => share(r[5] - r[3], r[6] - r[4])
                },
                {title: 'By chance', class: 'number', key: (r) => r[7], cell: (r) => chance(r[7])},
            ],
            data.commons, 20, 'property'),
        left > 0 ? el('p', {class: 'quiet'}, plural(left, 'weaker one') + ' not listed here.') : null);
}

function showOffenders() {
    if (!data.offenders.length) return;
    const left = data.offenders_all - data.offenders.length;
    const times = (row) =>
        Array.from({length: (row.length - 2) / 3}, (_, i) => row.slice(2 + 3 * i, 5 + 3 * i));
    show('offenders', makeTable('GPUs by how often they were bad', [
        {title: 'GPU', head: true, key: (r) => r[0], cell: (r) => el('code', {}, r[0])},
        {title: 'Times', class: 'number', key: (r) => r[1], first: 'descending', cell: (r) => fixed(r[1], 0)},
        {title: 'Last', class: 'c-time', key: (r) => r[r.length - 3], first: 'descending', cell: (r) => when(r[r.length - 3])},
        {title: 'When, where, what', cell: (r) => el('ul', {class: 'plain'}, times(r).map(([created, node, problem]) => el('li', {}, el('span', {class: 'quiet'}, when(created) + ' '), nodeLink(node), ' ', el('code', {}, problem))))},
    ], data.offenders.filter((row) => row.length >= 5), 10, 'GPU'), left > 0 ? el('p', {class: 'quiet'}, plural(left, 'further GPU') + ' not listed here.') : null);
}

function showUnjudged() {
    const parts = [];
    const counted = (text, test) => {
        const nodes = [];
        for (let node = 0; node < nodeCount; node++)
            if (test(node)) nodes.push(node);
        return nodes.length ?
            el('li', {}, plural(nodes.length, 'node') + ' ' + text + ': ',
               nodes.slice(0, 12).map((node, i) => [i ? ', ' : '', nodeLink(data.node.name[node])]).flat(),
               nodes.length > 12 ? ' and ' + fixed(nodes.length - 12, 0) + ' more' : '') :
            null;
    };
    const notes = [
        ...data.notes.map((note) => el('li', {}, note)),
        counted('without enough evidence', (node) => decisionOf(node) === 3),
        counted(
            'simulated or with an injected fault, shown and not counted',
            (node) => Number(data.node.flags[node]) & 3),
        counted(
            'whose group is too small, or without measurements, so that nothing could be compared',
            (node) => !(data.node.worst_ratio[node] > 0)),
        !data.costs.length && !data.node.usd_per_hour.some((price) => price > 0) ?
            el('li', {}, 'No report knows a price or what a token costs, so there is no cost section.') :
            null,
        data.gpu.metrics_left_out ?
            el('li', {}, plural(data.gpu.metrics_left_out, 'rarer measurement') + ' not shown.') :
            null,
    ].filter(Boolean);
    if (notes.length) parts.push(el('ul', {class: 'notes'}, notes));
    const rows = [];
    for (let i = 0; i + 1 < data.rejected.length; i += 2) rows.push([data.rejected[i], data.rejected[i + 1]]);
    if (rows.length) {
        parts.push(makeTable(
            'Inputs that are no report',
            [
                {title: 'Input', head: true, key: (r) => r[0], cell: (r) => el('code', {}, r[0])},
                {title: 'Why', key: (r) => r[1], cell: (r) => r[1]}
            ],
            rows, 25, 'input'));
        if (data.rejected_all > rows.length)
            parts.push(
                el('p', {class: 'quiet'},
                   plural(data.rejected_all - rows.length, 'further input') + ' not listed here.'));
    }
    if (parts.length) show('unjudged', parts);
}
