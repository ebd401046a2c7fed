// The bar above the groups: filter, theme, keys.

function say(words) {
    find('status').textContent = words;
}

// ---- which groups ----

function makeKinds() {
    for (const button of find('kinds').querySelectorAll('button')) button.remove();
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
    find('inlist').replaceChildren(element('option', { value: '' }, 'any'));
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
    const options = [...folders].sort().slice(0, MOST);
    find('folders').replaceChildren(...options.map((value) => element('option', { value })));
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

// ---- how it looks ----

function remembered(name, value) {
    try {
        if (value === undefined) return window.localStorage.getItem('doppel ' + name);
        window.localStorage.setItem('doppel ' + name, value);
    } catch (error) {
        /* then it is not remembered */
    }
    return null;
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

// ---- keys ----

// Those of every page that shows groups; a page adds its own (keyOf).
const displayKeys = {
    b: toggleBlur,
    t: nextTheme,
    '?': () => find('keys').showModal(),
};
const groupKeys = {
    j: () => moveGroup(1),
    k: () => moveGroup(-1),
    g: () => moveGroup(-shown.length),
    G: () => moveGroup(shown.length),
    n: moveToUnmarked,
    ArrowRight: () => moveMember(1),
    ArrowLeft: () => moveMember(-1),
    u: () => act.unmark(),
    v: () => openViewer(current, chosen),
    ' ': () => openViewer(current, chosen),
    c: () => act.copyPath(),
    '/': () => find('search').focus(),
};

const runKey = (name) => keyOf(name)();

function onKey(event) {
    const at = event.target,
        dialog = document.querySelector('dialog[open]');
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (dialog && dialog.id === 'keys') return event.key === '?' ? dialog.close() : undefined;
    if (dialog && dialog.id !== 'viewer') return;
    const onButton = (event.key === 'Enter' || event.key === ' ') && at.matches('button, a');
    if (dialog) {
        if (onButton || event.key === 'Escape' || event.key === 'Tab') return;
        event.preventDefault();
        return onViewerKey(event.key);
    }
    if (event.key === 'Escape' && at.closest('#bar, #filter'))
        return current ? choose(current, chosen, true) : undefined;
    if (at.matches('input, select, textarea') || onButton) return;
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

function makeBar() {
    find('filter').addEventListener('input', filter);
    find('filter').addEventListener('submit', (event) => event.preventDefault());
    find('blur').onclick = toggleBlur;
    find('theme').onclick = nextTheme;
    find('filters').onclick = () =>
        find('filters').setAttribute(
            'aria-expanded',
            String(find('filter').classList.toggle('open')),
        );
    find('help').onclick = displayKeys['?'];
    list.addEventListener('focusin', (event) => {
        const node = event.target.closest('.member');
        if (node)
            setCurrent(data.groups[node.closest('.group').number], Number(node.dataset.index));
    });
    document.addEventListener('keydown', onKey);
    watchBar();
}
