"""ag-ui-langgraph: `ElicitingAgentMixin`, for agents whose graph an AG-UI front end resumes with answers."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

from mcp_elicit_client.handlers.ag_ui_interrupts import ResumeEntryError, check_ids, read_resume
from mcp_elicit_client.handlers.langgraph.handler import CANCELLED, INTERRUPT_TYPE, question_request, resume_value

if TYPE_CHECKING:
    from ag_ui.core import Interrupt, ResumeEntry, RunAgentInput
    from langgraph.types import Command


class ElicitingAgentMixin:
    """
    Makes a ``LangGraphAgent`` one whose graph asks with `InterruptHandler`.

    ``class Agent(ElicitingAgentMixin, LangGraphAgent)`` is used like a
    ``LangGraphAgent`` with ``emit_interrupt_outcome=True``.

    A resume must answer all open interrupts of the thread, and no others.
    Otherwise the run ends with ``RUN_ERROR``, and nothing is sent to the
    graph.  An answer that does not match its form interrupts the graph again.

    Anyone who knows the ID of a thread can resume it.  Use thread IDs that
    belong to the signed-in user.

    Raises:
        TypeError: If a class has the agent before this one.
    """

    _refused = ""  # the code of the refusal of this run; each run has its own copy of the agent

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        before = cls.__mro__[: cls.__mro__.index(ElicitingAgentMixin)]
        if any("run" in vars(each) and not issubclass(each, ElicitingAgentMixin) for each in before):
            raise TypeError("Write the mixin first: `class Agent(ElicitingAgentMixin, LangGraphAgent)`.")

    async def run(self, input: RunAgentInput) -> AsyncGenerator[Any, None]:  # noqa: A002 -- as in ag-ui-langgraph
        """Run the graph; end with ``RUN_ERROR`` if a resume is refused."""
        async with aclosing(super().run(input)) as events:  # type: ignore[misc]
            async for event in events:
                is_refusal = self._refused and event.type == "RUN_ERROR"
                yield event.model_copy(update={"code": self._refused}) if is_refusal else event

    def _build_command_from_agui_resume(
        self, entries: list[ResumeEntry], *, open_interrupts: list[Interrupt] | None = None
    ) -> Command[Any]:
        try:
            return self._read_entries(entries, open_interrupts or [])
        except ResumeEntryError as error:
            self._refused = error.code
            raise

    def _read_entries(self, entries: list[ResumeEntry], open_interrupts: list[Interrupt]) -> Command[Any]:
        from langgraph.types import Command

        waiting = {each.id: _value(each) for each in open_interrupts}
        if waiting and not any(map(_is_ours, waiting.values())):
            command: Command[Any] = super()._build_command_from_agui_resume(  # type: ignore[misc]
                entries, open_interrupts=open_interrupts
            )
            return command
        check_ids([entry.interrupt_id for entry in entries], waiting)
        return Command(resume={each.interrupt_id: _resume(waiting[each.interrupt_id], each) for each in entries})


def _value(interrupt: Interrupt) -> Any:
    """Return the value of an interrupt as the graph stored it: nothing in it comes from the front end."""
    return ((interrupt.metadata or {}).get("langgraph") or {}).get("raw")


def _is_ours(value: Any) -> bool:
    return isinstance(value, Mapping) and value.get("type") == INTERRUPT_TYPE


def _resume(value: Any, entry: ResumeEntry) -> Any:
    """Return what resumes the node that was interrupted with *value*."""
    if not _is_ours(value):  # an interrupt of another part of the graph
        return entry.payload if entry.status == "resolved" else {CANCELLED: True}
    resumed = read_resume(question_request(value), entry.status, entry.payload, entry.metadata)
    return resume_value(value, resumed.action, resumed.content, **resumed.options)
