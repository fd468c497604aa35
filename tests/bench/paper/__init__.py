"""The paper's 28 cases on real ranks: what is run, where, what is kept of it, and how it is shown."""
