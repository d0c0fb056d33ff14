"""In: a store and a topic, a question or a memory's id. Out: what is believed about it, on what grounds, and why it was not recalled."""

from __future__ import annotations

from memoryfs.audit.absent import WhyNot, why_not
from memoryfs.audit.grounds import Audit, OpenReview, Said, Statement
from memoryfs.audit.subject import examine, open_reviews

__all__ = ["Audit", "OpenReview", "Said", "Statement", "WhyNot", "examine", "open_reviews", "why_not"]
