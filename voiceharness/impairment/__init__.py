"""What a bad line does to sound and to packets: seeded, composable, in both directions, continuous over the call."""
