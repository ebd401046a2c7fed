// Begins the page of a service: its views, and their keys.

const data = { from: 'service', groups: [], looks: true };
const list = find('list');

const views = {
    find: () => {},
    review: openReview,
    library: openLibrary,
    lists: showLists,
    jobs: showJobs,
    today: showToday,
};
const viewNow = () => (views[location.hash.slice(1)] ? location.hash.slice(1) : 'find');

function openView() {
    const now = viewNow();
    for (const link of find('views').children) {
        const here = link.hash === '#' + now;
        find('view-' + link.hash.slice(1)).hidden = !here;
        if (here) link.setAttribute('aria-current', 'page');
        else link.removeAttribute('aria-current');
    }
    document.title = 'doppel: ' + now;
    say('');
    views[now]();
}

const keyOf = (name) =>
    displayKeys[name] ||
    (viewNow() === 'review' &&
        (reviewKeys[name] ||
            (/^[1-9]$/.test(name) && (() => markAndGoOn(act.keep, Number(name) - 1)))));

function begin() {
    setTheme(remembered('theme') || 'system');
    makeBar();
    makeViewer();
    makeFind();
    makeReview();
    makeLibrary();
    makeJobs();
    window.addEventListener('hashchange', openView);
    openView();
}

begin();
