// Members of a group, enlarged, one in the place of the other: flipped through, or as what differs.

const view = {
    group: null,
    at: 0, // the member that is seen
    other: 0, // the one before it
    differs: false,
    zoom: 1,
    x: 0, // the centre, moved by so many pixels
    y: 0,
};

const seenPicture = (group, index) => {
    const looks = data.looks ? looksOf(group) : null;
    let seen = (looks && looks[index]) || {};
    if (typeof seen.as === 'number') seen = looks[seen.as] || {};
    const bytes =
        group.kind === 'text'
            ? seenPage(group, index, looks || [])
            : seen.jpeg || (seen.frames && seen.frames[0].jpeg);
    return isBase64(bytes) ? 'data:image/jpeg;base64,' + bytes : '';
};

// The other one is the copy to keep, or beside that the first that is not.
const otherThan = (group, index) => {
    const kept = keptIndex(group);
    return index !== kept ? kept : group.members.findIndex((member, i) => i !== kept);
};

function seeGroup(group, index) {
    view.group = group;
    view.at = index;
    view.other = otherThan(group, index);
    view.differs = false;
    resetZoom();
    showView();
}

function openViewer(group, index) {
    if (!group) return;
    if (!seenPicture(group, index)) return say('There is no picture of it.');
    find('layers').replaceChildren(
        element('img', { id: 'under', alt: '', draggable: false }),
        element('img', { id: 'seen', draggable: false }),
    );
    find('viewer').showModal();
    seeGroup(group, index);
}

// As it stands beside number 1, of which it may be a mirrored or turned copy.
function place(image, group, index) {
    const stage = find('stage').getBoundingClientRect();
    const turn = group.members[index].transform || {};
    const across = (turn.rotated || 0) % 180 !== 0;
    image.src = seenPicture(group, index);
    image.style.width = (across ? stage.height : stage.width) + 'px';
    image.style.height = (across ? stage.width : stage.height) + 'px';
    image.style.transform =
        'translate(-50%, -50%)' +
        (turn.mirrored ? ' scaleX(-1)' : '') +
        (turn.rotated ? ' rotate(' + -turn.rotated + 'deg)' : '');
}

function showView() {
    const { group, at, other, differs } = view;
    const member = group.members[at];
    const words = differs
        ? 'what differs between ' + (at + 1) + ' and ' + (other + 1)
        : at + 1 + ' of ' + group.members.length;
    place(find('seen'), group, at);
    find('under').hidden = !differs;
    if (differs) place(find('under'), group, other);
    find('stage').classList.toggle('differs', differs);
    find('seen').alt = visible(nameOf(member));
    find('layers').style.transform =
        'translate(' + view.x + 'px, ' + view.y + 'px) scale(' + view.zoom + ')';
    const [, name] = partsOf(member);
    const state = stateOf(group, at);
    find('view-where').textContent =
        words + (view.zoom > 1 ? ', ' + Math.round(view.zoom * 100) + ' %' : '');
    find('view-name').replaceChildren(...nameNodes(name));
    find('view-facts').textContent = [factsOf(member), at ? nearness(member) : '']
        .filter(Boolean)
        .join(' · ');
    find('view-state').textContent = stateWords[state] || '';
    find('view-state').className = 'reason ' + state;
}

function resetZoom() {
    view.zoom = 1;
    view.x = view.y = 0;
}

// The point of the picture that is at (x, y) from the centre stays there.
function zoomBy(factor, x = 0, y = 0) {
    const zoom = Math.min(Math.max(view.zoom * factor, 1), 16);
    view.x = zoom === 1 ? 0 : x - ((x - view.x) * zoom) / view.zoom;
    view.y = zoom === 1 ? 0 : y - ((y - view.y) * zoom) / view.zoom;
    view.zoom = zoom;
    showView();
}

function seeMember(index) {
    if (index === view.at || !view.group.members[index]) return;
    view.other = view.at;
    view.at = index;
    showView();
}

function stepView(by) {
    const members = view.group.members.length;
    seeMember((view.at + by + members) % members);
}

const viewKeys = {
    ArrowRight: () => stepView(1),
    ArrowLeft: () => stepView(-1),
    ' ': () => seeMember(view.other),
    x: () => {
        view.differs = !view.differs;
        showView();
    },
    '+': () => zoomBy(1.5),
    '=': () => zoomBy(1.5),
    '-': () => zoomBy(1 / 1.5),
    0: () => {
        resetZoom();
        showView();
    },
    v: () => find('viewer').close(),
};

// A key while it is open: of the viewer, or a mark of the member that is seen.
function onViewerKey(key) {
    if (viewKeys[key]) return viewKeys[key]();
    if (view.group.query) return /^[1-9]$/.test(key) ? seeMember(key - 1) : null;
    if (!/^([1-9]|[rludsz]|Enter|[jk])$/.test(key) || !keyOf(key)) return null;
    chosen = view.at;
    if (key === 'j' || key === 'k') {
        moveGroup(key === 'j' ? 1 : -1);
        return seeGroup(current, 0);
    }
    if (/[1-9]/.test(key) && view.group.members[key - 1]) seeMember(key - 1);
    runKey(key);
    return showView();
}

function makeViewer() {
    const stage = find('stage'),
        fromCentre = (event) => {
            const box = stage.getBoundingClientRect();
            return [event.clientX - box.x - box.width / 2, event.clientY - box.y - box.height / 2];
        };
    stage.addEventListener(
        'wheel',
        (event) => {
            event.preventDefault();
            zoomBy(event.deltaY < 0 ? 1.2 : 1 / 1.2, ...fromCentre(event));
        },
        { passive: false },
    );
    stage.addEventListener('pointermove', (event) => {
        if (!event.buttons || view.zoom === 1) return;
        view.x += event.movementX;
        view.y += event.movementY;
        showView();
    });
    stage.addEventListener('dblclick', (event) => {
        if (view.zoom > 1) resetZoom();
        zoomBy(view.zoom > 1 ? 1 : 3, ...fromCentre(event));
    });
    find('view-flip').onclick = () => seeMember(view.other);
    find('view-differs').onclick = viewKeys.x;
    find('view-close').onclick = () => find('viewer').close();
    find('viewer').addEventListener('close', () => {
        find('layers').replaceChildren();
        if (!view.group.query) choose(view.group, view.at, true);
    });
    window.addEventListener('resize', () => find('viewer').open && showView());
}
