"""A tree of texts, for tests."""

from hardgate.documents.tree import Listing, MissingFile


class DictionaryTree:
    """The files of a mapping from path to text."""

    def __init__(self, texts):
        self._texts = dict(texts)
        self._listing = Listing(list(self._texts))
        self.exists = self._listing.exists
        self.glob = self._listing.glob

    def paths(self):
        return self._listing.paths

    def read(self, path):
        if path not in self._texts:
            raise MissingFile(path)
        return self._texts[path].encode()
