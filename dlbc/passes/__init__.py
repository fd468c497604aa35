"""The passes: one module, one pure pass, named by a verb; a pass knows no other pass."""
