"""Cases: the schema of a case file, how it is loaded, and what a run of it leaves to look at."""
