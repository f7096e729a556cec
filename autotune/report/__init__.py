"""What a person sees: tables, progress, summaries. Scripts get the same rows as JSON or CSV."""

from __future__ import annotations
