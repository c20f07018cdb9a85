"""Runs llama.cpp's own server and lets through to it what is a call of the OpenAI API. Standard library and xllamacpp alone."""
