// What is this? Files and texts are dropped, pasted or chosen, and shown with what is like them.

let asked = 0;

// As a member of a group is to its first: seen from what was found.
function turned(match) {
    const segments = (match.segments || []).map((segment) => ({
        a_start: segment.b_start,
        a_end: segment.b_end,
        b_start: segment.a_start,
        b_end: segment.a_end,
        speed: segment.speed ? 1 / segment.speed : undefined,
    }));
    const where = match.where && { query: match.where.item, item: match.where.query };
    const { mirrored, rotated, ...rest } = match.transform || {};
    const back = rotated && !mirrored ? 360 - rotated : rotated;
    return {
        ...match,
        path: match.path ?? match.name ?? match.record ?? '',
        segments: segments.length ? segments : undefined,
        where,
        transform: { ...rest, mirrored, rotated: back },
    };
}

// What was asked about, then what was found, as a group.
const groupOf = (name, bytes, result) => ({
    query: true,
    kind: result.input.kind,
    looks: result.looks.members,
    members: [
        { ...result.input, path: name, name, size: bytes, reason: 'kept' },
        ...result.matches.map(turned),
    ],
});

function verdict(result) {
    if (!result.match) return 'nothing in the library is like it';
    const found = result.found || result.matches.length;
    return count(found, 'match', 'matches') + ' in the library';
}

// A card that the tab key reaches; Enter and Space enlarge what it shows.
function makeOpenable(card, group, index) {
    card.tabIndex = 0;
    card.addEventListener('keydown', (event) => {
        if (event.target !== card || (event.key !== 'Enter' && event.key !== ' ')) return;
        event.preventDefault();
        event.stopPropagation(); // else it is a key of what it has opened, too
        openViewer(group, index);
    });
}

function showFound(section, group, result) {
    const nodes = group.members.map((member, index) =>
        memberNode(group, index, group.looks, null),
    );
    nodes.forEach((node, index) => makeOpenable(node, group, index));
    section.className = 'group query ' + (kindNames[group.kind] ? group.kind : '');
    section.append(element('ol', { class: 'members' }, ...nodes));
    section.querySelector('.verdict').textContent = verdict(result);
}

// @param input a file, or {text}
async function ask(name, input) {
    const title = 'asked-' + ++asked;
    const section = element(
        'article',
        { class: 'group', tabIndex: -1, 'aria-labelledby': title, 'aria-busy': 'true' },
        element(
            'header',
            {},
            element('h3', { id: title }, element('bdi', {}, ...nameNodes(name))),
            element('span', { class: 'verdict' }, 'looking …'),
        ),
    );
    find('found').prepend(section);
    try {
        const body = new FormData(),
            isFile = input instanceof File;
        if (isFile) body.append('file', input, name);
        const { results } = await api('v1/find?previews&limit=24', {
            method: 'POST',
            ...(isFile ? { body } : { json: input }),
        });
        const group = groupOf(name, input.size, results[0]);
        showFound(section, group, results[0]);
        say(visible(name) + ': ' + verdict(results[0]));
    } catch (error) {
        section.querySelector('.verdict').textContent = '';
        section.append(element('p', { class: 'absent', role: 'alert' }, visible(error.message)));
        say(visible(name) + ': ' + visible(error.message));
    }
    section.removeAttribute('aria-busy');
}

async function askAll(files) {
    location.hash = 'find';
    for (const [number, file] of files.entries()) {
        if (files.length > 1) say(number + 1 + ' of ' + files.length + ': ' + visible(file.name));
        else say('Looking for ' + visible(file.name));
        await ask(file.name, file);
    }
}

function askText(text) {
    const words = text.trim().split(/\s+/).slice(0, 8).join(' ');
    location.hash = 'find';
    if (words) ask('“' + words + (words.length < text.trim().length ? ' …”' : '”'), { text });
}

// Files, or else a text, unless it is for a field.
function take(transfer, event) {
    const files = Array.from(transfer.files),
        text = transfer.getData('text/plain');
    if (!files.length && (!text.trim() || event.target.matches('input, textarea'))) return;
    event.preventDefault();
    if (files.length) askAll(files);
    else askText(text);
}

const hasSomething = (event) =>
    Array.from(event.dataTransfer.types).some((type) => type === 'Files' || type === 'text/plain');

function makeDrop() {
    let over = 0; // elements that the pointer is in
    const light = (by) => {
        over = Math.max(over + by, 0);
        document.body.classList.toggle('over', over > 0);
    };
    document.addEventListener('dragenter', (event) => hasSomething(event) && light(1));
    document.addEventListener('dragleave', (event) => hasSomething(event) && light(-1));
    document.addEventListener('dragover', (event) => hasSomething(event) && event.preventDefault());
    document.addEventListener('drop', (event) => {
        light(-over);
        take(event.dataTransfer, event);
    });
}

function makeFind() {
    find('choose').onclick = () => find('files').click();
    find('files').onchange = () => {
        askAll(Array.from(find('files').files));
        find('files').value = '';
    };
    find('ask').addEventListener('submit', (event) => {
        event.preventDefault();
        askText(find('words').value);
    });
    document.addEventListener('paste', (event) => take(event.clipboardData, event));
    makeDrop();
}
