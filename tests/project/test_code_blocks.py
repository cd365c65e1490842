"""The results that comments in code blocks show are compared with what the blocks print."""

from __future__ import annotations

import pytest

from tests.support.code_blocks import run_block


@pytest.mark.parametrize(
    "source",
    [
        "print(1 + 2)  # 3",
        "print('a', 'b', sep='-')  # a-b",
        "print('# a')  # # a",
        "print('one, two, three')  # one, ...",
        "print(\n    1,\n    2,  # no result\n)  # 1 2",
        "for _ in range(2):\n    print('again')  # again",
        "# no result\nprint(1)\nx = 2  # no result",
    ],
)
def test_a_right_result_passes(source: str) -> None:
    assert run_block(source, "page.md", {}) == []


@pytest.mark.parametrize(
    ("source", "printed"),
    [
        ("print(1 + 2)  # 4", ["3"]),
        ("print(3)  # 3: the sum", ["3"]),
        ("print('one, two')  # two, ...", ["one, two"]),
        ("for x in range(2): print(x)  # 0", ["0", "1"]),
        ("def unused(): print(3)  # 3", []),
    ],
)
def test_a_wrong_result_fails(source: str, printed: list[str]) -> None:
    (wrong,) = run_block(f"\n\n{source}", "page.md", {})

    assert wrong.startswith("line 3: ")
    assert wrong.endswith(f": {printed}")


def test_code_that_catches_errors_does_not_hide_a_wrong_result() -> None:
    source = "try:\n    print(1)  # 2\nexcept Exception:\n    pass"

    assert len(run_block(source, "page.md", {})) == 1


def test_a_later_block_can_call_a_function_that_prints(capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, object] = {}

    assert run_block("def show(x):\n    print(x)  # 1\nshow(1)", "page.md", names) == []
    assert run_block("show(2)", "page.md", names) == []
    assert capsys.readouterr().out == "1\n2\n"
