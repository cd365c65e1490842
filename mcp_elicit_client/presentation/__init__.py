"""What every user interface shares: texts, descriptions, parsing of typed text, consent, drafts."""
