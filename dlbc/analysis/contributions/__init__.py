"""Statements by which iterations contribute to shared values, recognised from their text alone."""
