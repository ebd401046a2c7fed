"""meson-python, but its wheels say that they are for Python 3.9 and later. By itself it names the
Python that builds, although the extension is built for the stable ABI of 3.9."""

import mesonpy._tags
from mesonpy import (  # noqa: F401
    build_sdist,
    build_wheel,
    get_requires_for_build_sdist,
    get_requires_for_build_wheel,
)

mesonpy._tags.get_interpreter_tag = lambda: "cp39"
