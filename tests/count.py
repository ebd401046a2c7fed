#!/usr/bin/env python3
"""Count cmocka's test cases in meson's logs of a run with CMOCKA_MESSAGE_OUTPUT=TAP; the last
line is the sum."""

import json
import re
import sys

CASE = re.compile(r"^\s*(not )?ok \d+\b(.*)$", re.MULTILINE)
PLAN = re.compile(r"^\s*1\.\.(\d+)\s*$", re.MULTILINE)


def count(test):
    """(passed, failed, skipped) of one executable; one that is not cmocka's is one test case."""
    output = test.get("stdout") or ""
    passed = failed = skipped = 0
    for refused, rest in CASE.findall(output):
        if "# SKIP" in rest:
            skipped += 1
        elif refused:
            failed += 1
        else:
            passed += 1
    if test["result"] in ("SKIP", "EXPECTEDFAIL"):
        return passed, failed, max(skipped, 1)
    if test["result"] == "OK":
        return (passed or int(skipped == 0)), failed, skipped
    # It failed, timed out or crashed: what was planned and never ran failed too.
    planned = sum(int(number) for number in PLAN.findall(output))
    return passed, max(1, failed, planned - passed - skipped), skipped


def main(logs):
    passed = failed = skipped = 0
    for log in logs:
        with open(log, encoding="utf-8", errors="replace") as lines:
            for line in lines:
                ok, bad, left_out = count(json.loads(line))
                passed, failed, skipped = passed + ok, failed + bad, skipped + left_out
    if skipped:
        print(f"{skipped} skipped")
    if passed == 0:
        failed = max(1, failed)
    print(f"{passed} passed, {failed} failed")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
