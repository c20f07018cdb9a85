"""Embeds texts by a model of type BERT in Hugging Face's layout, in f32. Standard library, numpy and tokenizers alone."""
