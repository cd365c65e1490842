from __future__ import annotations

import os
import signal
import stat
import sys
from pathlib import Path
from typing import Any

import pytest

from mcp_elicit_client import inspect_url, parse_request
from mcp_elicit_client.handlers import opener
from mcp_elicit_client.handlers.headless import HeadlessHandler
from tests.support import form_params

pytestmark = pytest.mark.anyio

SUGGESTS = {"properties": {"a": {"type": "string", "default": "x"}, "b": {"type": "string"}}, "required": ["a"]}
LACKS = {"properties": {"a": {"type": "string", "default": "x"}, "b": {"type": "string"}}, "required": ["b"]}
WRONG = {"properties": {"a": {"type": "integer", "default": "x"}}, "required": ["a"]}
URL = {"mode": "url", "message": "m", "url": "https://example.com/"}


@pytest.mark.parametrize(
    ("params", "server", "action", "by"),
    [
        (form_params(SUGGESTS), "ci", "accept", "default"),
        (form_params(SUGGESTS), "other", "cancel", "nobody"),
        (form_params(LACKS), "ci", "cancel", "nobody"),
        (form_params(WRONG), "ci", "cancel", "nobody"),
        (form_params({"properties": {}}), "ci", "cancel", "nobody"),
        (form_params({"properties": {"b": {"type": "string"}}}), "ci", "cancel", "nobody"),
        (URL, "ci", "cancel", "nobody"),
    ],
)
async def test_only_what_a_named_server_suggests_in_full_is_accepted(
    params: dict[str, Any], server: str, action: str, by: str
) -> None:
    answer = await HeadlessHandler(accept_defaults_from={"ci"})(parse_request(params, server=server))

    assert (answer.action, answer.by) == (action, by)
    assert answer.content == ({"a": "x"} if action == "accept" else None)
    assert answer.reason


async def test_by_default_nothing_is_accepted() -> None:
    assert (await HeadlessHandler()(parse_request(form_params(SUGGESTS), server="ci"))).action == "cancel"


def test_one_name_is_no_list_of_names() -> None:
    with pytest.raises(TypeError, match="collection of server names"):
        HeadlessHandler(accept_defaults_from="ci")


class TestOpener:
    """Programs that note what they were started with, in the place of a browser."""

    def _program(self, folder: Path, name: str, status: int = 0) -> Path:
        program = folder / name
        program.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > {folder}/{name}.seen\nexit {status}\n')
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
        return program

    def _alone(self, patch: pytest.MonkeyPatch, folder: Path, **environment: str) -> None:
        for name in ("BROWSER", "DISPLAY", "WAYLAND_DISPLAY"):
            patch.delenv(name, raising=False)
        patch.setenv("PATH", f"{folder}{os.pathsep}/usr/bin{os.pathsep}/bin")
        for name, value in environment.items():
            patch.setenv(name, value)

    async def test_the_url_is_one_argument(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        browser = self._program(tmp_path, "browser")
        self._alone(monkeypatch, tmp_path, BROWSER=str(browser))
        target = inspect_url("https://example.com/$(touch%20x)?a=b&c=d;e='f'#g")

        assert await opener.open_url(target)
        assert (tmp_path / "browser.seen").read_text().splitlines() == [target.url]

    async def test_the_next_program_is_tried_where_one_fails(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        self._program(tmp_path, "xdg-open", status=3)
        self._program(tmp_path, "gio")
        self._alone(monkeypatch, tmp_path, DISPLAY=":9")
        monkeypatch.setattr(sys, "platform", "linux")

        assert await opener.open_url(inspect_url("https://example.com/"))
        assert (tmp_path / "gio.seen").read_text().split() == ["open", "https://example.com/"]

    async def test_without_a_display_nothing_is_opened(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self._program(tmp_path, "xdg-open")
        self._alone(monkeypatch, tmp_path)
        monkeypatch.setattr(sys, "platform", "linux")

        assert not await opener.open_url(inspect_url("https://example.com/"))
        assert not (tmp_path / "xdg-open.seen").exists()

    @pytest.mark.parametrize(
        "browser", ["sh -c 'x %s'", "bash", "/bin/sh", "missing", "firefox %s", "$(x)", "env", "", "a;b"]
    )
    def test_templates_and_shells_in_browser_are_passed_over(
        self, browser: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        self._alone(monkeypatch, tmp_path, BROWSER=browser)
        monkeypatch.setattr(sys, "platform", "linux")

        assert list(opener.openers()) == []

    def test_macos_opens_with_its_own_program(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self._alone(monkeypatch, tmp_path)
        monkeypatch.setattr(sys, "platform", "darwin")

        assert list(opener.openers()) == [["/usr/bin/open"]]

    async def test_a_program_that_cannot_be_started_opens_nothing(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        broken = tmp_path / "broken"
        broken.write_text("#!/does/not/exist\n")
        broken.chmod(0o755)
        self._alone(monkeypatch, tmp_path, BROWSER=str(broken))
        monkeypatch.setattr(sys, "platform", "linux")

        assert not await opener.open_url(inspect_url("https://example.com/"))

    async def test_a_browser_that_stays_in_the_foreground_is_taken_to_work(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        browser = tmp_path / "browser"
        browser.write_text(f"#!/bin/sh\necho $$ > {tmp_path}/pid\nexec cat /dev/zero > /dev/null\n")
        browser.chmod(0o755)
        self._alone(monkeypatch, tmp_path, BROWSER=str(browser))
        monkeypatch.setattr(opener, "_PATIENCE", 0.5)

        assert await opener.open_url(inspect_url("https://example.com/"))
        os.kill(int((tmp_path / "pid").read_text()), signal.SIGKILL)
