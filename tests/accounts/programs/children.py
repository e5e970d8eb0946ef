"""A program that lets another process prepare its data."""

import subprocess
import sys

import tensorflow as tf

code = "print(sum(i * i for i in range(3000000)))"
print(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip())
x = tf.random.normal([512, 512], seed=1)
for _ in range(20):
    x = tf.matmul(x, x) / 512.0
print(x.shape)
