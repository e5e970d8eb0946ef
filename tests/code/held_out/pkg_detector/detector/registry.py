class Registry:
    def __init__(self):
        self._entries = {}

    def add(self, name):
        def decorator(builder):
            if name in self._entries:
                raise KeyError(name)
            self._entries[name] = builder
            return builder
        return decorator

    def get(self, name):
        return self._entries[name]

    def names(self):
        return sorted(self._entries)


registry = Registry()
