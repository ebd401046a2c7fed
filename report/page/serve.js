// A page that is served acts: what is marked goes, and comes back.

const done = {
    gone: new Map(), // path -> the run that had it go
    waits: false, // for an answer
};
const goneWords = { trash: 'in the trash', 'move-to': 'moved away' };
const pathOf = (member) => member.path_base64 || member.path;

async function ask(what, body) {
    const options = body === undefined ? {} : { method: 'POST', body };
    const answer = await fetch(what, { ...options, credentials: 'omit', redirect: 'error' });
    const result = await answer.json();
    if (result.error) throw new Error(result.error);
    return result;
}

// What is gone by now: it has no mark any more; what came back has it again.
function takeState(result) {
    const gone = new Map(result.gone.map((file) => [file.path_base64 || file.path, file.run]));
    for (const group of data.groups)
        for (const member of group.members) {
            const was = member.gone,
                is = gone.has(pathOf(member));
            member.gone = is;
            if (is && !was) setMark('files', fileKey(member), undefined);
            if (was && !is) setMark('files', fileKey(member), 'remove');
        }
    forgetSteps();
    done.gone = gone;
    find('undo').hidden = !gone.size;
    refreshAll();
}

// One at a time; what it says, or why not, is shown.
async function wait(words, what, body, tell) {
    if (done.waits) return;
    done.waits = true;
    find('act').disabled = find('undo').disabled = true;
    say(words);
    try {
        const result = await ask(what, body);
        takeState(result);
        say(tell(result) + failures(result));
    } catch (error) {
        say('Not done: ' + visible(String(error.message)));
    }
    done.waits = false;
    find('act').disabled = find('undo').disabled = false;
    sumUp();
}

const failures = ({ failed }) =>
    failed.length
        ? '; ' +
          count(failed.length, 'file') +
          ' left as it is: ' +
          failed
              .slice(0, 3)
              .map((file) => visible(file.path) + ' ' + visible(file.reason))
              .join('; ')
        : '';

const markedText = () =>
    markLines(data.groups)
        .map((line) => line + '\n')
        .join('');

function doMarked() {
    find('doing').close();
    wait('Doing it …', 'act', markedText(), ({ files, bytes, run }) =>
        files
            ? count(files, 'file') +
              ', ' +
              size(bytes) +
              ' ' +
              goneWords[data.action] +
              "; Z takes it back, and so does 'doppel undo " +
              run +
              "'"
            : 'Nothing was done',
    );
}

function undoLast() {
    const run = Math.max(...done.gone.values());
    if (!done.gone.size) return say('Nothing was done yet.');
    return wait(
        'Taking it back …',
        'undo',
        JSON.stringify({ run }),
        ({ files }) => count(files, 'file') + ' brought back',
    );
}

function openDoing() {
    const { files, bytes } = sums();
    if (!data.action || done.waits) return undefined;
    if (!files) return say('Nothing is marked for removal.');
    find('doing-words').textContent =
        count(files, 'file') +
        ', ' +
        size(bytes) +
        (data.action === 'trash' ? ' go into the trash.' : ' are moved away.');
    return find('doing').showModal();
}

function makeServe() {
    find('act').hidden = !data.action;
    for (const node of document.querySelectorAll('[data-page]'))
        node.hidden = (node.dataset.page === 'served') !== Boolean(data.action);
    if (!data.action) return;
    stateWords.gone = goneWords[data.action];
    find('act').onclick = openDoing;
    find('undo').onclick = undoLast;
    find('doing-yes').onclick = doMarked;
    find('doing-no').onclick = () => find('doing').close();
    ask('state').then(takeState, (error) => say(visible(String(error.message))));
}
