"""Does nothing but import what a target with a schema has to import, and say that it has run."""

import os

import yaml
from pydantic import BaseModel

if __name__ == "__main__":
    with open(os.environ["XML_OUTPUT_FILE"], "w", encoding="utf-8") as file:
        file.write(f'<testsuites name="{yaml.__name__} {BaseModel.__name__}"/>\n')
