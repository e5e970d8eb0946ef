"""Simple audio recognition style: tf.signal, tf.audio, tf.image chains, export module."""
import os
import pathlib
import tempfile

import numpy as np
import tensorflow as tf
from tensorflow.keras import layers
from tensorflow.keras import models

# Set the seed value for experiment reproducibility.
seed = 42
tf.random.set_seed(seed)
np.random.seed(seed)

RATE = 1600
data_dir = pathlib.Path(tempfile.mkdtemp()) / "mini_speech"
commands = np.array(["yes", "no"])
for i, command in enumerate(commands):
    (data_dir / command).mkdir(parents=True)
    for k in range(4):
        t = tf.linspace(0.0, 1.0, RATE)
        wave = tf.sin(2 * np.pi * (50.0 * (i + 1)) * t) + 0.1 * tf.random.normal([RATE])
        wav = tf.audio.encode_wav(tf.clip_by_value(wave, -1.0, 1.0)[:, tf.newaxis], RATE)
        tf.io.write_file(str(data_dir / command / f"{k}.wav"), wav)

filenames = tf.io.gfile.glob(str(data_dir) + '/*/*')
filenames = tf.random.shuffle(filenames)
num_samples = len(filenames)
print('Number of total examples:', num_samples)
print('Number of examples per label:', len(tf.io.gfile.listdir(str(data_dir/commands[0]))))
train_files, val_files = filenames[:6], filenames[6:]


def decode_audio(audio_binary):
    audio, _ = tf.audio.decode_wav(contents=audio_binary)
    return tf.squeeze(audio, axis=-1)


def get_label(file_path):
    parts = tf.strings.split(input=file_path, sep=os.path.sep)
    return parts[-2]


def get_waveform_and_label(file_path):
    label = get_label(file_path)
    audio_binary = tf.io.read_file(file_path)
    waveform = decode_audio(audio_binary)
    return waveform, label


AUTOTUNE = tf.data.AUTOTUNE
files_ds = tf.data.Dataset.from_tensor_slices(train_files)
waveform_ds = files_ds.map(map_func=get_waveform_and_label, num_parallel_calls=AUTOTUNE)
for i, (audio, label) in enumerate(waveform_ds.take(2)):
    label = label.numpy().decode('utf-8')
    print(i, label, audio.numpy().std())


def get_spectrogram(waveform):
    input_len = RATE
    waveform = waveform[:input_len]
    zero_padding = tf.zeros([RATE] - tf.shape(waveform), dtype=tf.float32)
    waveform = tf.cast(waveform, dtype=tf.float32)
    equal_length = tf.concat([waveform, zero_padding], 0)
    spectrogram = tf.signal.stft(equal_length, frame_length=128, frame_step=64)
    spectrogram = tf.abs(spectrogram)
    return spectrogram[..., tf.newaxis]


def log_mel(spectrogram):
    bins = spectrogram.shape[-2]
    matrix = tf.signal.linear_to_mel_weight_matrix(8, bins, RATE, 20.0, 700.0)
    mel = tf.tensordot(tf.squeeze(spectrogram, -1), matrix, 1)
    mel.set_shape(spectrogram.shape[:-2].concatenate(matrix.shape[-1:]))
    return tf.signal.mfccs_from_log_mel_spectrograms(tf.math.log(mel + 1e-6))[..., :5]


for waveform, label in waveform_ds.take(1):
    label = label.numpy().decode('utf-8')
    spectrogram = get_spectrogram(waveform)
    print(label, waveform.shape, spectrogram.shape, log_mel(spectrogram).shape)
    log_spec = np.log(spectrogram.numpy().T + np.finfo(float).eps)
    back = tf.signal.inverse_stft(tf.cast(tf.squeeze(spectrogram, -1), tf.complex64), 128, 64)
    print(log_spec.shape, tf.reduce_max(back).numpy(), tf.signal.rfft(waveform).dtype)


def get_spectrogram_and_label_id(audio, label):
    spectrogram = get_spectrogram(audio)
    label_id = tf.argmax(label == commands)
    return spectrogram, label_id


spectrogram_ds = waveform_ds.map(get_spectrogram_and_label_id, AUTOTUNE)


def preprocess_dataset(files):
    files_ds = tf.data.Dataset.from_tensor_slices(files)
    output_ds = files_ds.map(get_waveform_and_label, AUTOTUNE)
    output_ds = output_ds.map(get_spectrogram_and_label_id, num_parallel_calls=AUTOTUNE)
    return output_ds


train_ds, val_ds = spectrogram_ds, preprocess_dataset(val_files)
train_ds = train_ds.batch(2).cache().prefetch(AUTOTUNE)
val_ds = val_ds.batch(2).cache().prefetch(AUTOTUNE)
for spectrogram, _ in spectrogram_ds.take(1):
    input_shape = spectrogram.shape
norm_layer = layers.Normalization()
norm_layer.adapt(data=spectrogram_ds.map(map_func=lambda spec, label: spec))
model = models.Sequential([
    layers.Input(shape=input_shape),
    layers.Resizing(8, 8),
    norm_layer,
    layers.Conv2D(4, 3, activation='relu'),
    layers.MaxPooling2D(),
    layers.Dropout(0.25),
    layers.Flatten(),
    layers.Dense(len(commands)),
])
model.compile(optimizer=tf.keras.optimizers.Adam(),
              loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=['accuracy'])
history = model.fit(train_ds, validation_data=val_ds, epochs=1, verbose=0,
                    callbacks=tf.keras.callbacks.EarlyStopping(verbose=0, patience=2))
y_pred = np.argmax(model.predict(val_ds, verbose=0), axis=1)
y_true = tf.concat([y for x, y in val_ds], axis=0)
print((y_pred == y_true.numpy()).mean(), tf.math.confusion_matrix(y_true, y_pred).numpy())


class ExportModel(tf.Module):
    def __init__(self, model):
        self.model = model
        self.__call__.get_concrete_function(x=tf.TensorSpec(shape=(), dtype=tf.string))
        self.__call__.get_concrete_function(x=tf.TensorSpec(shape=[None, RATE], dtype=tf.float32))

    @tf.function
    def __call__(self, x):
        if x.dtype == tf.string:
            x = tf.io.read_file(x)
            x, _ = tf.audio.decode_wav(x, desired_channels=1, desired_samples=RATE,)
            x = tf.squeeze(x, axis=-1)
            x = x[tf.newaxis, :]
        x = tf.map_fn(get_spectrogram, x)
        result = self.model(x, training=False)
        class_ids = tf.argmax(result, axis=-1)
        class_names = tf.gather(commands, class_ids)
        return {'predictions': result, 'class_ids': class_ids, 'class_names': class_names}


export = ExportModel(model)
print(export(tf.constant(str(data_dir/'no'/'0.wav')))['class_names'].numpy())
tf.io.gfile.rmtree(str(data_dir.parent))
