// A member of a group: what is known of it, and what a person may say of it.

const degrees = (angle, sides) => Math.abs(angle).toFixed(4) + '° ' + sides[angle < 0 ? 1 : 0];

function factsOf(member) {
    const facts = member.size === undefined ? [] : [size(member.size)]; // there is a file
    if (member.width) facts.push(member.width + ' × ' + member.height);
    if (member.duration) facts.push(clock(member.duration, member.duration < 10 ? 1 : 0));
    const sung = [member.artist, member.title, member.album].filter(Boolean);
    if (sung.length) facts.push(visible(sung.join(' – ')));
    if (member.words) facts.push(count(member.words, 'word'));
    if (member.source) facts.push(visible(member.source));
    if (member.date) facts.push(visible(member.date));
    if (member.taken) facts.push('taken ' + member.taken.replace('T', ' '));
    else if (member.mtime) facts.push(new Date(member.mtime * 1000).toISOString().slice(0, 10));
    if (member.camera) facts.push(visible(member.camera));
    if (member.latitude !== undefined)
        facts.push(degrees(member.latitude, 'NS') + ' ' + degrees(member.longitude, 'EW'));
    if (member.companion_of) facts.push('of one shot with ' + splitPath(member.companion_of)[1]);
    if (member.burst) facts.push('another shot of a burst');
    return facts.join(' · ');
}

// How near it is to the one found to be kept; of the same content there is nothing to measure.
function nearness(member) {
    const facts = [];
    if (!member.relation && !member.bits) return '';
    if (member.reason !== 'part' && partOf[member.relation])
        facts.push(partOf[member.relation]);
    if (member.bits) facts.push('distance ' + member.distance + ' of ' + member.bits);
    if (member.similarity !== undefined)
        facts.push('similarity ' + Number(member.similarity.toFixed(3)));
    if (member.false_positive_rate !== undefined)
        facts.push('chance ' + chance(member.false_positive_rate));
    const turned = member.transform || {};
    if (turned.mirrored) facts.push('mirrored');
    if (turned.rotated) facts.push('rotated by ' + turned.rotated + '°');
    if (turned.cropped) facts.push('cropped');
    return facts.join(' · ');
}

function splitPath(path) {
    const slash = path.lastIndexOf('/');
    return [path.slice(0, slash + 1), path.slice(slash + 1)];
}

// Of a record where it stands, and its id.
function placeOf(member) {
    const line = (member.path || 'a stream') + ':' + member.line;
    return member.record === undefined ? ['', line] : [line, member.record];
}

// Its folder and its name; what has no file has a name alone.
function partsOf(member) {
    if (member.line) return placeOf(member);
    return member.path === member.name ? ['', member.path] : splitPath(member.path);
}

const nameOf = (member) => (member.line ? placeOf(member)[1] : member.path);

// What becomes of a member: '', or a key of stateWords.
const stateWords = { keep: 'keep', remove: 'remove', left: 'left alone', gone: 'gone' };
const stateOf = (group, index) =>
    isLeft(group) && !group.members[index].gone ? 'left' : fileMark(group.members[index]);

// Where a file is, as an address; '' where that is not known.
function addressOf(member) {
    const bytes =
        member.path_base64 && isBase64(member.path_base64) ? atob(member.path_base64) : '';
    const path = bytes
        ? Array.from(bytes, (byte) => '%' + byte.charCodeAt(0).toString(16).padStart(2, '0')).join(
              '',
          )
        : encodeURIComponent(member.path);
    const absolute = (bytes || member.path).startsWith('/')
        ? ''
        : encodeURIComponent((data.folder || '') + '/');
    if (member.line || member.size === undefined || (absolute && !data.folder)) return '';
    return 'file://' + (absolute + path).replaceAll('%2F', '/').replaceAll('%2f', '/');
}

const absolutePath = (member) =>
    member.path.startsWith('/') || !data.folder ? member.path : data.folder + '/' + member.path;

const actButton = (group, index, word, label, pressed, act) =>
    element(
        'button',
        {
            type: 'button',
            class: word.toLowerCase(),
            'aria-pressed': String(pressed),
            tabIndex: -1,
            onclick: () => {
                choose(group, index, false);
                act();
            },
            'aria-label': label + ' ' + visible(nameOf(group.members[index])),
        },
        word,
    );

// What can be said of it, and where it is.
function actNode(group, index) {
    const member = group.members[index],
        kept = keptIndex(group),
        mark = pairMark(group, index);
    // Of the same bytes there is nothing to say.
    const alike = idOf(member) === idOf(group.members[kept]);
    const button = (...rest) => actButton(group, index, ...rest);
    const address = addressOf(member);
    const nodes = [];
    if (member.gone || group.query) return null;
    if (!hasRecords(group))
        nodes.push(button('Keep', 'Keep', stateOf(group, index) === 'keep', () => act.keep(index)));
    if (!hasRecords(group) && actsOnFiles())
        nodes.push(
            button('Remove', 'Remove', stateOf(group, index) === 'remove', () => act.remove()),
        );
    if (!alike)
        nodes.push(
            button('Same', 'Same as the copy to keep:', mark === 'same', () => act.pair('same')),
            button('Distinct', 'Distinct from the copy to keep:', mark === 'distinct', () =>
                act.pair('distinct'),
            ),
        );
    // A page of a server may not open what is no page of a server.
    if (address && !data.action && actsOnFiles())
        nodes.push(
            element(
                'a',
                {
                    href: address.slice(0, address.lastIndexOf('/') + 1),
                    target: '_blank',
                    rel: 'noreferrer',
                    tabIndex: -1,
                    title: 'Open the folder (o)',
                },
                'Folder',
            ),
        );
    return element('div', { class: 'act' }, ...nodes);
}

const reasonClass = (member, kept) =>
    kept
        ? 'kept'
        : /^[a-z-]+$/.test(member.reason) && member.reason !== 'kept'
          ? member.reason
          : '';

// The other names of its file, which go with it; nodes of text.
function otherNames(member) {
    const nodes = (member.names || []).flatMap(({ path }, index) => [
        index ? ', ' : 'also ',
        element('bdi', {}, ...nameNodes(path)),
    ]);
    if (member.frees === 0)
        nodes.push((nodes.length ? ', ' : '') + 'has names elsewhere: frees nothing');
    return nodes;
}

// Of what was found its relation to what was asked about, which is the first.
function reasonWords(group, index, kept) {
    const member = group.members[index];
    if (group.query) return index ? relationOf[member.relation] : 'asked about';
    if (kept) return 'keep';
    return member.reason === 'kept'
        ? 'found as the copy to keep'
        : reasonOf[member.reason] || member.reason;
}

// Its name, and the folder it lies in. @param number that it has on the page; '': none
function nameLines(member, number) {
    const [folder, name] = partsOf(member);
    return [
        element(
            'p',
            { class: 'name' },
            number ? element('span', { class: 'number' }, number) : null,
            element('bdi', {}, ...nameNodes(name)),
        ),
        folder ? element('p', { class: 'folder' }, element('bdi', {}, ...nameNodes(folder))) : null,
    ];
}

const tagNodes = (member) =>
    [...(member.lists || []), ...(member.labels || [])].map((word) =>
        element('span', { class: 'tag' }, visible(String(word))),
    );

// @param look what was drawn of it before, or null
function memberNode(group, index, looks, look) {
    const member = group.members[index],
        kept = keptIndex(group) === index,
        state = stateOf(group, index),
        mark = pairMark(group, index);
    const others = otherNames(member);
    const why = reasonWords(group, index, kept);
    const drawn =
        look ||
        element(
            'div',
            { class: 'look', onclick: () => openViewer(group, index) },
            ...drawLook(group, index, looks),
        );
    return element(
        'li',
        {
            class: ['member', kept ? 'kept' : '', state, mark].filter(Boolean).join(' '),
            tabIndex: group === current && index === chosen ? 0 : -1,
            'data-index': index,
            'aria-label': [
                visible(partsOf(member)[1]),
                why,
                state || mark ? 'marked ' + (state || mark) : '',
            ]
                .filter(Boolean)
                .join(', '),
        },
        drawn,
        ...nameLines(member, String(index + 1)),
        others.length ? element('p', { class: 'folder' }, ...others) : null,
        element(
            'p',
            {},
            kept && state === 'keep'
                ? null
                : element('span', { class: 'reason ' + reasonClass(member, kept) }, why),
            state ? element('span', { class: 'state ' + state }, stateWords[state]) : null,
            member.reference ? element('span', { class: 'tag' }, 'reference') : null,
            nearness(member),
        ),
        element('p', { class: 'what' }, factsOf(member)),
        ...tagNodes(member),
        actNode(group, index),
    );
}
