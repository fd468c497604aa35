"""Pages of the project in a headless Chromium: what it draws, what its console says, pictures of it."""
