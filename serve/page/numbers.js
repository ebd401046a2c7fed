// Lists, and numbers of the last day.

// @param heads of each column; those of numbers are a list
function tableOf(heads, rows) {
    const headOf = (text) =>
        Array.isArray(text)
            ? element('th', { scope: 'col', class: 'amount' }, ...text)
            : element('th', { scope: 'col' }, text);
    const head = element('tr', {}, ...heads.map(headOf));
    return element(
        'div',
        { class: 'table' },
        element('table', {}, element('thead', {}, head), element('tbody', {}, ...rows)),
    );
}

const cell = (value) =>
    typeof value === 'number'
        ? element('td', { class: 'amount' }, value.toLocaleString('en'))
        : element('td', {}, value);

const moment = (seconds) =>
    seconds ? new Date(seconds * 1000).toISOString().slice(0, 16).replace('T', ' ') : '–';

// ---- lists ----

const stateOfList = { active: 'matches', disabled: 'does not match', benign: 'allow-listed' };

const listHeads = [
    'List',
    'State',
    ['Items'],
    ['Matches in 24 h'],
    ['Matches'],
    ['In review'],
    'Last match, UTC',
];

function listRow(list) {
    const open = () => {
        items.list = list.list;
    };
    return element(
        'tr',
        {},
        cell(element('a', { href: '#library', onclick: open }, ...nameNodes(list.list))),
        cell(stateOfList[list.state] || list.state),
        ...[list.items, list.matches_last_day, list.matches, list.in_review].map(cell),
        cell(moment(list.last_match)),
    );
}

async function showLists() {
    try {
        const { lists } = await api('v1/lists');
        find('lists-table').replaceChildren(
            lists.length
                ? tableOf(listHeads, lists.map(listRow))
                : element('p', { class: 'nothing' }, 'The library has no lists.'),
        );
    } catch (error) {
        say(visible(error.message));
    }
}

// ---- numbers ----

const tile = ([name, value]) =>
    element(
        'div',
        value ? {} : { class: 'none' },
        element('dt', {}, name),
        element('dd', {}, typeof value === 'number' ? value.toLocaleString('en') : value),
    );

const tiles = (title, numbers) =>
    element(
        'section',
        { 'aria-label': title },
        element('h3', { class: 'above' }, title),
        element('dl', { class: 'tiles' }, ...numbers.map(tile)),
    );

function span(seconds) {
    const hours = Math.floor(seconds / 3600);
    if (hours >= 48) return count(Math.floor(hours / 24), 'day');
    return hours ? count(hours, 'hour') : count(Math.floor(seconds / 60), 'minute');
}

function kindsOf(shares) {
    const sums = new Map();
    for (const share of shares) sums.set(share.kind, (sums.get(share.kind) || 0) + share.items);
    return Array.from(sums, ([kind, number]) => [kindNames[kind] || kind, number]);
}

function numbersOf({ last_day: day, library, version, uptime, sandbox }) {
    const parts = ['catalogue', 'sounds', 'videos', 'codes'];
    const bytes = parts.reduce((sum, part) => sum + library[part + '_bytes'], 0);
    const changes = ['added', 'removed', 'marked'].map((name) => [name, day[name]]);
    const decisions = Object.entries(day.decisions);
    return [
        tiles('Changes', changes),
        tiles(
            'Decided',
            decisions.map(([name, number]) => [reasonOf[name] || name.replace('_', ' '), number]),
        ),
        tiles('The library', [
            ...kindsOf(library.kinds),
            ['records of corpora', library.records],
            ['on lists', library.listed],
            ['marks', library.marks],
            ['could not be read', library.failures],
            ['on the disk', size(bytes)],
        ]),
        element(
            'p',
            { class: 'side' },
            'doppel ' + version + ', running for ' + span(uptime) + '; its workers open ',
            (sandbox.files ? 'no files' : 'any file') + ' and reach ',
            sandbox.network ? 'no network' : 'the network',
        ),
    ];
}

async function showToday() {
    try {
        find('numbers').replaceChildren(...numbersOf(await api('v1/stats')));
    } catch (error) {
        say(visible(error.message));
    }
}
