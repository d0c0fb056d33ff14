"""In: the text of messages. Out: sentences with exact spans, the cues they show, candidates with hints: extraction without a model."""
