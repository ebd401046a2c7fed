// Begins the page of a report: the data, the sums above, the keys.

const data = JSON.parse(find('data').textContent);
const list = find('list');

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

const doExport = () => exportMarks(data.groups);

// ---- keys ----

const keys = {
    ...displayKeys,
    ...groupKeys,
    Enter: () => act.keep(chosen),
    r: () => act.remove(),
    l: () => act.leave(),
    d: () => act.pair('distinct'),
    s: () => act.pair('same'),
    z: () => act.takeBack(),
    o: () => act.openFolder(),
    m: openRules,
    a: openDoing,
    Z: () => data.action && undoLast(),
    e: doExport,
};

const keyOf = (name) =>
    keys[name] || (/^[1-9]$/.test(name) ? () => act.keep(Number(name) - 1) : null);

// ---- the beginning ----

// What its members look like, once that part of the page is there.
function looksOf(group) {
    const block = find('looks-' + group.group);
    if (!block) return null;
    try {
        return JSON.parse(block.textContent).members;
    } catch (error) {
        return null;
    }
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
    find('export').onclick = doExport;
    find('many').onclick = openRules;
    makeBar();
    const waiting = setInterval(fillWaiting, 300);
    document.addEventListener('DOMContentLoaded', () => {
        clearInterval(waiting);
        fillWaiting();
        makeLinks();
    });
}

begin();
