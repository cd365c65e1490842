"""`build_models`: build models whose validators are deferred, in one thread at a time."""

import threading

from pydantic import BaseModel

_lock = threading.Lock()


def build_models(*models: type[BaseModel]) -> None:
    """
    Build the validators of *models*, which have `defer_build`, unless that is done.

    Without this, pydantic up to 2.13 may raise an error if several threads
    use such a model for the first time at once.
    """
    if not all(model.__pydantic_complete__ for model in models):
        with _lock:
            for model in models:
                model.model_rebuild()
