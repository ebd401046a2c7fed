"""Whether frames of two videos show one thing where a match says so, by other means: OpenCV's SIFT.
The homography of what is in the query's rectangle is to send its middle to the item's middle."""

import itertools
import math

import cv2
import numpy as np

NEAR = 0.03  # of the item's width: so far may the middle lie from where it was told
LEAST = 10  # pairs of keypoints that the homography explains


class View:
    """A picture, or a frame of a video, with its keypoints."""

    def __init__(self, picture):
        self.size = picture.shape[1::-1]
        grey = cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY)
        self.points, self.codes = cv2.SIFT_create(4000).detectAndCompute(grey, None)

    def rectangle(self, told):
        """Its corners and its middle in pixels; it is turned about its middle."""
        (left, right), (top, bottom) = (
            (told[a] * size, told[b] * size)
            for a, b, size in zip(("left", "top"), ("right", "bottom"), self.size)
        )
        middle = (left + right) / 2, (top + bottom) / 2
        box = cv2.boxPoints((middle, (right - left, bottom - top), told.get("angle", 0)))
        return box, np.float32(middle)


def homography(query, box, item):
    """By the pairs of keypoints that are much nearer than the next ones; None if too few agree."""
    within = [i for i, p in enumerate(query.points) if cv2.pointPolygonTest(box, p.pt, False) >= 0]
    if len(within) < LEAST or len(item.points) < LEAST:
        return None
    pairs = cv2.BFMatcher().knnMatch(query.codes[within], item.codes, k=2)
    near = [a for a, b in pairs if a.distance < 0.8 * b.distance]
    if len(near) < LEAST:
        return None
    here = np.float32([query.points[within[a.queryIdx]].pt for a in near])
    there = np.float32([item.points[a.trainIdx].pt for a in near])
    found, explained = cv2.findHomography(here, there, cv2.RANSAC, 5)
    return found if found is not None and explained.sum() >= LEAST else None


def shows_same(query, item, where):
    box, middle = query.rectangle(where["query"])
    found = homography(query, box, item)
    if found is None:
        return False
    here = cv2.perspectiveTransform(middle[None, None], found)[0, 0]
    return math.dist(here, item.rectangle(where["item"])[1]) <= NEAR * item.size[0]


def views_between(video, begin, end):
    """The first frame of each second, which is what is added; twelve at most."""
    seconds = range(math.floor(begin), math.ceil(end) + 1)[:12]
    times = [math.ceil(second * video.rate - 0.01) for second in seconds]
    return [View(video.frames[at]) for at in times if at < len(video.frames)]


def is_same_place(match, query, item):
    """Whether any two frames of a match's segments show the same. A picture is a video of one."""
    for s in match["segments"]:
        here = views_between(query, s["a_start"], s["a_end"])
        there = views_between(item, s["b_start"], s["b_end"])
        if any(shows_same(a, b, match["where"]) for a, b in itertools.product(here, there)):
            return True
    return False
