"""Where chats are kept."""
