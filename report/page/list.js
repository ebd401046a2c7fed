// The groups as sections, of which only those near the window have something in them.

const AT_FIRST = 24; // members of a group that are shown without being asked for

const sections = []; // of each group
let shown = []; // groups that pass the filter, in order
let current = null; // a group
let chosen = 0; // a member of it

// What is shown in a part of another one, holds more, or is another shot is no copy of it.
const isNoCopy = (member) =>
    member.burst ||
    (member.reason === 'part' && (member.where || !member.relation)) ||
    (member.relation === 'contains' && member.scheme === 'minhash128');

// What could go, as `savable` of a scan counts: all but the one to keep, references, what is no
// copy, and what is decided to stay.
function savedOf(group) {
    const kept = keptIndex(group);
    if (isLeft(group)) return 0;
    return group.members.reduce(
        (sum, member, index) =>
            index === kept ||
            member.reference ||
            member.gone ||
            fileMark(member) === 'keep' ||
            (isNoCopy(member) && fileMark(member) !== 'remove') ||
            pairMark(group, index) === 'distinct'
                ? sum
                : sum + freedOf(member),
        0,
    );
}

// Whether its path lies in a folder, or begins like it.
const isUnder = (member, folder) =>
    member.path.startsWith(folder) || absolutePath(member).startsWith(folder);

// What is sorted and filtered by.
function prepare(group, index) {
    const others = group.members.slice(1);
    group.index = index;
    group.saved = savedOf(group);
    group.similarity = Math.min(
        1,
        ...others.map((member) => (member.similarity === undefined ? 1 : member.similarity)),
    );
    group.chance = Math.max(0, ...others.map((member) => member.false_positive_rate || 0));
    for (const member of group.members) member.path ??= member.name ?? ''; // of what has no file
    group.words = group.members
        .map((member) => (member.line ? placeOf(member).join(' ') : member.path).toLowerCase())
        .join('\n');
    group.reasons = new Set(others.map((member) => member.reason));
    group.lists = new Set(group.members.flatMap((member) => member.lists || []));
    group.all = group.members.length <= AT_FIRST;
}

// ---- a group ----

// What was drawn stays: pictures that are made again would flash.
const drawnLooks = (section) =>
    section.filled && !section.waits ? Array.from(section.querySelectorAll('.member > .look')) : [];

function groupHead(group) {
    const removed = removedBytes(group);
    return element(
        'header',
        {},
        element(
            'h2',
            {},
            count(group.members.length, oneOf[group.kind] || 'file', kindNames[group.kind]),
        ),
        element('span', {}, 'group ' + group.group),
        hasRecords(group) || !actsOnFiles()
            ? null
            : element('span', { class: 'saves' }, size(group.saved) + ' could be saved'),
        removed ? element('span', { class: 'goes' }, size(removed) + ' to remove') : null,
        group.similarity < 1
            ? element('span', {}, 'similarity from ' + Number(group.similarity.toFixed(3)))
            : null,
        hasRecords(group) || !actsOnFiles()
            ? null
            : element(
                  'button',
                  {
                      type: 'button',
                      class: 'leave',
                      tabIndex: -1,
                      'aria-pressed': String(isLeft(group)),
                      title: 'Nothing is done about this group (l)',
                      onclick: () => {
                          choose(group, group === current ? chosen : 0, false);
                          act.leave();
                      },
                  },
                  'Leave alone',
              ),
    );
}

function focusMember(section, index) {
    const node = section.querySelector('.member[data-index="' + index + '"]');
    if (node) node.focus({ preventScroll: true });
    return node;
}

function fill(group) {
    const section = sections[group.index],
        hadKeyboard = section.contains(document.activeElement),
        drawn = drawnLooks(section),
        looks = data.looks ? (drawn.length ? drawn : looksOf(group)) : [];
    section.waits = !looks;
    group.saved = savedOf(group);
    section.classList.toggle('left', isLeft(group));
    const members = group.all ? group.members : group.members.slice(0, AT_FIRST);
    const rest = group.members.length - members.length;
    const all =
        drawn.length && drawn.length < members.length && data.looks ? looksOf(group) : looks;
    section.replaceChildren(
        groupHead(group),
        element(
            'ol',
            { class: 'members' },
            ...members.map((member, index) => memberNode(group, index, all, drawn[index] || null)),
        ),
    );
    if (rest)
        section.append(
            element(
                'button',
                {
                    type: 'button',
                    class: 'more',
                    onclick: () => {
                        group.all = true;
                        fill(group);
                    },
                },
                'Show ' + count(rest, 'more', 'more'),
            ),
        );
    section.filled = true;
    section.style.height = '';
    if (hadKeyboard && group === current) focusMember(section, chosen);
}

function drain(group) {
    const section = sections[group.index];
    if (!section.filled || group === current) return;
    section.style.height = section.offsetHeight + 'px';
    section.replaceChildren();
    section.filled = false;
}

const watcher = new IntersectionObserver(
    (entries) => {
        for (const entry of entries) {
            const group = data.groups[entry.target.number];
            if (!entry.isIntersecting) drain(group);
            else if (!entry.target.filled) fill(group);
        }
    },
    { rootMargin: '900px 0px' },
);

// Before it is filled: so high it is about.
function heightOf(group) {
    const wide = Math.max(list.clientWidth - 32, 250),
        each = { image: 310, video: 470, audio: 470, text: 470 }[group.kind] || 310;
    const tall = { image: 400, video: 470, audio: 340, text: 380 }[group.kind] || 400;
    const rows = Math.ceil(
        Math.min(group.members.length, AT_FIRST) / Math.max(1, Math.floor(wide / each)),
    );
    return 56 + rows * tall;
}

// Of the groups that have none yet.
function makeSections() {
    data.groups.slice(sections.length).forEach((group) => {
        const section = element('section', {
            class: 'group ' + (kindNames[group.kind] ? group.kind : ''),
            'aria-label': 'Group ' + group.group,
        });
        section.number = group.index;
        section.style.height = heightOf(group) + 'px';
        sections.push(section);
        watcher.observe(section);
    });
}

// Parts of the page that came meanwhile.
function fillWaiting() {
    for (const group of data.groups)
        if (sections[group.index].waits && sections[group.index].filled) fill(group);
}

// ---- which, and in what order ----

const orders = {
    saved: (a, b) => b.saved - a.saved,
    similar: (a, b) => b.similarity - a.similarity,
    different: (a, b) => a.similarity - b.similarity,
    chance: (a, b) => b.chance - a.chance,
    path: (a, b) => (a.keep < b.keep ? -1 : a.keep > b.keep ? 1 : 0),
    group: () => 0,
};

function passes(group, wanted) {
    return (
        wanted.kinds.has(group.kind) &&
        group.similarity >= wanted.least &&
        group.similarity <= wanted.most &&
        (!wanted.reason || group.reasons.has(wanted.reason)) &&
        (!wanted.list || group.lists.has(wanted.list)) &&
        (!wanted.marked || isMarked(group) === (wanted.marked === 'yes')) &&
        (!wanted.folder || group.members.some((member) => isUnder(member, wanted.folder))) &&
        wanted.words.every((word) => group.words.includes(word))
    );
}

function arrange(wanted) {
    const order = orders[wanted.order] || orders.saved;
    shown = data.groups
        .filter((group) => passes(group, wanted))
        .sort((a, b) => order(a, b) || a.index - b.index);
    list.replaceChildren(...shown.map((group) => sections[group.index]));
    if (!shown.includes(current)) setCurrent(shown[0] || null, 0);
}

// ---- the chosen member ----

function setCurrent(group, index) {
    if (current) sections[current.index].classList.remove('current');
    const before = current;
    current = group;
    chosen = index;
    if (before && before !== group)
        for (const node of sections[before.index].querySelectorAll('.member')) node.tabIndex = -1;
    if (!group) return;
    const section = sections[group.index];
    section.classList.add('current');
    for (const node of section.querySelectorAll('.member'))
        node.tabIndex = Number(node.dataset.index) === index ? 0 : -1;
}

function choose(group, index, scroll) {
    const section = sections[group.index],
        changed = group !== current;
    setCurrent(group, index);
    if (index >= AT_FIRST) group.all = true;
    if (!section.filled || index >= section.querySelectorAll('.member').length) fill(group);
    const node = focusMember(section, index);
    if (scroll) (changed ? section : node).scrollIntoView({ block: changed ? 'start' : 'nearest' });
}

function moveGroup(by) {
    const at = shown.indexOf(current),
        to = Math.min(Math.max(at + by, 0), shown.length - 1);
    if (!shown.length) return;
    choose(shown[to], to === at ? chosen : 0, true);
    say('Group ' + (to + 1) + ' of ' + shown.length);
}

function moveMember(by) {
    if (!current) return;
    const to = Math.min(Math.max(chosen + by, 0), current.members.length - 1);
    choose(current, to, true);
}

// The next group about which nothing is decided, after this one, else from the beginning.
function moveToUnmarked() {
    const at = shown.indexOf(current);
    const order = [...shown.slice(at + 1), ...shown.slice(0, at + 1)];
    const next = order.find((group) => !isMarked(group));
    if (!next) return say('All groups shown are marked.');
    choose(next, 0, true);
    say('Group ' + (shown.indexOf(next) + 1) + ' of ' + shown.length);
}

// After a mark: the group anew, the same member chosen.
function refresh() {
    fill(current);
    if (!find('viewer').open) choose(current, chosen, false);
    summarise();
}

// After marks of many groups.
function refreshAll() {
    for (const group of data.groups)
        if (sections[group.index].filled) fill(group);
        else group.saved = savedOf(group);
    if (current && !document.querySelector('dialog[open]')) choose(current, chosen, false);
    summarise();
}

const act = {
    keep(index) {
        if (!current || index >= current.members.length) return;
        if (current.members[index].gone) return say('It is gone already.');
        if (hasRecords(current))
            return say('Of records the one to keep is chosen by source and policy.');
        markKeep(current, index);
        chosen = index;
        refresh();
        const kept = current.members.filter((member) => fileMark(member) === 'keep');
        say(
            (kept.length ? 'To keep: ' : 'No mark: ') +
                (kept.length ? kept : [current.members[index]])
                    .map((member) => visible(nameOf(member)))
                    .join(', '),
        );
    },
    remove() {
        if (!current) return;
        const member = current.members[chosen];
        const refused = markRemove(current, chosen);
        refresh();
        say(refused || (fileMark(member) ? 'To remove: ' : 'No mark: ') + visible(nameOf(member)));
    },
    leave() {
        if (!current || hasRecords(current)) return;
        markLeave(current);
        refresh();
        say(isLeft(current) ? 'This group is left alone' : 'No marks on this group');
    },
    // Of two it is clear which are meant, whichever is chosen.
    pair(word) {
        if (!current) return;
        const index = current.members.length === 2 ? 1 - keptIndex(current) : chosen;
        const refused = markPair(current, index, word);
        refresh();
        say(
            refused ||
                (pairMark(current, index) ? 'Marked ' + word + ': ' : 'No mark: ') +
                    visible(nameOf(current.members[index])),
        );
    },
    unmark() {
        if (!current) return;
        unmark(current);
        refresh();
        say('No marks on this group');
    },
    takeBack() {
        const done = takeBackStep();
        refreshAll();
        say(done ? 'The last marks are taken back' : 'There is nothing to take back.');
    },
    copyPath() {
        const path = current && absolutePath(current.members[chosen]);
        if (!path || !navigator.clipboard) return;
        navigator.clipboard.writeText(path).then(
            () => say('Copied: ' + visible(path)),
            () => say(visible(path)),
        );
    },
    openFolder() {
        const node =
            current && sections[current.index].querySelector('.member[tabindex="0"] .act a');
        if (node) return node.click();
        return data.action
            ? say('A served page cannot open folders: c copies the path.')
            : act.copyPath();
    },
};
