// A queue of groups: a person says what they are, and the library keeps it at once.

const review = {
    asked: false, // for the groups
    next: 0, // where the groups go on that are not here; 0: nowhere
    byDigest: new Map(), // digest -> a member
};

// ---- groups ----

async function loadGroups() {
    const cursor = review.next ? '&cursor=' + review.next : '';
    const [{ groups, next }, said] = await Promise.all([
        api('v1/groups?limit=300' + cursor),
        api('v1/marks'),
    ]);
    for (const { a_digest: a, b_digest: b, mark } of said.marks)
        marks.pairs[[a, b].sort().join(' ')] = mark;
    for (const group of groups) {
        prepare(group, data.groups.length);
        if (group.keep_reason === 'chosen') marks.files[fileKey(group.members[0])] = 'keep';
        data.groups.push(group);
        for (const member of group.members) review.byDigest.set(member.digest, member);
    }
    review.next = next || 0;
}

async function showGroups() {
    say('Looking for groups …');
    find('more-groups').disabled = true; // each page of them is asked for once
    try {
        await loadGroups();
    } catch (error) {
        review.asked = false;
        return say('There are no groups: ' + visible(error.message));
    } finally {
        find('more-groups').disabled = false;
        find('more-groups').hidden = !review.next;
    }
    makeKinds();
    makeLists();
    makeFolders();
    makeSections();
    filter();
    summarise();
    return undefined;
}

function summarise() {
    const marked = data.groups.filter(isMarked).length;
    find('reviewed').textContent = data.groups.length
        ? marked.toLocaleString('en') +
          (review.next ? ' of the first ' : ' of ') +
          count(data.groups.length, 'group') +
          ' reviewed'
        : '';
    find('undo').disabled = !history.length;
}

// ---- what they look like ----

// @param beside an item; 0: none
async function preview(id, beside) {
    const path = 'v1/items/' + id + '/preview?pixels=960' + (beside ? '&beside=' + beside : '');
    try {
        const { members } = await inTurn(() => api(path));
        return members[members.length - 1];
    } catch (error) {
        return { gone: error.message };
    }
}

async function loadLooks(group, wanted) {
    const members = group.members.slice(0, wanted);
    const beside = group.kind === 'image' ? 0 : group.members[0].id;
    group.looks = await Promise.all(
        members.map(({ id }, index) => preview(id, index ? beside : 0)),
    );
    sections[group.index].filled = false; // all of it is drawn again
    fill(group);
}

function looksOf(group) {
    const wanted = group.all ? group.members.length : Math.min(group.members.length, AT_FIRST);
    if (!group.query && (group.asked || 0) < wanted) {
        group.asked = wanted;
        loadLooks(group, wanted);
    }
    return group.looks || null;
}

// ---- marks ----

// Records are a group by what was decided, which `distinct` cut: `same` joins them again.
function pairWishes(name, before) {
    const pair = name.split(' ').map((digest) => review.byDigest.get(digest));
    const wish = { a: String(pair[0].id), b: String(pair[1].id) };
    const mark = marks.pairs[name] || 'none';
    const joins = before === 'distinct' && mark === 'none' && pair[0].line;
    return [...(joins ? [{ ...wish, mark: 'same' }] : []), { ...wish, mark }];
}

// What the service is told of a change.
function wishesOf([part, name, before]) {
    if (part === 'pairs') return pairWishes(name, before);
    const group = data.groups.find(({ members }) => members.some((one) => fileKey(one) === name));
    const kept = group.members.find((member) => fileKey(member) === name);
    const others = group.members.filter((member) => member !== kept);
    return marks.files[name] === 'keep'
        ? [{ a: String(kept.id), mark: 'keep', over: others.map(({ id }) => String(id)) }]
        : [{ a: String(kept.id), mark: 'none' }];
}

// What was there before is there again.
function notSaved([part, name, before], error) {
    if (before === undefined) delete marks[part][name];
    else marks[part][name] = before;
    refreshAll();
    say('Not kept: ' + visible(error.message));
}

let saved = Promise.resolve(); // one after the other

function saveMarks(changes) {
    for (const change of changes) {
        const wishes = wishesOf(change);
        const send = async () => {
            for (const wish of wishes) await post('v1/marks', wish);
        };
        saved = saved.then(send).catch((error) => notSaved(change, error));
    }
}

// ---- going on ----

// The next member of which nothing is said, else the next group.
function goOn() {
    const kept = keptIndex(current),
        next = current.members.findIndex(
            (member, index) =>
                index !== kept &&
                idOf(member) !== idOf(current.members[kept]) &&
                !pairMark(current, index),
        );
    const said = find('status').textContent;
    if (next >= 0) return choose(current, next, true);
    moveToUnmarked();
    return say(said + '. ' + find('status').textContent);
}

function markAndGoOn(mark, ...rest) {
    const before = history.length;
    mark(...rest);
    if (history.length > before && !find('viewer').open) goOn();
}

function undo() {
    const last = history[history.length - 1];
    act.takeBack();
    if (!last) return;
    const [, name] = last[0],
        digests = name.split(' ');
    const group = data.groups.find((one) => one.members.some((m) => digests.includes(m.digest)));
    if (shown.includes(group)) choose(group, Math.min(1, group.members.length - 1), true);
    say('The last marks are taken back');
}

const reviewKeys = {
    ...groupKeys,
    Enter: () => markAndGoOn(act.keep, chosen),
    d: () => markAndGoOn(act.pair, 'distinct'),
    s: () => markAndGoOn(act.pair, 'same'),
    z: undo,
};

function makeReview() {
    find('marked').value = 'no';
    find('order').value = 'different';
    find('next').onclick = moveToUnmarked;
    find('undo').onclick = undo;
    find('more-groups').onclick = showGroups;
}

function openReview() {
    if (!review.asked) showGroups();
    review.asked = true;
}
