"""`build_models`: the first use of a model in several threads.  What an import leaves to the first use."""

from __future__ import annotations

import subprocess
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


def test_the_import_of_a_handler_does_not_build_what_the_first_form_does_not_need() -> None:
    script = """
from mcp_elicit_client.core.request import FormRequest, UrlRequest
from mcp_elicit_client.core.validation.content import ValidationResult
from mcp_elicit_client.core.validation.field_errors import FieldError
from mcp_elicit_client.handlers.browser import BrowserHandler
from mcp_elicit_client.presentation.url_prompts import UrlPrompt
print([each.__name__ for each in (FormRequest, UrlRequest, ValidationResult, FieldError, UrlPrompt)
       if each.__pydantic_complete__])
"""
    said = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert said == "['FormRequest']\n"


def test_the_import_of_a_page_does_not_import_what_reads_typed_dates_and_words() -> None:
    script = """
import sys
import mcp_elicit_client.handlers.browser
import mcp_elicit_client.inbox.web.pages
names = "date_parsing", "duration_parsing", "month_names", "relative_days", "url_prompts", "word_choices"
print([name for name in names if f"mcp_elicit_client.presentation.{name}" in sys.modules])
"""
    said = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert said == "[]\n"
