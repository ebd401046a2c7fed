// Marks are kept in this browser, and exported as JSON Lines.

let store = null;
let storeKey = '';

function openMarks(key) {
    storeKey = 'doppel marks 2 ' + key;
    try {
        store = window.localStorage;
        const kept = JSON.parse(store.getItem(storeKey) || '{}');
        for (const part of Object.keys(marks))
            for (const [name, value] of Object.entries(kept[part] || {}))
                if (typeof value === 'string' || value === true) marks[part][name] = value;
    } catch (error) {
        store = null; // no storage here: marks live as long as the page
    }
}

// At once: the same page, loaded again, may read before this one is told that it goes.
function saveMarks() {
    try {
        if (store) store.setItem(storeKey, JSON.stringify(marks));
    } catch (error) {
        say('The browser keeps no more marks: export them now.');
    }
}

// ---- exported ----

function put(line, side, member) {
    line[side] = nameOf(member);
    if (member.path_base64 && !member.line) line[side + '_base64'] = member.path_base64;
    line[side + '_digest'] = member.digest;
}

const fileLine = (word, member) => {
    const line = { mark: word };
    put(line, 'a', member);
    return line;
};

// The lines about files of a group.
function fileLines(group) {
    const there = group.members.filter((member) => !member.gone);
    if (isLeft(group)) return there.map((member) => fileLine('leave', member));
    const marked = (word) => there.filter((member) => fileMark(member) === word);
    const over = there
        .filter((member) => fileMark(member) !== 'keep')
        .map(({ path, digest }) => ({ path, digest }));
    return [
        ...marked('keep').map((member) => ({ ...fileLine('keep', member), over })),
        ...marked('remove').map((member) => fileLine('remove', member)),
    ];
}

// The lines of the file, in the order of the groups; each pair and each file once.
function markLines(groups) {
    const lines = [],
        seen = new Set();
    for (const group of groups) {
        const kept = group.members[keptIndex(group)],
            there = group.members.filter((member) => !member.gone);
        lines.push(...fileLines(group));
        there.forEach((a, i) =>
            there.slice(i + 1).forEach((b) => {
                const pair = pairOf(a, b),
                    word = marks.pairs[pair];
                if (!word || seen.has(pair)) return;
                seen.add(pair);
                const line = { mark: word };
                put(line, 'a', b === kept ? b : a);
                put(line, 'b', b === kept ? a : b);
                lines.push(line);
            }),
        );
    }
    return lines.map((line) => JSON.stringify(line));
}

// What to run next.
const commandOf = () =>
    data.from === 'library'
        ? 'doppel mark --from marks.jsonl'
        : 'doppel report ' +
          (data.sources.map((source) => quoted(source.path)).join(' ') || 'PATH') +
          ' --marks marks.jsonl --action trash';

function exportMarks(groups) {
    const lines = markLines(groups);
    if (!lines.length) return say('There are no marks yet.');
    const url = URL.createObjectURL(
        new Blob([lines.join('\n') + '\n'], { type: 'application/jsonl' }),
    );
    const link = element('a', { href: url, download: 'marks.jsonl' });
    link.click();
    setTimeout(() => URL.revokeObjectURL(url), 10000);
    say(count(lines.length, 'mark') + ' exported to marks.jsonl. Next: ' + commandOf());
}
