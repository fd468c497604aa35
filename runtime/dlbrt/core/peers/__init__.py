"""Ranks that balance by words from one to another, not by synchronizations (`PeerStrategy`)."""
