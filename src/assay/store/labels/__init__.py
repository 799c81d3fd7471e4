"""Labels, drafts, decisions and replies in SQL: appended, never overwritten.

``open_labels`` gives the store; SQLAlchemy is loaded when it is called.
"""

from assay.store.labels.opening import open_labels

__all__ = ["open_labels"]
