"""In: a store and a wish. Out: changed topic files."""
