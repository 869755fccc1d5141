"""CUPTI is used in process, by the library: see tools_manager."""
