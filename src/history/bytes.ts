export interface ByteWriter {
  uint8(value: number): void
  uint32(value: number): void
  float32(value: number): void
  float64(value: number): void
  /** A length and UTF-8. */
  text(value: string): void
  /** What was written. */
  done(): Buffer
}

export interface ByteReader {
  uint8(): number
  uint32(): number
  float32(): number
  float64(): number
  text(): string
}

/** Collects little-endian values in a buffer that grows. */
export function createByteWriter(): ByteWriter {
  let buffer = Buffer.alloc(1024)
  let length = 0
  const reserve = (bytes: number): number => {
    if (length + bytes > buffer.length) {
      const larger = Buffer.alloc(2 * (length + bytes))
      buffer.copy(larger, 0, 0, length)
      buffer = larger
    }
    length += bytes
    return length - bytes
  }
  return {
    uint8(value) {
      const at = reserve(1)
      buffer.writeUInt8(value, at)
    },
    uint32(value) {
      const at = reserve(4)
      buffer.writeUInt32LE(value, at)
    },
    float32(value) {
      const at = reserve(4)
      buffer.writeFloatLE(value, at)
    },
    float64(value) {
      const at = reserve(8)
      buffer.writeDoubleLE(value, at)
    },
    text(value) {
      const bytes = Buffer.from(value)
      const at = reserve(4 + bytes.length)
      buffer.writeUInt32LE(bytes.length, at)
      bytes.copy(buffer, at + 4)
    },
    done: () => buffer.subarray(0, length),
  }
}

/** Reads what a ByteWriter wrote; throws RangeError where there is less than expected. */
export function createByteReader(buffer: Buffer): ByteReader {
  let position = 0
  const advance = (bytes: number): number => {
    position += bytes
    return position - bytes
  }
  return {
    uint8: () => buffer.readUInt8(advance(1)),
    uint32: () => buffer.readUInt32LE(advance(4)),
    float32: () => buffer.readFloatLE(advance(4)),
    float64: () => buffer.readDoubleLE(advance(8)),
    text() {
      const length = buffer.readUInt32LE(advance(4))
      if (position + length > buffer.length) throw new RangeError('text is longer than what follows')
      return buffer.toString('utf8', advance(length), position)
    },
  }
}
