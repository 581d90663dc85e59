"""git mem: one shared memory for all the LLM agents of a person, kept as a plain Git repository."""

__version__ = "0.1.0"
