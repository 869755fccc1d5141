"""Nsight Compute is not needed, and nothing of it is loaded: so nothing fails to load."""

injection_load_error = None
