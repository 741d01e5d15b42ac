"""The server that the tests run against, which `test/clients/python-package.test.ts` starts."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import framehold

_numbers = itertools.count()


@pytest.fixture(scope="session")
def url() -> str:
    return os.environ["FRAMEHOLD_TEST_URL"]


@pytest.fixture
def server(url: str) -> Iterator[framehold.Connection]:
    with framehold.connect(url) as connection:
        yield connection


@pytest.fixture
def fresh() -> Callable[..., str]:
    """A handle that no other test uses."""
    return lambda prefix="frame": f"py_{prefix}_{os.getpid()}_{next(_numbers)}"


@pytest.fixture
def name(fresh: Callable[..., str]) -> str:
    return fresh()


@pytest.fixture(scope="session")
def secure_url() -> str:
    return os.environ["FRAMEHOLD_TEST_SECURE_URL"]


@pytest.fixture(scope="session")
def secure_folder() -> Path:
    """``ca.crt``, ``token`` (of the role write), ``read-token``, ``revoked-token``, ``client.crt`` and ``client.key``."""
    return Path(os.environ["FRAMEHOLD_TEST_SECURE_FOLDER"])
