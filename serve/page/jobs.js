// Jobs: what is ingested afterwards, and how far it is.

const stateOfJob = {
    waiting: 'waits',
    running: 'runs',
    done: 'done',
    failed: 'failed',
    cancelled: 'cancelled',
};
const isUnderWay = (job) => job.state === 'waiting' || job.state === 'running';

async function cancelJob(id) {
    try {
        await api('v1/jobs/' + id, { method: 'DELETE' });
        say('Job ' + id + ' is cancelled; what was decided stays');
    } catch (error) {
        say(visible(error.message));
    }
    showJobs();
}

function progressOf(job) {
    const words = job.decided.toLocaleString('en') + ' of ' + count(job.inputs, 'input');
    return element(
        'div',
        {},
        element('progress', { max: job.inputs || 1, value: job.decided, 'aria-label': words }),
        ' ' + words + (job.unreadable ? ', ' + job.unreadable + ' unreadable' : ''),
    );
}

function jobRow(job) {
    const cancel = element(
        'button',
        {
            type: 'button',
            onclick: () => cancelJob(job.id),
            'aria-label': 'Cancel job ' + job.id,
        },
        'Cancel',
    );
    return element(
        'tr',
        {},
        cell(String(job.id)),
        cell(stateOfJob[job.state] || job.state),
        cell(progressOf(job)),
        cell(moment(job.added)),
        cell(isUnderWay(job) ? cancel : visible(job.problem || '')),
    );
}

let jobsTimer = 0;

// Again and again while something is under way.
async function showJobs() {
    clearTimeout(jobsTimer);
    try {
        const { jobs } = await api('v1/jobs?limit=50');
        if (viewNow() !== 'jobs') return;
        const busy = document.activeElement.getAttribute('aria-label'); // its button is made again
        find('jobs-table').replaceChildren(
            jobs.length
                ? tableOf(['Job', 'State', 'Progress', 'Since, UTC', ''], jobs.map(jobRow))
                : element('p', { class: 'nothing' }, 'There are no jobs.'),
        );
        for (const button of find('jobs-table').querySelectorAll('button'))
            if (button.getAttribute('aria-label') === busy) button.focus();
        if (jobs.some(isUnderWay)) jobsTimer = setTimeout(showJobs, 1000);
    } catch (error) {
        say(visible(error.message));
    }
}

async function addJob(files) {
    const body = new FormData();
    for (const file of files) body.append('file', file, file.name);
    say('Sending ' + count(files.length, 'file') + ' …');
    try {
        const { id } = await api('v1/jobs', { method: 'POST', body });
        say('Job ' + id + ' has begun');
    } catch (error) {
        say(visible(error.message));
    }
    showJobs();
}

function makeJobs() {
    find('add').onclick = () => find('added').click();
    find('added').onchange = () => {
        addJob(Array.from(find('added').files));
        find('added').value = '';
    };
}
