// Rules: marks for many groups at once, of those that are shown.

// What is kept of a group by each rule: numbers of members; none: the rule says nothing of it.
const best = (group, value) => {
    const values = group.members.map(value),
        most = Math.max(...values);
    return Number.isFinite(most) ? [values.indexOf(most)] : [];
};
const depthOf = (member) => member.path.split('/').length;
// In seconds; the date taken counts before the file's.
const dateOf = (member) =>
    member.taken ? Date.parse(member.taken + 'Z') / 1000 : member.mtime ?? NaN;
const keepRules = {
    chosen: { words: 'the copy that doppel chose', keep: () => [0] },
    oldest: { words: 'the oldest', keep: (group) => best(group, (m) => -dateOf(m)) },
    newest: { words: 'the newest', keep: (group) => best(group, dateOf) },
    pixels: {
        words: 'the one with most pixels',
        keep: (group) => best(group, (m) => (m.width || 0) * (m.height || 0)),
    },
    largest: { words: 'the largest file', keep: (group) => best(group, (m) => m.size ?? NaN) },
    shallow: {
        words: 'the one in the fewest folders',
        keep: (group) => best(group, (m) => -depthOf(m)),
    },
    folder: {
        words: 'all under a folder',
        keep: (group, rule) =>
            group.members.flatMap((member, i) => (isUnder(member, rule.folder) ? [i] : [])),
    },
};

const reasonOrder = ['identical', 'same-content', 'part', 'near', 'marked'];

// Why two members are in one group, at worst: each has a reason by the one found to be kept.
function reasonBetween(group, a, b) {
    const [x, y] = [group.members[a], group.members[b]];
    if (idOf(x) === idOf(y)) return 'identical';
    if (x.burst || y.burst) return 'burst'; // shots of their own go by hand
    if (x.companion_of || y.companion_of) return 'companion'; // and so does half a shot
    const reasons = [a ? x.reason : '', b ? y.reason : ''];
    return reasons.sort((p, q) => reasonOrder.indexOf(q) - reasonOrder.indexOf(p))[0];
}

// What a rule would do: of each group that it says something of, who stays and who goes.
function planRule(groups, rule) {
    return groups.flatMap((group) => {
        if (hasRecords(group) || (!rule.again && isMarked(group))) return [];
        const keep = keepRules[rule.keep].keep(group, rule).filter((i) => !group.members[i].gone);
        if (!keep.length) return [];
        const leaves = (member, index) =>
            !keep.includes(index) &&
            canGo(member) &&
            keep.some((k) => rule.reasons.has(reasonBetween(group, k, index))) &&
            keep.every((k) => marks.pairs[pairOf(group.members[k], member)] !== 'distinct');
        const remove = group.members.flatMap((member, i) => (leaves(member, i) ? [i] : []));
        return remove.length ? [{ group, keep, remove }] : [];
    });
}

function applyRule(planned) {
    for (const { group, keep, remove } of planned) {
        clearFiles(group);
        for (const i of keep) setMark('files', fileKey(group.members[i]), 'keep');
        for (const i of remove) setMark('files', fileKey(group.members[i]), 'remove');
    }
    endStep();
}

// ---- the dialog ----

function ruleNow() {
    const reasons = find('rule').querySelectorAll('[name=reason]:checked');
    return {
        keep: find('rule-keep').value,
        folder: find('rule-folder').value.trim(),
        again: find('rule-again').checked,
        reasons: new Set(Array.from(reasons, (box) => box.value)),
    };
}

function previewRule() {
    const rule = ruleNow();
    find('rule-folder').hidden = rule.keep !== 'folder';
    const planned = rule.keep === 'folder' && !rule.folder ? [] : planRule(shown, rule);
    const files = planned.reduce((sum, { remove }) => sum + remove.length, 0);
    const bytes = planned.reduce(
        (sum, { group, remove }) => sum + remove.reduce((s, i) => s + freedOf(group.members[i]), 0),
        0,
    );
    find('rule-preview').textContent =
        'Of ' +
        count(shown.length, 'group') +
        ' shown, ' +
        (planned.length
            ? count(planned.length, 'is', 'are') +
              ' marked: ' +
              count(files, 'file') +
              ', ' +
              size(bytes) +
              ' to remove'
            : 'none is marked by this');
    find('rule-apply').disabled = !planned.length;
    return planned;
}

function openRules() {
    find('rules').showModal();
    previewRule();
}

function makeRules() {
    for (const [name, rule] of Object.entries(keepRules))
        find('rule-keep').append(element('option', { value: name }, rule.words));
    find('rule').addEventListener('input', previewRule);
    find('rule-cancel').onclick = () => find('rules').close();
    find('rule').addEventListener('submit', (event) => {
        event.preventDefault();
        const planned = previewRule();
        find('rules').close();
        applyRule(planned);
        refreshAll();
        say('Marked ' + count(planned.length, 'group') + '; z takes it back');
    });
}
