"""What the runtime talks about: values and rules, no input or output.

Records are `typing.NamedTuple`s: immutable, and made in about a tenth of the time a frozen
dataclass needs, which every process that runs a single case pays for each class. Two records
of different types with equal fields compare equal, so tell them apart with `isinstance`.
"""
