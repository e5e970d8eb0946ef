"""The lowered program: expressions and statements that can evaluate themselves in a frame."""
