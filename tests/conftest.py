"""Settings of all tests."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

# How long an example takes says how busy the machine is, not whether the result is right.
settings.register_profile("gossamer", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("gossamer")
