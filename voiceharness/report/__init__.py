"""What is told about calls: saved evidence, documents, text for a terminal, JUnit."""
