"""`SqlSession`: executes the statements of an SQL database, and `Database`: provides such sessions."""

from __future__ import annotations

import importlib.resources
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from typing import Any, Protocol

from mcp_elicit_client.exceptions import InboxError
from mcp_elicit_client.inbox.stores.models import Resolution
from mcp_elicit_client.inbox.stores.threads import stop_if_abandoned


def load_statements() -> dict[str, str]:
    """Return the statements of ``statements.sql`` by name."""
    named = (section.partition("\n") for section in load_sql("statements.sql").split("-- name: ")[1:])
    return {name: statement.strip() for name, _, statement in named}


def load_sql(name: str) -> str:
    """Return the text of an SQL file."""
    return (importlib.resources.files(__package__) / name).read_text(encoding="utf-8")


def counter_of(cursor: Any) -> Any:
    """Return the only row of the table ``counter``; raises `InboxError` if someone has deleted it."""
    row = cursor.fetchone()
    if row is None:
        raise InboxError(
            "The inbox cannot be used: its table `counter` is empty."
            " Delete the whole file or schema: it is created again."
        )
    return row


@contextmanager
def transaction(connection: Any, begin: str, failures: tuple[type[Exception], ...]) -> Iterator[None]:
    """Run a transaction.  It is rolled back after an error, or if the task was cancelled.  Drivers raise *failures*."""
    connection.execute(begin)
    try:
        yield
        stop_if_abandoned()
        connection.execute("COMMIT")
    except BaseException:
        with suppress(*failures):
            connection.execute("ROLLBACK")
        raise


@dataclass(frozen=True, slots=True)
class SqlSession:
    """
    A connection, as long as one thread uses it.

    Attributes:
        connection: The connection of the driver.
        statements: The statements by name, as the driver spells parameters.
    """

    connection: Any
    statements: Mapping[str, str]

    def execute(self, statement: str, **values: Any) -> Any:
        """Execute the statement with the name *statement*, and return the cursor."""
        return self.connection.execute(self.statements[statement], values)

    def owners(self, statement: str, **values: Any) -> list[str]:
        """Execute the statement with the name *statement*, and return the owners that it selects."""
        return [each["owner"] for each in self.execute(statement, **values)]

    def next_revision(self, count: int = 1) -> int:
        """Return the number of the next change; the last number if there are several."""
        self.execute("next_revision", count=count)
        return self.last_revision()

    def last_revision(self) -> int:
        """
        Return the number of the last change.

        Raises:
            InboxError: If someone has deleted the contents of all tables.
        """
        return int(counter_of(self.execute("last_revision"))["revision"])

    def resolution_columns(self, resolution: Resolution, revision: int | None = None) -> dict[str, Any]:
        """Return the columns that each closed request has; by default with the next revision."""
        return {
            "state": resolution.state,
            "answered_by": resolution.answered_by,
            "updated_at": resolution.updated_at,
            "action": resolution.action,
            "revision": self.next_revision() if revision is None else revision,
        }

    def close_all(self, closed: Mapping[str, Resolution]) -> None:
        """Close the requests with these IDs, without waiting for the database after each."""
        first = self.next_revision(len(closed)) - len(closed) + 1
        rows = [
            {"id": entry_id, **self.resolution_columns(resolution, revision)}
            for revision, (entry_id, resolution) in enumerate(closed.items(), first)
        ]
        self.connection.cursor().executemany(self.statements["resolve_request"], rows)

    def close_and_erase(self, owner: str, entry_id: str, resolution: Resolution | None) -> bool:
        """Close a request, unless it is closed, and erase its answer.  Return True if it was closed by this."""
        is_closed = False
        if resolution is not None:
            row = self.execute("get_state", id=entry_id, owner=owner).fetchone()
            is_closed = row is not None and row["state"] == "pending"
            if is_closed:
                self.execute("resolve_request", id=entry_id, **self.resolution_columns(resolution))
        self.execute("erase_answer", id=entry_id)
        return is_closed


class Database(Protocol):
    """A database that the threads of this process use."""

    def reading(self) -> AbstractContextManager[SqlSession]:
        """Provide a session in which each statement sees what is committed; raises `InboxError`."""
        ...

    def writing(self) -> AbstractContextManager[SqlSession]:
        """
        Provide a session in a transaction, which is rolled back if anything is raised; raises `InboxError`.

        No other process writes meanwhile.
        """
        ...

    def close(self) -> None:
        """Close the connections.  The next use opens them again."""
        ...
