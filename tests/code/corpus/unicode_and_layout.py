# 🙂 positions after characters outside the BMP: 𝒙 ñ ß
import tensorflow as tf; größe = tf.constant([1.0, 2.0]); 𝑤 = "🎉" * 2; print(𝑤, größe.numpy(), "é", tf.reduce_sum(größe).numpy())

übung = tf.keras.Sequential(
    [  # 層
        tf.keras.layers.Dense(
            units=2,  # ünits
            activation="relu",
        ),
        tf.keras.layers.Dense(1),
    ],
    name="übung"[1:],
)
print(
    übung(
        tf.ones(
            (1, 2)
        )
    )
    .numpy()
    .sum(), f"größe={tf.size(größe).numpy()} 🙂 {größe.shape.as_list()}"
)
result = (
    tf.data.Dataset
    .range(6)
    .map(lambda i: i * 2)  # comment between
    .filter(
        lambda i: i > 2
    )
    .batch(2)
)
for 日, element in enumerate(result): print("日" * 日, element.numpy()); tf.print("→", element)
text = "語🙂".encode(); print(tf.strings.unicode_decode([text], "UTF-8").to_list(), tf.strings.length([text], unit="UTF8_CHAR").numpy())
x = \
    tf.add(1, \
           2)
print(x.numpy() if True else tf.zeros(1)
      )
