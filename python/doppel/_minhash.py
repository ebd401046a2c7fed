"""Signatures of sets, as datasketch makes them."""

from __future__ import annotations

from typing import Any, Iterable, Union

from . import _doppel
from ._arrays import uint64_in
from ._errors import TypeMismatchError, each_of, whole


def minhash(
    tokens: Iterable[Union[str, bytes]], *, permutations: int = 128, seed: int = 1
) -> Any:
    """The MinHash signature of a set of tokens, bit for bit that of datasketch.

    It is `hashvalues` of datasketch's `MinHash(num_perm=permutations, seed=seed)` after an
    `update(token)` of each, with its default hash function. The share of values that two have in
    common estimates the Jaccard similarity of their sets. `hash(text=…, scheme="datasketch")` is
    that of a text's shingles.

    Args:
        tokens: bytes, or str, which are taken as UTF-8; how often one comes does not matter.
        permutations: 1 to 4096.
        seed: 0 to 2 ** 32 - 1.

    Returns uint64, `permutations` of them. Raises ArgumentError, TypeMismatchError.
    """
    permutations = whole("permutations", permutations, 4096, least=1)
    seed = whole("seed", seed, 2**32 - 1)
    taken = []
    for token in each_of("tokens", tokens):
        if isinstance(token, str):
            token = token.encode("utf-8", "surrogatepass")
        if not isinstance(token, bytes):
            raise TypeMismatchError(f"a token is a str or bytes, not {token!r:.80}", "type")
        taken.append(token)
    return uint64_in(_doppel.minhash(tuple(taken), permutations, seed))
