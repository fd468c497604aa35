"""What is sent by value between ranks: kernels, objects, the contents of slots, the program's state."""
