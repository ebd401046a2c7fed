// What a person decides about the members of groups, by their digests, step by step.

const marks = {
    files: Object.create(null), // of a file (fileKey): 'keep' or 'remove'
    leave: Object.create(null), // of a group (groupId): true, it is left alone
    pairs: Object.create(null), // two digests, the smaller first -> 'distinct' or 'same'
};

// ---- changed, and taken back ----

const STEPS_BACK = 100;
const history = []; // of each step what was there before: [part, name, value]
let step = [];

function setMark(part, name, value) {
    const before = marks[part][name];
    if (before === value) return;
    step.push([part, name, before]);
    if (value === undefined) delete marks[part][name];
    else marks[part][name] = value;
}

// What was set since is one step.
function endStep() {
    const changes = step;
    if (changes.length) history.push(changes);
    if (history.length > STEPS_BACK) history.shift();
    step = [];
    saveMarks(changes);
}

// Whether there was anything to take back.
function takeBackStep() {
    const last = history.pop();
    if (!last) return false;
    const changes = [];
    for (const [part, name, before] of last.reverse()) {
        changes.push([part, name, marks[part][name]]);
        if (before === undefined) delete marks[part][name];
        else marks[part][name] = before;
    }
    saveMarks(changes);
    return true;
}

// What cannot be taken back by marks alone.
function forgetSteps() {
    endStep();
    history.length = 0;
}

// ---- what is decided ----

const idOf = (member) => member.digest;
const fileKey = (member) => member.digest + ' ' + member.path; // of the same bytes the path tells
const pairOf = (a, b) => [idOf(a), idOf(b)].sort().join(' ');
const hasRecords = (group) => group.members.some((member) => member.line);
const groupId = (group) => fileKey(group.members[0]);
const isLeft = (group) => groupId(group) in marks.leave;

// 'keep', 'remove' or ''; 'gone': it was removed by this page.
const fileMark = (member) => (member.gone ? 'gone' : marks.files[fileKey(member)] || '');
const goes = (member) => fileMark(member) === 'remove' || fileMark(member) === 'gone';

// A service has items: it says what they are to each other, and leaves their files alone.
const actsOnFiles = () => data.from !== 'service';

const canGo = (member) =>
    actsOnFiles() &&
    !member.reference && !member.line && !member.gone && member.size !== undefined;

// The number of the member that the others follow: marked so, else as doppel chose, if it stays.
function keptIndex(group) {
    const kept = group.members.findIndex((member) => fileMark(member) === 'keep');
    const stays = group.members.findIndex((member) => !goes(member));
    return kept >= 0 ? kept : Math.max(stays, 0);
}

const pairMark = (group, index) => {
    const kept = group.members[keptIndex(group)],
        member = group.members[index];
    return member === kept ? '' : marks.pairs[pairOf(kept, member)] || '';
};

const isMarked = (group) =>
    isLeft(group) ||
    group.members.some((member, index) => fileMark(member) || pairMark(group, index));

// What goes, in bytes, by what is marked.
const removedBytes = (group) =>
    group.members.reduce(
        (sum, member) => sum + (fileMark(member) === 'remove' ? freedOf(member) : 0),
        0,
    );

// ---- what a person does ----

function clearFiles(group) {
    setMark('leave', groupId(group), undefined);
    for (const member of group.members) setMark('files', fileKey(member), undefined);
}

// The first one to be kept has the others go; more may be kept, but of what a service has.
function markKeep(group, index) {
    const member = group.members[index];
    const others = group.members.filter((other) => other !== member);
    setMark('leave', groupId(group), undefined);
    if (fileMark(member) !== 'keep') {
        if (!actsOnFiles()) clearFiles(group);
        setMark('files', fileKey(member), 'keep');
        for (const other of others)
            if (
                !fileMark(other) &&
                canGo(other) &&
                marks.pairs[pairOf(member, other)] !== 'distinct'
            )
                setMark('files', fileKey(other), 'remove');
    } else if (others.some((other) => fileMark(other) === 'keep') && canGo(member)) {
        setMark('files', fileKey(member), 'remove');
    } else {
        clearFiles(group);
    }
    endStep();
}

// Why not, or ''.
function markRemove(group, index) {
    const member = group.members[index];
    if (member.gone) return 'It is gone already.';
    if (member.reference) return 'It lies in a reference folder: it stays.';
    if (!canGo(member)) return 'There is no file of it that could go.';
    const others = group.members.filter((other) => other !== member);
    if (fileMark(member) === 'remove') {
        setMark('files', fileKey(member), undefined);
    } else {
        if (others.every(goes)) return 'All others go already: one of a group stays.';
        setMark('leave', groupId(group), undefined);
        setMark('files', fileKey(member), 'remove');
    }
    endStep();
    return '';
}

function markLeave(group) {
    const left = isLeft(group);
    clearFiles(group);
    setMark('leave', groupId(group), left ? undefined : true);
    endStep();
}

// 'distinct' of files of the same bytes is nothing that can be.
function markPair(group, index, word) {
    const kept = group.members[keptIndex(group)],
        member = group.members[index];
    if (member === kept) return 'That is the copy to keep: choose another member.';
    if (idOf(member) === idOf(kept)) return 'They have the same bytes: there is nothing to say.';
    const pair = pairOf(kept, member);
    setMark('pairs', pair, marks.pairs[pair] === word ? undefined : word);
    if (marks.pairs[pair] === 'distinct' && fileMark(member) === 'remove')
        setMark('files', fileKey(member), undefined);
    endStep();
    return '';
}

function unmark(group) {
    clearFiles(group);
    for (const a of group.members)
        for (const b of group.members) setMark('pairs', pairOf(a, b), undefined);
    endStep();
}

// What 'report --marks' had, of groups about which nothing is said here.
function takeMarksOfData(groups) {
    for (const group of groups) {
        if (isMarked(group)) continue;
        for (const member of group.members)
            if (member.mark === 'leave') setMark('leave', groupId(group), true);
            else if (member.mark) setMark('files', fileKey(member), member.mark);
    }
    endStep();
}
