"""The schema's history. A migration that was released is never edited: a change is a new one."""
