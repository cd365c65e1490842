"""`TaskCalls`: the tasks of one `Caller`, from their creation to their result."""

from __future__ import annotations

from typing import Any

from mcp_elicit_client.calls.active_call import ActiveCall
from mcp_elicit_client.calls.elicitations import ElicitationDispatcher
from mcp_elicit_client.calls.resuming import LoadedCall
from mcp_elicit_client.calls.suspended_tasks import TaskSuspender
from mcp_elicit_client.calls.suspending import Claim, SuspendOptions
from mcp_elicit_client.calls.task_polling import OnTaskStatus, TaskHandle, TaskPoller
from mcp_elicit_client.calls.task_wire import TaskState, check_task_id, read_created_task
from mcp_elicit_client.calls.tasks import TaskDriver, TaskMemory
from mcp_elicit_client.calls.url_elicitations import raise_if_call_must_be_repeated
from mcp_elicit_client.exceptions import TaskError
from mcp_elicit_client.sdk.callback import uses_multi_round_trip
from mcp_elicit_client.sdk.tasks_extension import supports_tasks


class TaskCalls:
    """
    Finishes, resumes and cancels the tasks of one server.

    Args:
        elicitations: What answers the requests of the server.
        server: The name that the host application gave the server.
    """

    def __init__(self, elicitations: ElicitationDispatcher, server: str) -> None:
        self._elicitations = elicitations
        self._server = server
        self._memory = TaskMemory()

    async def finish(  # noqa: PLR0913 -- how it is finished, by keyword
        self,
        call: ActiveCall,
        created: Any,
        *,
        wait: bool = True,
        on_status: OnTaskStatus | None = None,
        suspend: SuspendOptions | None = None,
        claim: Claim | None = None,
    ) -> Any:
        """
        Return the result of a task that *call* created.

        Args:
            call: The call.
            created: What the call returned in place of its result, an object
                of any class.
            wait: If False, return its handle at once, or a `SuspendedCall`.
            on_status: Is called with every new status.
            suspend: Where to suspend the task; None to wait for answers.
            claim: The claim of this process, if *call* is a suspended call
                that is being resumed.

        Raises:
            TaskError: If the task is invalid.  The server is told to cancel
                it.
            Exception: As in `TaskDriver.run`.
        """
        poller = TaskPoller(call, await self._read(call, created), self._server, on_status)
        if suspend is not None:
            suspender = TaskSuspender(
                suspend, poller, call, elicitations=self._elicitations, server=self._server, claim=claim
            )
            return await suspender.start(wait=wait)
        self._memory.begin((call.user, poller.state.id))
        if wait:
            return await self._drive(call, poller, is_owned=True)
        await poller.report()
        return poller.handle

    async def resume(self, call: ActiveCall, task: TaskHandle | str, on_status: OnTaskStatus | None = None) -> Any:
        """
        Return the result of a task that another call created.

        Raises:
            TaskError: If the connection cannot have tasks, or there is no
                result.
            ValueError: If the ID is invalid.
            UrlElicitationIncompleteError: If the server requires URL
                elicitations.
            Exception: As in `TaskDriver.run`.
        """
        poller = self._poller(call, task, on_status)
        with self._elicitations.during(call), call.timeouts:
            try:
                return await self._drive(call, poller, is_owned=False)
            except Exception as error:
                raise_if_call_must_be_repeated(error)
                raise

    async def resume_suspended(
        self,
        call: ActiveCall,
        task_id: str,
        loaded: LoadedCall,
        suspend: SuspendOptions,
        on_status: OnTaskStatus | None,
    ) -> Any:
        """Return the result of a suspended task; or a `SuspendedCall`, if requests are pending."""
        poller = self._poller(call, task_id, on_status)
        suspender = TaskSuspender(
            suspend, poller, call, elicitations=self._elicitations, server=self._server, loaded=loaded
        )
        with self._elicitations.during(call), call.timeouts:
            return await suspender.resume()

    async def cancel(self, call: ActiveCall, task: TaskHandle | str) -> None:
        """
        Cancel a task.

        Raises:
            TaskError: If the connection cannot have tasks, or the server no
                longer has the task.
            Exception: The SDK's error, if the server cannot be reached.
        """
        await self._poller(call, task).cancel()

    async def _read(self, call: ActiveCall, created: Any) -> TaskState:
        try:
            return read_created_task(created)
        except TaskError as error:
            if error.task_id is not None:
                task = TaskState(error.task_id, "working")
                await TaskPoller(call, task, self._server).abandon_after(error, is_owned=True)
            raise

    def _poller(self, call: ActiveCall, task: TaskHandle | str, on_status: OnTaskStatus | None = None) -> TaskPoller:
        task_id = check_task_id(task if isinstance(task, str) else task.id)
        if not supports_tasks() or not uses_multi_round_trip(call.session):
            raise TaskError("unsupported", task_id=task_id)
        return TaskPoller(call, TaskState(task_id, "working"), self._server, on_status)

    async def _drive(self, call: ActiveCall, poller: TaskPoller, *, is_owned: bool) -> Any:
        task = (call.user, poller.state.id)
        asked = self._memory.asked(task)
        driver = TaskDriver(poller, call, elicitations=self._elicitations, asked=asked, is_owned=is_owned)
        try:
            return await driver.run()
        finally:
            if poller.state.is_final:
                self._memory.forget(task, asked)
