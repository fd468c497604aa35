"""The strategies; `dlbrt.core.registry` has the table of their modules."""
