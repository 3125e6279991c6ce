"""Programs that run in `.venv-bench`, beside the product: each trains a peer and says its rate when asked."""
