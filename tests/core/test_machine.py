from __future__ import annotations

from hypothesis import HealthCheck, settings
from machine import SessionMachine

TestSession = SessionMachine.TestCase
TestSession.settings = settings(
    max_examples=100,
    stateful_step_count=30,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
