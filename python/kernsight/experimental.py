"""What may still change."""

from .info_collector import collect

__all__ = ["collect"]
