"""`build_models`: the first use of a model in several threads."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator

import pytest
from pydantic import BaseModel, ConfigDict

from mcp_elicit_client.core.deferred import build_models


@pytest.fixture
def many_switches() -> Iterator[None]:
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(interval)


@pytest.mark.usefixtures("many_switches")
def test_threads_can_use_a_deferred_model_for_the_first_time_at_once() -> None:
    failures: list[BaseException] = []
    for _ in range(30):

        class Part(BaseModel):
            model_config = ConfigDict(defer_build=True)
            numbers: tuple[int, ...] = ()

        class Whole(BaseModel):
            model_config = ConfigDict(defer_build=True)
            part: Part

        start = threading.Barrier(4)

        def use(start: threading.Barrier = start, part: type[BaseModel] = Part, whole: type[BaseModel] = Whole) -> None:
            start.wait()
            try:
                build_models(part, whole)
                whole(part=part(numbers=(1, 2)))
            except BaseException as error:
                failures.append(error)

        threads = [threading.Thread(target=use) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    assert failures == []
