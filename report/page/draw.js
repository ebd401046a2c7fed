// What a member looks like: a picture, frames and the times they share, a wave, words.

const svgNames = 'http://www.w3.org/2000/svg';

function shape(tag, attributes, ...children) {
    const made = document.createElementNS(svgNames, tag);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.append(...children);
    return made;
}

const absent = (why) => element('p', { class: 'absent' }, why);

const isBase64 = (bytes) => typeof bytes === 'string' && /^[A-Za-z0-9+/=]+$/.test(bytes);

// Only what is base64 becomes an address.
function picture(bytes, words) {
    if (!isBase64(bytes)) return absent('no picture');
    return element('img', {
        src: 'data:image/jpeg;base64,' + bytes,
        alt: words,
        decoding: 'async',
        loading: 'lazy',
        draggable: false,
    });
}

// ---- times ----

const WIDE = 600;

function lengthOf(member, segments, side) {
    const ends = segments.map((segment) => segment[side + '_end']);
    return Math.max(member.duration || 0, 0.001, ...ends);
}

// The lane of one: a bar, or its wave, and what the other has of it.
function lane(top, tall, length, segments, side, wave) {
    const nodes = [shape('rect', { class: 'bar', x: 0, y: top, width: WIDE, height: tall, rx: 3 })];
    if (wave) nodes.push(shape('path', { class: 'wave', d: wavePath(wave, top, tall) }));
    for (const segment of segments) {
        const from = (segment[side + '_start'] / length) * WIDE,
            to = (segment[side + '_end'] / length) * WIDE;
        nodes.push(
            shape('rect', {
                class: wave ? 'match' : 'heard',
                x: from,
                y: top,
                width: Math.max(to - from, 1.5),
                height: tall,
                rx: 2,
            }),
        );
    }
    return nodes;
}

// The member above, number 1 below, and between them what they share.
function timeline(member, kept, waves) {
    const segments = member.segments || [];
    const tall = waves ? 56 : 12,
        gap = 26,
        bottom = tall + gap;
    const a = lengthOf(member, segments, 'a'),
        b = lengthOf(kept, segments, 'b');
    const svg = shape('svg', { viewBox: '0 0 ' + WIDE + ' ' + (bottom + tall), role: 'img' });
    const places = segments
        .slice(0, 6)
        .map(
            (segment) =>
                clock(segment.a_start, 1) +
                ' to ' +
                clock(segment.a_end, 1) +
                ' is ' +
                clock(segment.b_start, 1) +
                ' to ' +
                clock(segment.b_end, 1) +
                ' of number 1',
        );
    svg.append(shape('title', {}, places.join('; ') || 'nothing is known of what they share'));
    for (const segment of segments) {
        const at = (value, length) => ((value / length) * WIDE).toFixed(2);
        svg.append(
            shape('polygon', {
                class: 'match',
                points:
                    at(segment.a_start, a) +
                    ',' +
                    tall +
                    ' ' +
                    at(segment.a_end, a) +
                    ',' +
                    tall +
                    ' ' +
                    at(segment.b_end, b) +
                    ',' +
                    bottom +
                    ' ' +
                    at(segment.b_start, b) +
                    ',' +
                    bottom,
            }),
        );
    }
    svg.append(...lane(0, tall, a, segments, 'a', waves && waves[0]));
    svg.append(...lane(bottom, tall, b, segments, 'b', waves && waves[1]));
    return [
        element('p', { class: 'side' }, 'this one, ' + clock(a)),
        svg,
        element('p', { class: 'side' }, 'number 1, ' + clock(b)),
    ];
}

const placesOf = (member) =>
    (member.segments || [])
        .slice(0, 3)
        .map((segment) =>
            element(
                'p',
                { class: 'side' },
                clock(segment.a_start, 1) +
                    '–' +
                    clock(segment.a_end, 1) +
                    ' is ' +
                    clock(segment.b_start, 1) +
                    '–' +
                    clock(segment.b_end, 1) +
                    ' of number 1' +
                    (Math.abs((segment.speed || 1) - 1) > 0.002
                        ? ', at ' + segment.speed.toFixed(3) + ' times its speed'
                        : '') +
                    (segment.repeat ? ', a repeat' : ''),
            ),
        );

// ---- videos ----

function strip(frames, words) {
    return element(
        'div',
        { class: 'strip' },
        ...frames.map((frame) =>
            element(
                'figure',
                {},
                frame.jpeg ? picture(frame.jpeg, words + ' at ' + clock(frame.at, 1)) : absent('–'),
                element('figcaption', {}, clock(frame.at, 1)),
            ),
        ),
    );
}

function drawVideo(member, kept, seen) {
    if (!member.segments)
        return seen.frames && seen.frames[0].jpeg
            ? [element('div', { class: 'poster' }, picture(seen.frames[0].jpeg, 'a frame'))]
            : [];
    const nodes = [];
    if (seen.frames)
        nodes.push(element('p', { class: 'side' }, 'this one'), strip(seen.frames, 'this video'));
    if (seen.kept_frames)
        nodes.push(
            element('p', { class: 'side' }, 'number 1'),
            strip(seen.kept_frames, 'number 1'),
        );
    return [...nodes, ...timeline(member, kept, null), ...placesOf(member)];
}

// ---- recordings ----

function waveOf(seen) {
    if (!seen || typeof seen.wave !== 'string') return null;
    let bytes;
    try {
        bytes = atob(seen.wave);
    } catch (error) {
        return null;
    }
    return Int8Array.from(bytes, (char) => char.charCodeAt(0));
}

// Pairs of the least and the largest sample, as one outline.
function wavePath(wave, top, tall) {
    const buckets = wave.length >> 1,
        middle = top + tall / 2,
        half = tall / 2 / 127;
    let upper = '',
        lower = '';
    for (let i = 0; i < buckets; i++) {
        const x = ((i / buckets) * WIDE).toFixed(1);
        upper +=
            (i ? 'L' : 'M') + x + ' ' + (middle - Math.max(wave[2 * i + 1], 1) * half).toFixed(1);
        lower = 'L' + x + ' ' + (middle - Math.min(wave[2 * i], -1) * half).toFixed(1) + lower;
    }
    return upper + lower + 'Z';
}

function drawAudio(member, kept, seen, seenKept) {
    const wave = waveOf(seen),
        other = waveOf(seenKept);
    if (member.segments && wave)
        return [...timeline(member, kept, [wave, other]), ...placesOf(member)];
    if (!wave) return [];
    const svg = shape('svg', { viewBox: '0 0 ' + WIDE + ' 56', role: 'img' });
    svg.append(shape('title', {}, 'its wave'), ...lane(0, 56, 1, [], 'a', wave));
    return [svg, element('p', { class: 'side' }, clock(member.duration || seen.seconds || 0))];
}

// ---- texts ----

function drawWords(member, seen) {
    const runs = seen.diff || seen.text;
    const box = element('div', {
        class: 'words',
        tabIndex: 0,
        role: 'group',
        'aria-label': seen.diff ? 'What differs from number 1' : 'Its beginning',
    });
    const remark =
        member.reason === 'same-content'
            ? 'the same words, but for their case, punctuation or markup'
            : 'more differs than can be shown here; it begins:';
    if (!runs) return [];
    const tags = { '-': 'del', '+': 'ins', '=': 'span' };
    for (const [mark, words] of runs) {
        if (mark === '…')
            box.append(element('span', { class: 'gap' }, ' … ' + count(words, 'word') + ' … '));
        else box.append(element(tags[mark] || 'span', {}, words), ' ');
    }
    if (seen.diff && !seen.diff.some((run) => run[0] === '-' || run[0] === '+'))
        box.prepend(
            element(
                'span',
                { class: 'gap' },
                seen.cut ? 'the first 64 kB have the same words ' : 'the same words ',
            ),
        );
    return seen.diff === null ? [element('p', { class: 'side' }, remark), box] : [box];
}

// ---- parts of pictures ----

// A rectangle of a picture of so many pixels, turned about its middle.
function outline(where, wide, tall, label) {
    const x = where.left * wide,
        y = where.top * tall,
        width = (where.right - where.left) * wide,
        height = (where.bottom - where.top) * tall;
    const turn = 'rotate(' + [where.angle || 0, x + width / 2, y + height / 2].join(' ') + ')';
    const frame = shape('rect', { x, y, width, height });
    const words = shape('text', { x, y, dx: '.3em', dy: '1.1em', 'font-size': tall / 12 }, label);
    return shape('g', { class: 'outline', transform: turn }, frame, label ? words : '');
}

// What a member shows of number 1; on number 1 what each other one shows of it, by their numbers.
function outlinesOf(group, index) {
    if (index) return [[group.members[index].where?.query, '']];
    return group.members.map((member, number) => [number && member.where?.item, number + 1]);
}

// A picture, and over it the parts that are shared.
function framed(group, index, image) {
    const { width, height } = group.members[index];
    const outlines = outlinesOf(group, index).filter(([where]) => where);
    if (!outlines.length || !width || !height) return image;
    const over = shape('svg', { viewBox: '0 0 ' + width + ' ' + height, role: 'img' });
    over.append(shape('title', {}, 'what they share'));
    over.append(...outlines.map(([where, label]) => outline(where, width, height, label)));
    return element('div', { class: 'framed' }, image, over);
}

// ---- any ----

// @param looks what is known of the group's members, or null: not yet
function drawLook(group, index, looks) {
    const member = group.members[index];
    if (!data.looks) return [];
    if (!looks) return [absent('…')];
    const kept = group.members[0];
    let seen = looks[index] || {};
    const gone = seen.gone;
    if (typeof seen.as === 'number') seen = looks[seen.as] || {};
    const nodes = [];
    if (gone)
        nodes.push(
            absent(
                (member.line ? 'The record ' : 'The file ') +
                    (/^(is|has|came) /.test(gone) ? '' : 'cannot be looked at: ') +
                    visible(gone),
            ),
        );
    if (group.kind === 'image' && !gone)
        nodes.push(framed(group, index, picture(seen.jpeg, visible(member.path))));
    if (group.kind === 'video') nodes.push(...drawVideo(member, kept, seen));
    if (group.kind === 'audio') nodes.push(...drawAudio(member, kept, seen, looks[0]));
    if (group.kind === 'text')
        nodes.push(...drawPages(group, index, looks), ...drawWords(member, seen));
    return nodes;
}
