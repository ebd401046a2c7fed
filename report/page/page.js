// Begins the page: the data, the bar above, the keys.

const data = JSON.parse(find('data').textContent);
const list = find('list');

function say(words) {
    find('status').textContent = words;
}

// ---- the bar ----

function summarise() {
    const left = data.groups
        .map((group) => group.members.filter((member) => !member.gone).length)
        .filter((members) => members > 1);
    const duplicates = left.reduce((sum, members) => sum + members - 1, 0);
    const saved = data.groups.reduce((sum, group) => sum + group.saved, 0);
    const places = data.sources.map((source) => visible(source.path)).join(', ');
    find('summary').textContent =
        count(left.length, 'group') +
        ', ' +
        count(duplicates, 'duplicate') +
        ', ' +
        size(saved) +
        ' could be saved';
    find('sources').textContent =
        (data.from === 'library' ? 'of the library ' : 'in ') +
        (places || 'files of a list') +
        ', ' +
        data.made.slice(0, 16).replace('T', ' ') +
        ' UTC';
    find('facts').title = find('facts').textContent;
    sumUp();
}

// What is decided so far, and what it comes to.
function sums() {
    let marked = 0,
        files = 0,
        bytes = 0;
    for (const group of data.groups) {
        marked += isMarked(group);
        for (const member of group.members)
            if (fileMark(member) === 'remove') {
                files++;
                bytes += freedOf(member);
            }
    }
    return { marked, files, bytes };
}

function sumUp() {
    const { marked, files, bytes } = sums();
    find('sum').textContent = marked
        ? count(marked, 'group') +
          ' marked of ' +
          data.groups.length.toLocaleString('en') +
          (files ? ': ' + count(files, 'file') + ', ' + size(bytes) + ' to remove' : '')
        : 'Nothing is marked yet';
    find('export').disabled = !marked;
}

function makeKinds() {
    for (const kind of Object.keys(kindNames)) {
        const number = data.groups.filter((group) => group.kind === kind).length;
        if (!number) continue;
        const button = element(
            'button',
            { type: 'button', 'aria-pressed': 'true', 'data-kind': kind },
            kindNames[kind] + ' ' + number.toLocaleString('en'),
        );
        button.onclick = () => {
            button.setAttribute(
                'aria-pressed',
                String(button.getAttribute('aria-pressed') !== 'true'),
            );
            filter();
        };
        find('kinds').append(button);
    }
}

function makeLists() {
    const names = [...new Set(data.groups.flatMap((group) => [...group.lists]))].sort();
    find('lists').hidden = !names.length;
    for (const name of names)
        find('inlist').append(element('option', { value: name }, visible(name)));
}

// Folders that files lie in, and those above: to filter, and to keep all in one.
function makeFolders() {
    const MOST = 2000;
    const folders = new Set();
    for (const group of data.groups)
        for (const member of group.members)
            if (!member.line)
                for (
                    let at = member.path.lastIndexOf('/');
                    at > 0;
                    at = member.path.lastIndexOf('/', at - 1)
                ) {
                    const folder = member.path.slice(0, at + 1);
                    if (folders.has(folder)) break;
                    folders.add(folder);
                }
    for (const folder of [...folders].sort().slice(0, MOST))
        find('folders').append(element('option', { value: folder }));
}

function wantedNow() {
    const number = (id, otherwise) => {
        const value = parseFloat(find(id).value);
        return Number.isFinite(value) ? value : otherwise;
    };
    const pressed = find('kinds').querySelectorAll('[aria-pressed="true"]');
    return {
        kinds: new Set(Array.from(pressed, (button) => button.dataset.kind)),
        least: number('least', -1),
        most: number('most', 2),
        reason: find('reason').value,
        list: find('inlist').value,
        marked: find('marked').value,
        folder: find('folder').value.trim(),
        order: find('order').value,
        words: find('search').value.toLowerCase().split(/\s+/).filter(Boolean),
    };
}

function filter() {
    arrange(wantedNow());
    const empty = find('empty');
    empty.hidden = shown.length > 0;
    empty.textContent = data.groups.length
        ? 'No group passes the filter.'
        : 'No duplicates were found.';
    say(
        shown.length === data.groups.length
            ? ''
            : count(shown.length, 'group') + ' of ' + data.groups.length.toLocaleString('en'),
    );
}

function setBlur(on) {
    document.body.classList.toggle('blur', on);
    find('blur').setAttribute('aria-pressed', String(on));
}

const themes = ['system', 'light', 'dark'];

function setTheme(name) {
    const theme = themes.includes(name) ? name : 'system';
    if (theme === 'system') delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
    find('theme').textContent = 'Theme: ' + theme;
    find('theme').value = theme;
    return theme;
}

const nextTheme = () =>
    remembered(
        'theme',
        setTheme(themes[(themes.indexOf(find('theme').value) + 1) % themes.length]),
    );
const toggleBlur = () => setBlur(!document.body.classList.contains('blur'));
const doExport = () => exportMarks(data.groups);

// ---- keys ----

const keys = {
    j: () => moveGroup(1),
    k: () => moveGroup(-1),
    g: () => moveGroup(-shown.length),
    G: () => moveGroup(shown.length),
    n: moveToUnmarked,
    ArrowRight: () => moveMember(1),
    ArrowLeft: () => moveMember(-1),
    Enter: () => act.keep(chosen),
    r: () => act.remove(),
    l: () => act.leave(),
    d: () => act.pair('distinct'),
    s: () => act.pair('same'),
    u: () => act.unmark(),
    z: () => act.takeBack(),
    v: () => openViewer(current, chosen),
    ' ': () => openViewer(current, chosen),
    o: () => act.openFolder(),
    c: () => act.copyPath(),
    m: openRules,
    a: openDoing,
    Z: () => data.action && undoLast(),
    b: toggleBlur,
    t: nextTheme,
    e: doExport,
    '/': () => find('search').focus(),
    '?': () => find('keys').showModal(),
};

const keyOf = (name) =>
    keys[name] || (/^[1-9]$/.test(name) ? () => act.keep(Number(name) - 1) : null);
const runKey = (name) => keyOf(name)();

function onKey(event) {
    const at = event.target;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (find('keys').open) return event.key === '?' ? find('keys').close() : undefined;
    if (find('rules').open || find('doing').open) return;
    const onButton = (event.key === 'Enter' || event.key === ' ') && at.matches('button, a');
    if (find('viewer').open) {
        if (onButton || event.key === 'Escape' || event.key === 'Tab') return;
        event.preventDefault();
        return onViewerKey(event.key);
    }
    if (event.key === 'Escape' && at.closest('#bar'))
        return choose(current || shown[0], chosen, true);
    if (at.matches('input, select') || onButton) return;
    if (!keyOf(event.key)) return;
    event.preventDefault();
    runKey(event.key);
}

// ---- the beginning ----

function watchBar() {
    const bar = find('bar');
    new ResizeObserver(() =>
        document.documentElement.style.setProperty('--bar', bar.offsetHeight + 8 + 'px'),
    ).observe(bar);
}

function begin() {
    openMarks(data.sources.map((source) => source.path).join('\n') || data.from);
    takeMarksOfData(data.groups);
    data.groups.forEach(prepare);
    setTheme(remembered('theme') || 'system');
    setBlur(data.blur);
    makeKinds();
    makeLists();
    makeFolders();
    makeRules();
    makeViewer();
    makeSections();
    filter();
    summarise();
    makeServe();
    find('filter').addEventListener('input', filter);
    find('filter').addEventListener('submit', (event) => event.preventDefault());
    find('blur').onclick = toggleBlur;
    find('theme').onclick = nextTheme;
    find('export').onclick = doExport;
    find('filters').onclick = () =>
        find('filters').setAttribute(
            'aria-expanded',
            String(find('filter').classList.toggle('open')),
        );
    find('many').onclick = openRules;
    find('help').onclick = () => find('keys').showModal();
    list.addEventListener('focusin', (event) => {
        const node = event.target.closest('.member');
        if (node)
            setCurrent(data.groups[node.closest('.group').number], Number(node.dataset.index));
    });
    document.addEventListener('keydown', onKey);
    watchBar();
    const waiting = setInterval(fillWaiting, 300);
    document.addEventListener('DOMContentLoaded', () => {
        clearInterval(waiting);
        fillWaiting();
    });
}

begin();
