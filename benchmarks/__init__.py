"""Side-by-side benchmarks of Gossamer and its peers. See README.md in this folder."""
