export interface ByteWriter {
  uint8(value: number): void
  uint16(value: number): void
  uint32(value: number): void
  float32(value: number): void
  float64(value: number): void
  /** Writes the length, then the bytes. */
  bytes(value: Uint8Array): void
  /** Returns everything written so far. */
  done(): Buffer
}

export interface ByteReader {
  uint8(): number
  uint16(): number
  uint32(): number
  float32(): number
  float64(): number
  bytes(): Buffer
}

/** Writes little-endian values to a growing buffer. */
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
    uint16(value) {
      const at = reserve(2)
      buffer.writeUInt16LE(value, at)
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
    bytes(value) {
      const at = reserve(4 + value.length)
      buffer.writeUInt32LE(value.length, at)
      buffer.set(value, at + 4)
    },
    done: () => buffer.subarray(0, length),
  }
}

/** Unknown values are written as NaN; infinite ones never. */
const finite = (value: number): number => (Number.isFinite(value) ? value : Number.NaN)

/** Reads values written by a ByteWriter. @throws RangeError at the end of the buffer */
export function createByteReader(buffer: Buffer): ByteReader {
  let position = 0
  const advance = (bytes: number): number => {
    position += bytes
    return position - bytes
  }
  return {
    uint8: () => buffer.readUInt8(advance(1)),
    uint16: () => buffer.readUInt16LE(advance(2)),
    uint32: () => buffer.readUInt32LE(advance(4)),
    float32: () => finite(buffer.readFloatLE(advance(4))),
    float64: () => finite(buffer.readDoubleLE(advance(8))),
    bytes() {
      const length = buffer.readUInt32LE(advance(4))
      if (position + length > buffer.length) throw new RangeError('the length exceeds the remaining bytes')
      return buffer.subarray(advance(length), position)
    },
  }
}
