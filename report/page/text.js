// Words for people, and elements made of them. Nothing is ever parsed as HTML here.

const find = (id) => document.getElementById(id);

// An element; props are properties, but for `class`, `data-…`, `aria-…` and `role`.
function element(tag, props, ...children) {
    const made = document.createElement(tag);
    for (const [key, value] of Object.entries(props || {})) {
        if (key === 'class') made.className = value;
        else if (key.includes('-') || key === 'role') made.setAttribute(key, value);
        else made[key] = value;
    }
    made.append(...children.filter((child) => child !== null && child !== undefined));
    return made;
}

// Characters that would hide, or turn around, what stands beside them.
const odd =
    /[\0-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/;

const escaped = (char) => '\\u' + char.codePointAt(0).toString(16).padStart(4, '0');

// A name as nodes, with such characters spelled out.
function nameNodes(name) {
    const nodes = [];
    let plain = '';
    for (const char of name) {
        if (!odd.test(char)) {
            plain += char;
            continue;
        }
        nodes.push(plain, element('span', { class: 'odd' }, escaped(char)));
        plain = '';
    }
    nodes.push(plain);
    return nodes;
}

const visible = (name) =>
    Array.from(name, (char) => (odd.test(char) ? escaped(char) : char)).join('');

// As a shell takes it for one word.
const quoted = (word) =>
    /^[\w@%+=:,./-]+$/.test(word) ? word : "'" + word.replaceAll("'", "'\\''") + "'";

function size(bytes) {
    const units = ['B', 'kB', 'MB', 'GB', 'TB'];
    let i = 0;
    for (; bytes >= 999.5 && i + 1 < units.length; i++) bytes /= 1000;
    return (i === 0 || bytes >= 99.5 ? Math.round(bytes) : bytes.toPrecision(2)) + ' ' + units[i];
}

// What is freed when a file goes: nothing where it has names elsewhere.
const freedOf = (member) => member.frees ?? member.size ?? 0;

function clock(seconds, decimals = 0) {
    const unit = 10 ** decimals;
    const whole = Math.round(seconds * unit) / unit;
    const hours = Math.floor(whole / 3600),
        minutes = Math.floor(whole / 60) % 60;
    const rest = (whole % 60).toFixed(decimals).padStart(decimals ? 3 + decimals : 2, '0');
    return hours
        ? hours + ':' + String(minutes).padStart(2, '0') + ':' + rest
        : minutes + ':' + rest;
}

const powerOfTen = (exponent) =>
    '10' + String(exponent).replace(/\d/g, (digit) => '⁰¹²³⁴⁵⁶⁷⁸⁹'[digit]);

// How often two files that are unrelated would be this near.
function chance(rate) {
    if (rate < 1e-18) return 'under one in ' + powerOfTen(18);
    const once = 1 / rate;
    for (const [name, value] of [
        ['billion', 1e9],
        ['million', 1e6],
        ['thousand', 1e3],
    ])
        if (once >= value)
            return (
                'one in ' +
                (once >= value * 1e6
                    ? powerOfTen(Math.floor(Math.log10(once)))
                    : Number((once / value).toPrecision(2)).toLocaleString('en') + ' ' + name)
            );
    return 'one in ' + Number(once.toPrecision(2));
}

const count = (number, one, many = one + 's') =>
    number.toLocaleString('en') + ' ' + (number === 1 ? one : many);
const kindNames = {
    image: 'pictures',
    video: 'videos',
    audio: 'recordings',
    text: 'texts',
    unknown: 'files',
};
// What people read for the reasons that are keys of the data.
const reasonOf = { part: 'contained', kept: 'keep' };
const relationOf = {
    same: 'the same',
    contains: 'a part of it',
    contained: 'has it as a part',
    overlaps: 'shares a part',
    shared: 'has a loop or a sample of it',
    burst: 'another shot of a burst',
};
// In a group, to number 1.
const partOf = { contains: 'has number 1 as a part', contained: 'a part of number 1' };
const oneOf = {
    image: 'picture',
    video: 'video',
    audio: 'recording',
    text: 'text',
    unknown: 'file',
};
