"""One module per strategy; `dlbrt.core.registry` finds them by itself."""
