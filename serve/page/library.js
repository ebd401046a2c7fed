// What the library holds: searched, filtered, page by page.

const items = {
    next: 0, // where they go on that are not here; 0: nowhere
    asked: 0, // questions so far: the last one counts
    list: null, // that another view wants to be chosen
};

// ---- which ----

const sqlString = (text) => "'" + text.replaceAll("'", "''") + "'";

// What an upload was called.
const upload = "CASE WHEN json_valid(meta) THEN json_extract(meta, '$.filename') END";

// Each word in a name or an id: an expression as `doppel list --where` has it.
function whereOf(words, kind) {
    const names = ['path', 'record_id', 'external_id', upload];
    const held = names.map((name) => 'coalesce(' + name + ", '')").join(" || ' ' || ");
    const parts = words.map((word) => held + ' LIKE ' + sqlString('%' + word + '%'));
    if (kind) parts.push('kind = ' + sqlString(kind));
    return parts.join(' AND ');
}

function itemsQuery() {
    const query = new URLSearchParams({ limit: '60' });
    const put = (name, value) => value && query.set(name, value);
    const words = find('items-search').value.split(/\s+/).filter(Boolean).slice(0, 8);
    put('where', whereOf(words, find('items-kind').value));
    put('list', find('items-list').value);
    put('label', find('items-label').value.trim());
    put('cursor', items.next);
    return query;
}

// ---- cards ----

// A picture is asked for when its card comes near the window.
const cards = new IntersectionObserver(
    (entries) => {
        for (const { isIntersecting, target } of entries) {
            if (!isIntersecting) continue;
            cards.unobserve(target);
            drawCard(target);
        }
    },
    { rootMargin: '300px 0px' },
);

async function drawCard({ group, firstChild: look }) {
    group.looks = [await preview(group.members[0].id, 0)];
    look.replaceChildren(...drawLook(group, 0, group.looks));
}

function itemNode(item) {
    const member = { ...item, path: item.path ?? item.name ?? '' };
    const group = { query: true, kind: item.kind, members: [member] };
    const card = element(
        'li',
        {
            class: 'member ' + (kindNames[item.kind] ? item.kind : ''),
            'aria-label': visible(nameOf(member)),
        },
        element('div', { class: 'look', onclick: () => openViewer(group, 0) }, absent('…')),
        ...nameLines(member, ''),
        element('p', { class: 'what' }, [oneOf[item.kind], factsOf(member)].join(' · ')),
        ...tagNodes(member),
    );
    makeOpenable(card, group, 0);
    card.group = group;
    cards.observe(card);
    return card;
}

async function showItems(more) {
    const asked = ++items.asked;
    if (!more) items.next = 0;
    const query = itemsQuery();
    try {
        const { items: found, next } = await api('v1/items?' + query);
        if (asked !== items.asked) return;
        if (!more) find('items').replaceChildren();
        find('items').append(...found.map(itemNode));
        items.next = next || 0;
        find('more-items').hidden = !next;
        find('no-items').hidden = find('items').children.length > 0;
        find('no-items').textContent = ['where', 'list', 'label'].some((name) => query.has(name))
            ? 'There is nothing like that.'
            : 'The library is empty.';
        say(count(find('items').children.length, 'item') + (next ? ', and there are more' : ''));
    } catch (error) {
        if (asked === items.asked) say(visible(error.message));
    }
}

function makeLibrary() {
    let soon = 0;
    for (const kind of ['image', 'video', 'audio', 'text'])
        find('items-kind').append(element('option', { value: kind }, kindNames[kind]));
    find('items-filter').addEventListener('submit', (event) => event.preventDefault());
    find('items-filter').addEventListener('input', () => {
        clearTimeout(soon);
        soon = setTimeout(() => showItems(false), 250);
    });
    find('more-items').onclick = () => showItems(true);
}

async function openLibrary() {
    const { lists } = await api('v1/lists').catch(() => ({ lists: [] }));
    const wanted = items.list ?? find('items-list').value;
    items.list = null;
    find('items-list').replaceChildren(
        element('option', { value: '' }, 'any'),
        ...lists.map(({ list: name }) => element('option', { value: name }, visible(name))),
    );
    find('items-list').value = wanted;
    await showItems(false);
}
