// A moving picture (APNG, which browsers and GitHub show) out of screenshots of one size: their compressed data, put behind each other.
import zlib from "node:zlib";

const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

/** `frames`: PNG files of one size and colour type, each with how long it is shown, in milliseconds. */
export function movingPicture(frames) {
  const [first] = frames;
  const header = chunksOf(first.png).find(({ type }) => type === "IHDR").data;
  const parts = [signature, chunk("IHDR", header), chunk("acTL", numbers(frames.length, 0))];
  let sequence = 0;
  frames.forEach(({ png, shown }, place) => {
    const own = chunksOf(png);
    if (!own.find(({ type }) => type === "IHDR").data.equals(header)) throw new Error("the frames differ in size");
    const size = header.subarray(0, 8);
    const delay = Buffer.from([shown >> 8, shown & 255, 1000 >> 8, 1000 & 255, 0, 0]);
    parts.push(chunk("fcTL", Buffer.concat([numbers(sequence++), size, numbers(0, 0), delay])));
    const data = Buffer.concat(own.filter(({ type }) => type === "IDAT").map((one) => one.data));
    parts.push(place === 0 ? chunk("IDAT", data) : chunk("fdAT", Buffer.concat([numbers(sequence++), data])));
  });
  return Buffer.concat([...parts, chunk("IEND", Buffer.alloc(0))]);
}

function chunksOf(png) {
  const found = [];
  for (let at = 8; at < png.length; ) {
    const length = png.readUInt32BE(at);
    found.push({ type: png.toString("latin1", at + 4, at + 8), data: png.subarray(at + 8, at + 8 + length) });
    at += length + 12;
  }
  return found;
}

function chunk(type, data) {
  const named = Buffer.concat([Buffer.from(type, "latin1"), data]);
  return Buffer.concat([numbers(data.length), named, numbers(checksum(named))]);
}

function numbers(...values) {
  const bytes = Buffer.alloc(4 * values.length);
  values.forEach((value, place) => bytes.writeUInt32BE(value >>> 0, 4 * place));
  return bytes;
}

/** PNG's CRC-32, which Node's zlib has only from version 22 on. */
function checksum(bytes) {
  if (zlib.crc32 !== undefined) return zlib.crc32(bytes);
  let crc = 0xffffffff;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit += 1) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
  }
  return (crc ^ 0xffffffff) >>> 0;
}
