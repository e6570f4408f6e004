// One node, everything that is known of it: what to do next stands before what was measured.
'use strict';

const nodeDialog = document.getElementById('node');
let openedKey = '', opener = null;

function facts(node) {
    const n = data.node, rows = [];
    const add = (term, text) => {
        if (text) rows.push(el('div', {}, el('dt', {}, term), el('dd', {}, text)));
    };
    add('Kind', [names[n.provider[node]], names[n.instance_type[node]]].filter(Boolean).join(' '));
    add('Boards', boardsOf(node));
    add('Place', names[n.zone[node]] || names[n.region[node]]);
    add('Driver', names[n.driver[node]]);
    add('System', [names[n.os[node]], names[n.kernel[node]]].filter(Boolean).join(', '));
    add('Profile', [
        names[n.profile[node]], names[n.tool[node]] && 'gpucheck ' + names[n.tool[node]]
    ].filter(Boolean).join(', '));
    for (let i = 0; i + 1 < n.labels[node].length; i += 2)
        add(names[n.labels[node][i]], names[n.labels[node][i + 1]]);
    add('Price', usd(n.usd_per_hour[node]) && usd(n.usd_per_hour[node]) + ' USD an hour');
    add('Reported', when(n.created[node]));
    add('Report', n.report_id[node]);
    add('Read from', n.where[node]);
    add('Known as', n.key[node] === n.name[node] ? '' : n.key[node]);
    add('Signature', Number(n.flags[node]) & 4 ? 'checked' : 'not checked');
    return el('dl', {class: 'node-facts'}, rows);
}

function reasonList(node) {
    const items = [];
    for (let i = reasonStart[node]; i < reasonStart[node + 1]; i++) {
        const gpu = gpuName(node, data.reason.gpu[i]);
        items.push(
            el('li', {}, decisionMark(Number(data.reason.decision[i])),
               el('span', {class: 'said'}, data.reason.text[i]),
               el('span', {class: 'quiet'},
                  [gpu, 'rule ' + names[data.reason.rule[i]]].filter(Boolean).join(' · '))));
    }
    const left = data.reason.all[node] - data.reason.count[node];
    if (left > 0) items.push(el('li', {class: 'quiet'}, 'and ' + plural(left, 'lesser reason')));
    return items.length ? el('ul', {class: 'reasons'}, items) : null;
}

// One code on several GPUs is one row: the remedy is the same.
function findings(node) {
    const rows = new Map();
    for (let i = problemStart[node]; i < problemStart[node + 1]; i++) {
        const key = [
            data.problem.code[i], data.problem.verdict[i], data.problem.action[i], data.problem.scope[i]
        ].join();
        if (!rows.has(key)) rows.set(key, {i, subjects: []});
        rows.get(key).subjects.push(gpuName(node, data.problem.gpu[i]) || names[data.problem.subject[i]]);
    }
    if (!rows.size) return null;
    const body = [...rows.values()].map(({i, subjects}) => {
        const code = names[data.problem.code[i]], [title, cause, remedy] = codes.get(code) || ['', '', ''];
        const action = names[data.problem.action[i]], scope = names[data.problem.scope[i]];
        return el(
            'tr', {}, el('td', {}, verdictMark(Number(data.problem.verdict[i]))),
            el('th', {scope: 'row'}, el('code', {}, code), title ? el('div', {}, title) : null),
            el('td', {class: 'where'}, subjects.slice(0, 8).map((subject) => el('div', {}, subject)),
               subjects.length > 8 ? 'and ' + (subjects.length - 8) + ' more' : null),
            el('td', {}, el('b', {}, actions.get(action) || action),
               action ? el('div', {class: 'quiet'}, el('code', {}, action),
                           scope ? ' · ' + (scopes.get(scope) || scope) : '') :
                        null),
            el('td', {class: 'remedy'},
               remedy ? withCode(remedy) : el('span', {class: 'quiet'}, 'gpucheck explain ' + code),
               cause ? el('details', {}, el('summary', {}, 'Cause'), withCode(cause)) : null));
    });
    return el(
        'div', {class: 'scroll'},
        el('table', {}, el('caption', {}, 'Findings of the report'),
           headRow('Verdict', 'Code', 'Where', 'Next step', 'Remedy'), el('tbody', {}, body)));
}

const headRow = (...titles) =>
    el('thead', {}, el('tr', {}, titles.map((title) => el('th', {scope: 'col'}, title))));

// The summary of a metric in the node's group; what a GPU is compared with.
function centreOf(node, metric, board) {
    for (const g of groupsOf[node]) {
        const summary =
            data.groups[g].board === board && data.groups[g].metrics.find((one) => one.name === metric);
        if (summary) return summary;
    }
    return null;
}

function measurements(node) {
    const first = gpuStart[node], last = gpuStart[node + 1];
    const marked = new Set();
    data.outlier.node.forEach((n, i) => {
        const whole = data.outlier.against[i] === kAgainstNodes;
        if (n === node)
            marked.add((whole ? 'all' : data.outlier.gpu[i]) + ' ' + names[data.outlier.metric[i]]);
    });
    const metrics =
        Object.keys(data.gpu.values)
            .filter(
                (metric) => metricColumn(metric).subarray(first, last).some((value) => !Number.isNaN(value)));
    if (!metrics.length) return null;
    const body = [];
    for (const metric of metrics) {
        const column = metricColumn(metric), {name, unit} = metricWords(metric);
        const summary = centreOf(node, metric, names[data.gpu.board[first]]);
        const cells = [];
        for (let i = first; i < last; i++) {
            const value = column[i], one = centreOf(node, metric, names[data.gpu.board[i]]);
            const ratio = one?.centre ? value / one.centre[0] : NaN,
                  out = marked.has(i - first + ' ' + metric);
            cells.push(
                el('td', {class: 'number' + (out ? ' out' : '')},
                   Number.isNaN(value) ? el('span', {class: 'quiet'}, 'none') : measured(metric, value),
                   out ? el('span', {class: 'glyph', role: 'img', 'aria-label': 'outlier'}, ' ▼') : null,
                   one?.judged && ratio > 0 ? el('div', {class: 'quiet'}, percent(ratio)) : null));
        }
        body.push(el(
            'tr', {},
            el('th', {scope: 'row'}, name, unit ? el('span', {class: 'quiet'}, ' ' + unit) : null,
               marked.has('all ' + metric) ? el('div', {class: 'outs'}, '◆ whole node') : null),
            el('td', {class: 'number'},
               summary?.centre ? measured(metric, summary.centre[0]) : el('span', {class: 'quiet'}, 'none')),
            el('td', {class: 'number'},
               summary?.centre && summary.judged ? measured(metric, summary.centre[2]) : ''),
            cells));
    }
    const heads = [];
    for (let i = first; i < last; i++) {
        heads.push(
            el('th', {scope: 'col', class: 'number'}, 'GPU ' + (i - first),
               el('div', {class: 'quiet'}, names[data.gpu.bdf[i]])));
    }
    return el(
        'div', {class: 'scroll'},
        el('table', {class: 'measured'},
           el('caption', {},
              'Measurements against the group (▼ outlier, ◆ its median among other nodes; per cent of the centre)'),
           el('thead', {},
              el('tr', {}, el('th', {scope: 'col'}, 'Measurement'),
                 el('th', {scope: 'col', class: 'number'}, 'Centre'),
                 el('th', {scope: 'col', class: 'number'}, 'Bar'), heads)),
           el('tbody', {}, body)));
}

function identities(node) {
    const body = [];
    for (let i = gpuStart[node]; i < gpuStart[node + 1]; i++) {
        body.push(
            el('tr', {}, el('th', {scope: 'row'}, 'GPU ' + (i - gpuStart[node])),
               el('td', {}, el('code', {}, names[data.gpu.bdf[i]])),
               el('td', {}, names[data.gpu.board[i]] || 'unknown'),
               el('td', {}, el('code', {}, data.gpu.identity[i] || 'none')),
               el('td', {}, names[data.gpu.firmware[i]]),
               el('td', {}, verdictMark(Number(data.gpu.verdict[i])))));
    }
    return body.length ? el('div', {class: 'scroll'},
                            el('table', {}, el('caption', {}, 'GPUs'),
                               headRow('GPU', 'Slot', 'Board', 'Serial or UUID', 'Firmware', 'Verdict'),
                               el('tbody', {}, body))) :
                         null;
}

function checkList(node) {
    const by = new Map();
    [...data.check_rows[node] || ''].forEach((cell, i) => {
        if (cell !== '.') by.set(Number(cell), [...by.get(Number(cell)) || [], data.checks[i]]);
    });
    const rows = [4, 3, 2, 1, 0]
                     .filter((verdict) => by.has(verdict))
                     .map(
                         (verdict) =>
                             el('div', {}, el('dt', {}, verdictMark(verdict), ' ' + by.get(verdict).length),
                                el('dd', {}, by.get(verdict).join(', '))));
    return rows.length ? [el('h3', {}, 'Checks'), el('dl', {class: 'check-list'}, rows)] : null;
}

function costs(node) {
    const rows =
        data.costs
            .map(
                (row,
                 c) => [row, numbers(row.tokens, 'tokens ' + c)[node], numbers(row.usd, 'usd ' + c)[node]])
            .filter(([, tokens]) => tokens > 0);
    return rows.length ?
        el('div', {class: 'scroll'},
           el('table', {}, el('caption', {}, 'What a token costs here'),
              headRow('Model', 'Precision', 'Concurrency', 'Tokens/s', 'USD per million output tokens'),
              el('tbody', {},
                 rows.map(
                     ([row, tokens, price]) =>
                         el('tr', {}, el('th', {scope: 'row'}, row.model), el('td', {}, row.precision),
                            el('td', {class: 'number'}, whole(row.concurrency)),
                            el('td', {class: 'number'}, amount(tokens)),
                            el('td', {class: 'number'},
                               usd(price) || el('span', {class: 'quiet'}, 'no price'))))))) :
        null;
}

function history_(node) {
    const body = [];
    for (let i = earlierStart[node]; i < earlierStart[node + 1]; i++) {
        body.push(
            el('tr', {}, el('th', {scope: 'row'}, when(data.earlier.created[i])),
               el('td', {}, verdictMark(Number(data.earlier.verdict[i]))),
               el('td', {}, names[data.earlier.profile[i]]), el('td', {}, names[data.earlier.driver[i]]),
               el('td', {}, data.earlier.codes[i].map((code) => names[code]).join(', ') || 'none')));
    }
    const left = data.earlier.all[node] - data.earlier.count[node];
    if (!body.length) return null;
    return [
        el('div', {class: 'scroll'},
           el('table', {}, el('caption', {}, 'Earlier reports, newest first'),
              headRow('Reported', 'Verdict', 'Profile', 'Driver', 'Codes'), el('tbody', {}, body))),
        left > 0 ? el('p', {class: 'quiet'}, 'and ' + plural(left, 'older report')) : null
    ];
}

function openNode(node) {
    if (!nodeDialog.open) opener = document.activeElement;
    openedKey = data.node.key[node];
    const at = shownNodes.indexOf(node);
    const go = (text, label, to) => el(
        'button',
        {type: 'button', 'aria-label': label, disabled: to === undefined, onclick: () => openNode(to)}, text);
    nodeDialog.replaceChildren(
        el('header', {class: kDecisions[decisionOf(node)]},
           el('div', {class: 'head'}, el('h2', {id: 'node-title', tabindex: -1}, data.node.name[node]),
              el('p', {}, decisionMark(decisionOf(node)), ' ', el('span', {class: 'quiet'}, 'report '),
                 verdictMark(verdictOf(node)))),
           el('div', {class: 'walk'}, go('‹', 'Previous node', at > 0 ? shownNodes[at - 1] : undefined),
              go('›', 'Next node', at >= 0 ? shownNodes[at + 1] : undefined),
              el('button', {type: 'button', 'aria-label': 'Close', onclick: () => nodeDialog.close()}, '✕'))),
        el('div', {class: 'body'}, [
            reasonList(node), facts(node), findings(node), measurements(node), identities(node),
            checkList(node), costs(node), history_(node)
        ].flat().filter(Boolean)));
    if (!nodeDialog.open) nodeDialog.showModal();
    nodeDialog.scrollTop = 0;
    document.getElementById('node-title').focus();
    remember();
    reachable();
}

function wireDialog() {
    nodeDialog.addEventListener('close', () => {
        openedKey = '';
        remember();
        nodeDialog.replaceChildren();
        if (opener?.isConnected) opener.focus();
    });
    nodeDialog.addEventListener('click', (event) => {
        if (event.target === nodeDialog) nodeDialog.close();
    });
    nodeDialog.addEventListener('keydown', (event) => {
        const step = {ArrowLeft: 'Previous node', ArrowRight: 'Next node'}[event.key];
        if (step && !event.target.closest('.scroll'))
            nodeDialog.querySelector('button[aria-label="' + step + '"]:enabled')?.click();
    });
}
