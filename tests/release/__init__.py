"""The distributions as users get them: built, installed in clean environments, and used."""
