from .common import K, L, tf, maybe_function


class Tokenizer:
    def __init__(self, vectorizer):
        self._vec = vectorizer
        self._inverse = L.StringLookup(vocabulary=vectorizer.get_vocabulary()[2:], invert=True, mask_token="")

    @classmethod
    def from_texts(cls, texts, max_len=8, standardize=None):
        vectorizer = L.TextVectorization(output_sequence_length=max_len, standardize=standardize or cls.clean)
        vectorizer.adapt(texts)
        return cls(vectorizer)

    @staticmethod
    def clean(text):
        return tf.strings.regex_replace(tf.strings.lower(text), r"[^\w ]", "")

    @property
    def vocab_size(self):
        return self._vec.vocabulary_size()

    def __call__(self, texts):
        return self._vec(texts)

    @maybe_function(enabled=False)
    def decode(self, ids):
        return tf.strings.reduce_join(self._inverse(ids), axis=-1, separator=" ")
