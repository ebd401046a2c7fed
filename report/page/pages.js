// Pages of PDFs: of a member and of number 1, side by side, and on them the words that differ.

const seenPair = new Map(); // of a group: [member, number of its pair of pages that is looked at]

// Boxes in thousandths of the page.
function pageMarks(marks, kind) {
    const over = shape('svg', {
        viewBox: '0 0 1000 1000',
        preserveAspectRatio: 'none',
        role: 'img',
        class: 'marks ' + kind,
    });
    over.append(shape('title', {}, count(marks.length, 'word differs', 'words differ')));
    for (const [left, top, right, bottom] of marks)
        over.append(
            shape('rect', {
                x: left - 2,
                y: top - 1,
                width: right - left + 4,
                height: bottom - top + 2,
            }),
        );
    return over;
}

function pageFigure(bytes, marks, kind, words, gone) {
    const drawn = gone || !bytes ? absent(visible(gone || 'no picture')) : picture(bytes, words);
    const over = bytes && Array.isArray(marks) && marks.length ? pageMarks(marks, kind) : null;
    return element(
        'figure',
        {},
        element('figcaption', { class: 'side' }, words),
        element('div', { class: 'framed' }, drawn, over),
    );
}

const pageOfFirst = (looks, number) =>
    ((looks[0] && looks[0].pages) || []).find((page) => page.page === number);

function pairNodes(looks, pair) {
    const first = pageOfFirst(looks, pair.of);
    const nodes = [
        pageFigure(pair.jpeg, pair.marks, 'new', 'page ' + pair.page + ' of this one', pair.gone),
    ];
    if (first)
        nodes.unshift(
            pageFigure(first.jpeg, pair.of_marks, 'gone', 'page ' + first.page + ' of number 1'),
        );
    return nodes;
}

function pagesRemark(seen) {
    const { matched_pages: matched, differing_pages: differing, pages } = seen;
    const facts = [];
    if (matched > 1) facts.push(count(matched, 'page') + ' of it are in number 1');
    if (differing) facts.push(count(differing, 'page has', 'pages have') + ' other words');
    if (differing > pages.length) facts.push('the first ' + pages.length + ' are drawn');
    return facts.join(' · ');
}

function drawPages(group, index, looks) {
    const seen = looks[index] || {},
        pages = seen.pages;
    if (index && seen.differing_pages !== undefined && !pages)
        return [
            element('p', { class: 'side' }, 'Its pages are not drawn: the report has too many.'),
        ];
    if (!index || !Array.isArray(pages) || !pages.length) return [];
    const pair = element('div', { class: 'pair-of-pages' }),
        where = element('span', { class: 'side' });
    let at = 0;
    const turn = (by) => {
        at = (at + by + pages.length) % pages.length;
        seenPair.set(group.group, [index, at]);
        pair.replaceChildren(...pairNodes(looks, pages[at]));
        where.textContent = at + 1 + ' of ' + pages.length;
    };
    const button = (word, label, by) =>
        element(
            'button',
            {
                type: 'button',
                'aria-label': label,
                onclick: (event) => {
                    event.stopPropagation();
                    turn(by);
                },
            },
            word,
        );
    pair.addEventListener('click', () => seenPair.set(group.group, [index, at]), true);
    turn(0);
    const bar = element('p', { class: 'line' });
    if (pages.length > 1)
        bar.append(button('‹', 'Pages before', -1), where, button('›', 'Next pages', 1));
    bar.append(element('span', { class: 'side' }, pagesRemark(seen)));
    return [element('div', { class: 'pages' }, bar, pair)];
}

// What is enlarged: the page that is looked at, and the one beside it.
function seenPage(group, index, looks) {
    const [member, at] = seenPair.get(group.group) || [index, 0];
    const pair = ((looks[member] || {}).pages || [])[at];
    if (!pair) return '';
    if (index === member) return pair.jpeg;
    return index ? '' : (pageOfFirst(looks, pair.of) || {}).jpeg;
}
