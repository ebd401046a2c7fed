// What a person says of files: kept in this browser, by digests, and exported as JSON Lines.

const marks = {
    // Digest of the first member of a group as it was found -> digest of the one to keep.
    keep: Object.create(null),
    pairs: Object.create(null), // two digests, the smaller first -> 'distinct' or 'same'
};

let store = null;
let storeKey = '';

function openMarks(key) {
    storeKey = 'doppel marks ' + key;
    try {
        store = window.localStorage;
        const kept = JSON.parse(store.getItem(storeKey) || '{}');
        for (const part of ['keep', 'pairs'])
            for (const [name, value] of Object.entries(kept[part] || {}))
                if (typeof value === 'string') marks[part][name] = value;
    } catch (error) {
        store = null; // no storage here: marks live as long as the page
    }
}

function saveMarks() {
    try {
        if (store) store.setItem(storeKey, JSON.stringify(marks));
    } catch (error) {
        say('The browser keeps no more marks: export them now.');
    }
}

function remembered(name, value) {
    try {
        if (value === undefined) return store && store.getItem('doppel ' + name);
        if (store) store.setItem('doppel ' + name, value);
    } catch (error) {
        /* then it is not remembered */
    }
    return null;
}

const idOf = (member) => member.digest;
const pairOf = (a, b) => [idOf(a), idOf(b)].sort().join(' ');
const hasRecords = (group) => group.members.some((member) => member.line);
const groupId = (group) => idOf(group.members[0]);

// The number of the member that is kept: as marked, else as doppel chose. Of the same bytes the
// path tells.
function keptIndex(group) {
    const marked = marks.keep[groupId(group)];
    if (!marked) return 0;
    const index = group.members.findIndex((member) => idOf(member) + ' ' + member.path === marked);
    return index < 0 ? 0 : index;
}

function markKeep(group, index) {
    const member = group.members[index];
    const wanted = idOf(member) + ' ' + member.path;
    if (marks.keep[groupId(group)] === wanted) delete marks.keep[groupId(group)];
    else marks.keep[groupId(group)] = wanted;
    saveMarks();
}

const pairMark = (group, index) => {
    const kept = group.members[keptIndex(group)],
        member = group.members[index];
    return member === kept ? '' : marks.pairs[pairOf(kept, member)] || '';
};

// 'distinct' of files of the same bytes is nothing that can be.
function markPair(group, index, word) {
    const kept = group.members[keptIndex(group)],
        member = group.members[index];
    if (member === kept) return 'That is the copy to keep: choose another member.';
    if (idOf(member) === idOf(kept)) return 'They have the same bytes: there is nothing to say.';
    const pair = pairOf(kept, member);
    if (marks.pairs[pair] === word) delete marks.pairs[pair];
    else marks.pairs[pair] = word;
    saveMarks();
    return '';
}

function unmark(group) {
    delete marks.keep[groupId(group)];
    for (const a of group.members) for (const b of group.members) delete marks.pairs[pairOf(a, b)];
    saveMarks();
}

const isMarked = (group) =>
    groupId(group) in marks.keep || group.members.some((member, index) => pairMark(group, index));

function put(line, side, member) {
    line[side] = nameOf(member);
    if (member.path_base64 && !member.line) line[side + '_base64'] = member.path_base64;
    line[side + '_digest'] = member.digest;
}

// The lines of the file, in the order of the groups; each pair and each file once.
function markLines(groups) {
    const lines = [],
        seen = new Set();
    for (const group of groups) {
        const kept = group.members[keptIndex(group)];
        if (groupId(group) in marks.keep) {
            const line = { mark: 'keep' };
            put(line, 'a', kept);
            line.over = group.members
                .filter((member) => member !== kept)
                .map(({ path, digest }) => ({ path, digest }));
            lines.push(JSON.stringify(line));
        }
        group.members.forEach((a, i) =>
            group.members.slice(i + 1).forEach((b) => {
                const pair = pairOf(a, b),
                    word = marks.pairs[pair];
                if (!word || seen.has(pair)) return;
                seen.add(pair);
                const line = { mark: word };
                put(line, 'a', b === kept ? b : a);
                put(line, 'b', b === kept ? a : b);
                lines.push(JSON.stringify(line));
            }),
        );
    }
    return lines;
}

function exportMarks(groups) {
    const lines = markLines(groups);
    if (!lines.length) return say('There are no marks yet.');
    const url = URL.createObjectURL(
        new Blob([lines.join('\n') + '\n'], { type: 'application/jsonl' }),
    );
    const link = element('a', { href: url, download: 'marks.jsonl' });
    link.click();
    setTimeout(() => URL.revokeObjectURL(url), 10000);
    say(count(lines.length, 'mark') + ' exported to marks.jsonl: doppel mark --from marks.jsonl');
}
