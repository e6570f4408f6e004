// Puts the sections up in the order of their weight: the nodes at once, the rest when the browser has drawn
// those.
'use strict';

function showSections() {
    const list = document.getElementById('sections');
    list.replaceChildren(...[...document.querySelectorAll('main > section:not([hidden])')].map(
        (section) => el('li', {}, el('a', {href: '#' + section.id}, section.dataset.name))));
}

function openRemembered(name) {
    const node = nodeOfKey.get(name) ?? nodeOf.get(name);
    if (node !== undefined) openNode(node);
}

// Paper takes no clicks: the rows that a reader would page to are printed, up to a limit that is said.
function wirePrint() {
    let before = null;
    addEventListener('beforeprint', () => {
        before = [nodePager.page, nodePager.size, heatPager.size];
        nodePager.size = kRowsOnPaper;
        nodePager.show(shownNodes.length, 0);
        document.documentElement.classList.add('paper');
        if (hasCharts) {
            for (const figure of document.querySelectorAll('#plots figure'))
                if (!charts.has(figure)) plot(figure, figure.metric);
            redrawCharts();
        }
        drawOverview();
        if (shownNodes.length > kRowsOnPaper)
            document.getElementById('status').append(
                el('span', {class: 'on-paper'},
                   ' Printed: the first ' + kRowsOnPaper + '; filter to print others.'));
    });
    addEventListener('afterprint', () => {
        document.documentElement.classList.remove('paper');
        document.querySelector('#status .on-paper')?.remove();
        if (before) nodePager.size = before[1];
        nodePager.show(shownNodes.length, before ? before[0] : 0);
        redrawCharts();
        drawOverview();
    });
}

// `serve` shows a fleet that grows. Nothing is pulled away from under a reader: not while a node is open, nor
// within half a minute of the last key or click.
function wireRefresh() {
    const every = Number(document.documentElement.dataset.refresh) * 1000, quietAfter = 30000;
    if (!(every > 0)) return;
    let touched = -Infinity;
    for (const kind of ['keydown', 'pointerdown', 'wheel', 'touchmove', 'input']) {
        addEventListener(kind, () => {
            touched = performance.now();
        }, {passive: true, capture: true});
    }
    const look = () => {
        const read = nodeDialog.open || document.hidden || performance.now() - touched < quietAfter;
        if (read)
            setTimeout(look, 2000);
        else
            location.reload();
    };
    setTimeout(look, every);
}

function start() {
    const node = recall();
    wireFilter();
    wireKeys();
    wireDialog();
    showShares();
    showNodes(false);
    const rest = () => {
        showCommons();
        showOffenders();
        showMeasured();
        showHeat();
        showCost();
        showUnjudged();
        showSections();
        reachable();
        openRemembered(node);
        document.documentElement.dataset.ready = 'yes';
    };
    requestAnimationFrame(() => setTimeout(rest));
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
        redrawCharts();
        drawOverview();
    });
    addEventListener('resize', () => {
        reachable();
        drawOverview();
    });
    addEventListener('hashchange', () => {
        if (!location.hash.includes('=')) return;  // a link to a section
        const name = recall();
        showNodes(false);
        if (name && name !== openedKey) openRemembered(name);
    });
    wirePrint();
    wireRefresh();
}
start();
