"""From bytes to annotated loops: reading, comment grammar, binding of comments to loops."""
