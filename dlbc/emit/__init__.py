"""From plans to text: a flat context for the templates, and a lossless rewrite of the user's file."""
