"""`suspended_host`: releases the terminal of a full-screen application of the host while a request is shown."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager


@contextmanager
def suspended_host() -> Iterator[None]:
    """
    Suspend the Textual application that the current task belongs to, if there is one.

    Applications of prompt_toolkit are suspended by the interactive form.
    """
    context = sys.modules.get("textual._context")
    app = context.active_app.get(None) if context is not None else None
    with ExitStack() as stack:
        if app is not None and app.is_running and not app.is_headless:
            stack.enter_context(app.suspend())
            # Nothing may be drawn until the application has the terminal again.
            stack.enter_context(app.batch_update())
        yield
