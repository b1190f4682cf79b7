"""What holds for all tests: no property is judged by the time that it takes."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("house", deadline=None)
settings.load_profile("house")
