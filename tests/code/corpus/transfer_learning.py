import numpy as np
import tensorflow as tf
from tensorflow.keras.applications import MobileNetV2
from tensorflow.keras.applications.mobilenet_v2 import preprocess_input
from tensorflow.keras.preprocessing.image import img_to_array

IMG_SHAPE = (32, 32, 3)
base_model = MobileNetV2(input_shape=IMG_SHAPE, include_top=False, weights=None, alpha=0.35)
base_model.trainable = False

augmentation = tf.keras.Sequential([tf.keras.layers.RandomFlip("horizontal"), tf.keras.layers.RandomRotation(0.2)])
global_average_layer = tf.keras.layers.GlobalAveragePooling2D()
prediction_layer = tf.keras.layers.Dense(1)

inputs = tf.keras.Input(shape=IMG_SHAPE)
x = augmentation(inputs)
x = preprocess_input(x)
x = base_model(x, training=False)
x = global_average_layer(x)
x = tf.keras.layers.Dropout(0.2)(x)
outputs = prediction_layer(x)
model = tf.keras.Model(inputs, outputs)

image_batch = tf.random.uniform((2, *IMG_SHAPE), maxval=255.0)
feature_batch = base_model(image_batch)
print(feature_batch.shape, global_average_layer(feature_batch).shape)
model.compile(
    optimizer=tf.keras.optimizers.Adam(learning_rate=1e-4),
    loss=tf.keras.losses.BinaryCrossentropy(from_logits=True),
    metrics=[tf.keras.metrics.BinaryAccuracy(threshold=0, name="accuracy")],
)
print(len(model.trainable_variables), model.count_params())
for layer in base_model.layers[:-5]:
    layer.trainable = False
for layer in base_model.layers[-5:]:
    if not isinstance(layer, tf.keras.layers.BatchNormalization):
        layer.trainable = True
scores = tf.nn.sigmoid(model(image_batch, training=False))
predictions = tf.where(scores < 0.5, 0, 1)
print(predictions.numpy().flatten())
array = img_to_array(np.zeros((4, 4, 3)))
print(array.shape, base_model.get_layer(index=1).name, base_model.output.shape)
