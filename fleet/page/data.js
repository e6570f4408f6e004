// What the page was made from: columns, offsets into them, and the few functions that put text on the screen.
// Every string came from a machine: it is set as text and never as markup.
'use strict';

const data = JSON.parse(document.getElementById('data').textContent);
const names = data.names;
const nodeCount = data.node.name.length;

// The words of the model, in the order of its numbers (checks/model/verdict.h, fleet/model/analysis.h).
const kVerdicts = ['not_applicable', 'pass', 'warn', 'unknown', 'fail'];
const kVerdictWords = ['n/a', 'pass', 'warn', 'unknown', 'fail'];
const kVerdictMarks = ['–', '·', '!', '?', '✕'];
const kDecisions = ['accept', 'quarantine', 'reject', 'no_evidence'];
const kDecisionWords = ['Accept', 'Quarantine', 'Reject', 'No evidence'];
const kDecisionMarks = ['✓', '‖', '✕', '?'];
const kAgainstNodes = '1', kAgainstOwnNode = '2';  // enum class Against; else the group's GPUs
const kSeverity = [0, 2, 3, 1];                    // of a decision, for sorting

function offsets(counts) {
    const starts = new Uint32Array(counts.length + 1);
    for (let i = 0; i < counts.length; i++) starts[i + 1] = starts[i] + counts[i];
    return starts;
}
const gpuStart = offsets(data.node.gpus);
const reasonStart = offsets(data.reason.count);
const problemStart = offsets(data.problem.count);
const earlierStart = offsets(data.earlier.count);

// Several nodes may call themselves "localhost": the key tells them apart, and a name alone means the worst
// of them.
const nodeOfKey = new Map(data.node.key.map((key, i) => [key, i]).reverse());
const nodeOf = new Map(data.node.name.map((name, i) => [name, i]).reverse());
const sharedNames = new Set(data.node.name.filter((name, i) => nodeOf.get(name) !== i));
// Maps, because a report may name a code "constructor".
const codes = new Map(Object.entries(data.codes));
const actions = new Map(Object.entries(data.actions));
const scopes = new Map(Object.entries(data.scopes));
const groupsOf = Array.from({length: nodeCount}, () => []);
data.groups.forEach((group, g) => group.nodes.forEach((node) => groupsOf[node].push(g)));

const decisionOf = (node) => Number(data.node.decision[node]);
const verdictOf = (node) => Number(data.node.verdict[node]);

// "712,,698" -> Float64Array with NaN where nothing was measured; taken apart at the first look.
const columns = new Map();
function numbers(text, key) {
    if (!columns.has(key))
        columns.set(key, Float64Array.from(text.split(','), (part) => part === '' ? NaN : Number(part)));
    return columns.get(key);
}
const metricColumn = (metric) => numbers(data.gpu.values[metric], 'metric ' + metric);

// el('td', {class: 'x', onclick: f}, 'text', child): attributes, listeners and text, never markup.
function el(tag, attributes, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {})) {
        if (value === null || value === undefined || value === false) continue;
        if (name.startsWith('on'))
            element.addEventListener(name.slice(2), value);
        else
            element.setAttribute(name, value === true ? '' : String(value));
    }
    for (const child of children.flat()) {
        if (child !== null && child !== undefined && child !== false) element.append(child);
    }
    return element;
}

// Units stand in the names of the metrics (docs/report.schema.json).
const kUnits = [
    ['_gb_s', 'GB/s'], ['_tflops', 'TFLOPS'], ['_tops', 'TOPS'], ['_us', 'µs'], ['_ms', 'ms'],
    ['_bytes', 'GB'], ['_gib', 'GiB'], ['_mhz', 'MHz'], ['_mw', 'mW'], ['_w', 'W'], ['_c', '°C']
];
function metricWords(metric) {
    const unit = kUnits.find(([end]) => metric.endsWith(end));
    const name = unit ? metric.slice(0, -unit[0].length) : metric;
    return {
        name: name.replaceAll('_', ' '),
        unit: unit ? unit[1] : '',
        scale: unit && unit[0] === '_bytes' ? 1e-9 : 1
    };
}

const formats = new Map();
function fixed(value, digits) {
    if (!formats.has(digits))
        formats.set(
            digits,
            new Intl.NumberFormat('en', {minimumFractionDigits: digits, maximumFractionDigits: digits}));
    return formats.get(digits).format(value);
}
// About four digits, so that numbers of a column can be compared at a glance.
function amount(value) {
    if (!Number.isFinite(value)) return '';
    const size = Math.abs(value);
    return fixed(value, size >= 1000 || size === 0 ? 0 : size >= 100 ? 1 : size >= 1 ? 2 : 3);
}
const measured = (metric, value) => value === null ? '' : amount(value * metricWords(metric).scale);
const whole = (value) => fixed(value, Number.isInteger(value) ? 0 : 1);
const percent = (ratio) => Number.isFinite(ratio) && ratio > 0 ? fixed(ratio * 100, 1) + ' %' : '';
const usd = (value) => value > 0 ? fixed(value, value >= 100 ? 0 : value >= 0.1 ? 2 : 4) : '';
const plural = (count, noun) => fixed(count, 0) + ' ' + noun + (count === 1 ? '' : 's');
const when = (time) => time.replace(/^(\d{4}-\d\d-\d\d)T(\d\d:\d\d).*/, '$1 $2');
const chance = (p) => p >= 0.001 ? fixed(p, 3) : p > 0 ? p.toExponential(0) : '0';

function quantile(sorted, share) {
    const at = (sorted.length - 1) * share, low = Math.floor(at);
    return low + 1 < sorted.length ? sorted[low] + (at - low) * (sorted[low + 1] - sorted[low]) : sorted[low];
}

function decisionMark(decision) {
    return el(
        'span', {class: 'mark ' + kDecisions[decision]},
        el('span', {class: 'glyph', 'aria-hidden': 'true'}, kDecisionMarks[decision]),
        ' ' + kDecisionWords[decision]);
}
function verdictMark(verdict) {
    return el(
        'span', {class: 'verdict v-' + kVerdicts[verdict]},
        el('span', {class: 'glyph', 'aria-hidden': 'true'}, kVerdictMarks[verdict]),
        ' ' + kVerdictWords[verdict]);
}

// `commands` of the catalogue's sentences as code.
const withCode = (text) => text.split('`').map((part, i) => i % 2 ? el('code', {}, part) : part);

const groupName =
    (group) => [group.board || 'unknown board', group.instance_type, group.driver, group.profile]
                   .filter(Boolean)
                   .join(' · ');
function gpuName(node, gpu) {
    const at = gpuStart[node] + gpu;
    return gpu >= 0 && at < gpuStart[node + 1] ? 'GPU ' + gpu + ' ' + names[data.gpu.bdf[at]] : '';
}
