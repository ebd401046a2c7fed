// What the service is asked, and the key that it may want.

const KEY = 'doppel key';
let typing = null; // until a key is typed

const sessionKey = () => sessionStorage.getItem(KEY) || '';

// A key is typed once, for all that wait for it. @param tried the one that was refused, or ''
function wantKey(tried) {
    if (sessionKey() !== tried) return Promise.resolve();
    typing ||= new Promise((resolve, reject) => {
        find('key-words').textContent = tried
            ? 'The service does not know that key.'
            : 'The service answers those who have a key.';
        find('key-value').value = '';
        find('key').showModal();
        find('key').onclose = () => {
            const typed = find('key-value').value;
            typing = null;
            if (!typed) return reject(new Error('a key is needed'));
            sessionStorage.setItem(KEY, typed);
            return resolve();
        };
    });
    return typing;
}

const pause = (seconds) => new Promise((done) => setTimeout(done, seconds * 1000));

// An answer of the service. @param json, body what is sent, as JSON or as it is
async function api(path, { method = 'GET', json, body, tries = 5 } = {}) {
    const key = sessionKey(),
        headers = key ? { Authorization: 'Bearer ' + key } : {};
    if (json !== undefined) headers['Content-Type'] = 'application/json';
    const answer = await fetch(path, {
        method,
        headers,
        body: json === undefined ? body : JSON.stringify(json),
        credentials: 'omit',
        redirect: 'error',
    });
    if (answer.status === 401) {
        await wantKey(key);
        return api(path, { method, json, body, tries });
    }
    const wait = Number(answer.headers.get('Retry-After'));
    if (wait && tries) {
        await pause(wait);
        return api(path, { method, json, body, tries: tries - 1 });
    }
    if (answer.status === 204) return null;
    const value = await answer.json();
    if (!answer.ok) throw new Error(value.detail);
    return value;
}

const post = (path, json) => api(path, { method: 'POST', json });

// Some at a time: the service has other clients.
const waiting = [];
let asking = 0;

async function inTurn(act) {
    if (asking >= 4) await new Promise((turn) => waiting.push(turn));
    asking++;
    try {
        return await act();
    } finally {
        asking--;
        if (waiting.length) waiting.shift()();
    }
}
