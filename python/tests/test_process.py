"""What a process does to the package: signals, forks, threads, its end; and what is left behind."""

import gc
import os
import resource
import threading

import numpy
import pytest
from conftest import PRELOADED

import doppel

SEA = "pictures/originals/sea.jpg"


def test_progress_failures_and_cancel(media, tmp_path):
    text = tmp_path / "text.txt"
    text.write_text("just some words")
    run = doppel.Run(jobs=1, timeout=30)
    assert doppel.hash(media / SEA, run=run)
    run.cancel()
    assert doppel.hash(media / SEA, run=run), "what is idle is not cancelled"
    for bad in ({"jobs": -1}, {"timeout": -1}, {"sandbox": "no"}, {"max_pixels": 2**70}):
        with pytest.raises(doppel.ArgumentError):
            doppel.Run(**bad)
    with pytest.raises(doppel.Error):
        doppel.hash(media / SEA, run=doppel.Run(max_memory=5))


def test_limits_hold(media):
    with pytest.raises(doppel.InputError) as caught:
        doppel.hash(media / SEA, run=doppel.Run(max_pixels=1000))
    assert caught.value.status == "limit"


def test_threads_share_a_run(media):
    wanted = doppel.hash(media / SEA)
    results = []
    threads = [
        threading.Thread(target=lambda: results.append(doppel.hash(media / SEA)))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [wanted] * 8


def test_a_fork_has_workers_of_its_own(media, run_python):
    assert "done" in run_python(
        f"""
import os, doppel
path = {str(media / SEA)!r}
run = doppel.Run()
wanted = doppel.hash(path, run=run), doppel.hash(path)
child = os.fork()
if child == 0:
    assert doppel.hash(path) == wanted[0]
    try:
        doppel.hash(path, run=run)
    except doppel.ArgumentError:
        os._exit(7)
    os._exit(1)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
assert doppel.hash(path, run=run) == doppel.hash(path) == wanted[0]
print("done")
"""
    )


def test_ctrl_c_ends_a_call(run_python, tmp_path):
    fifo = tmp_path / "audio.wav"
    os.mkfifo(fifo)
    assert "interrupted" in run_python(
        """
import os, signal, threading, time, numpy, doppel
samples = numpy.random.default_rng(1).standard_normal(8000 * 3600, "f4")
threading.Timer(1, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
began = time.time()
try:
    while time.time() < began + 30:
        doppel.hash((samples, 8000))
except KeyboardInterrupt:
    print("interrupted")
assert time.time() < began + 10
assert doppel.hash((samples[:80000], 8000)), "the run can be used again"
"""
    )


def test_the_end_of_the_interpreter_with_calls_in_flight(media, run_python):
    run_python(
        f"""
import threading, time, doppel
def work():
    while True:
        doppel.hash({str(media / SEA)!r})
for _ in range(3):
    threading.Thread(target=work, daemon=True).start()
time.sleep(.3)
"""
    )


def test_nothing_is_left_behind(media):
    """Memory does not grow by what is computed again and again, neither do descriptors."""
    data = (media / "pictures" / "copies" / "mountains-small.jpg").read_bytes()
    text = "some words of a text that is long enough to be told by its words"
    codes = numpy.arange(1000, dtype=numpy.uint64)

    def work(times):
        for _ in range(times):
            a = doppel.hash(text=text)
            b = doppel.Fingerprint.from_bytes(a.to_bytes())
            assert a == b and a - b == 0 and doppel.compare(a, b)
            index = doppel.Index()
            index.add(codes)
            index.search(codes, 1)
            for bad in (5, numpy.zeros(3)):
                with pytest.raises(doppel.Error):
                    index.search(bad)
            with pytest.raises(doppel.Error):
                doppel.hash("/nowhere")
        doppel.hash(data)

    work(60)
    gc.collect()
    objects = len(gc.get_objects())
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    descriptors = len(os.listdir("/proc/self/fd"))
    work(400)
    gc.collect()
    assert len(gc.get_objects()) <= objects + 50
    assert len(os.listdir("/proc/self/fd")) <= descriptors
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < 20_000 or PRELOADED, f"{grown} KB"
