"""In: transcripts of finished sessions. Out: topic files, episodes, a ledger and a fresh briefing."""
