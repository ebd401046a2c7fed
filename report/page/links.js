// Texts that mean the same in other words: below the groups, to be read side by side.

const LINKS_AT_ONCE = 200; // more are shown when they are asked for
const tierWords = {
    'near-duplicate': 'near-duplicate',
    'very-similar': 'very similar',
    related: 'related',
};
const extentWords = {
    same: 'both texts, or half of each',
    contained: 'half of the second or more is in the first',
    contains: 'half of the first or more is in the second',
    overlaps: 'passages of both',
};

// What they look like, once that part of the page is there.
function looksOfLink(number) {
    const block = find('link-looks-' + number);
    try {
        return block && JSON.parse(block.textContent).members;
    } catch (error) {
        return null;
    }
}

// Where it is a group by its words, too.
function groupOfLinked(number) {
    const group = data.groups.find((one) => one.group === number);
    if (!group) return null;
    return element(
        'button',
        { type: 'button', class: 'to-group', onclick: () => choose(group, 0, true) },
        'in group ' + number,
    );
}

function wordsOfLinked(seen, path) {
    if (!seen) return [];
    if (seen.gone) return [absent('The file ' + visible(seen.gone))];
    const box = element('div', {
        class: 'words',
        tabIndex: 0,
        role: 'group',
        'aria-label': 'Words of ' + visible(path),
    });
    for (const [mark, words] of seen.text || []) {
        if (mark === '…')
            box.append(element('span', { class: 'gap' }, ' … ' + count(words, 'word') + ' … '));
        else box.append(element(mark === '≈' ? 'mark' : 'span', {}, words), ' ');
    }
    return [box];
}

function linkedNode(path, group, seen) {
    const [folder, name] = splitPath(path);
    return element(
        'div',
        { class: 'linked' },
        ...wordsOfLinked(seen, path),
        element('p', { class: 'name' }, ...nameNodes(name)),
        element('p', { class: 'folder' }, ...nameNodes(folder), ' ', groupOfLinked(group)),
    );
}

function linkNode(link, index) {
    const of = link.semantic,
        looks = data.looks ? looksOfLink(index + 1) || [] : [],
        title = 'link-' + (index + 1);
    const facts = ['cosine ' + Number(of.cosine.toFixed(3)), extentWords[of.extent] || of.extent];
    if (of.tier) facts.splice(1, 0, 'chance ' + chance(of.false_positive_rate));
    return element(
        'article',
        { class: 'link', 'aria-labelledby': title },
        element(
            'header',
            {},
            element('h3', { id: title }, tierWords[of.tier] || 'near in meaning'),
            element('span', {}, facts.join(' · ')),
        ),
        element(
            'div',
            { class: 'pair' },
            linkedNode(of.of_path, of.of_group, looks[0]),
            linkedNode(link.path, link.in_group, looks[1]),
        ),
    );
}

function showLinks(from) {
    const section = find('links'),
        links = data.links,
        end = Math.min(links.length, from + LINKS_AT_ONCE);
    section.querySelector('.more')?.remove();
    section.append(...links.slice(from, end).map((link, index) => linkNode(link, from + index)));
    if (end === links.length) return;
    const more = element(
        'button',
        {
            type: 'button',
            class: 'more',
            onclick: () => {
                showLinks(end);
                section.querySelectorAll('.link')[end].querySelector('.words')?.focus();
            },
        },
        'Show ' + Math.min(LINKS_AT_ONCE, links.length - end) + ' more',
    );
    section.append(more);
}

// The whole page is there.
function makeLinks() {
    if (!data.links) return;
    find('links').hidden = find('to-links').hidden = false;
    document.body.classList.add('linked-texts');
    find('to-links').textContent =
        count(data.links.length, 'text means', 'texts mean') + ' the same';
    showLinks(0);
}
