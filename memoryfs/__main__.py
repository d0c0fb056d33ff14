"""In: `python -m memoryfs …`. Out: what the console script does."""

from memoryfs.cli import main

if __name__ == "__main__":
    main()
