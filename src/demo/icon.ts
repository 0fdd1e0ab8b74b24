import { crc32, deflateSync } from 'node:zlib'

/** A watchtower with a clock on grass, one letter per pixel. */
const picture = [
  'ssssssssssssssss',
  'ssssssssssssssss',
  'sssskkskkskkssss',
  'sssskkkkkkkkssss',
  'sssskggggggkssss',
  'ssskgwwwwwwgksss',
  'ssskgwwkwwwgksss',
  'ssskgwwkwwwgksss',
  'ssskgwwkrrwgksss',
  'ssskgwwwwwwgksss',
  'sssskggggggkssss',
  'sssskbbkkbbkssss',
  'sssskbbkkbbkssss',
  'llllllllllllllll',
  'eleelleeleelelle',
  'eeeeeeeeeeeeeeee',
]

const colours: Readonly<Record<string, readonly [number, number, number]>> = {
  s: [0x78, 0xa7, 0xff],
  k: [0x3b, 0x3b, 0x45],
  g: [0xe8, 0xb9, 0x3c],
  w: [0xf7, 0xf3, 0xe3],
  r: [0xc4, 0x32, 0x2b],
  b: [0x6b, 0x6b, 0x78],
  l: [0x5f, 0xa8, 0x3d],
  e: [0x86, 0x60, 0x43],
}

const side = 64

function chunk(type: string, data: Uint8Array): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data])
  const framed = Buffer.alloc(body.length + 8)
  framed.writeUInt32BE(data.length, 0)
  body.copy(framed, 4)
  framed.writeUInt32BE(crc32(body), body.length + 4)
  return framed
}

/** Draws the icon of the demo server, a 64x64 PNG. */
export function drawIcon(): Buffer {
  const scale = side / picture.length
  const rows = Array.from({ length: side }, (_, y) => {
    const letters = picture[Math.floor(y / scale)] ?? ''
    const pixels = Array.from({ length: side }, (_, x) => colours[letters[Math.floor(x / scale)] ?? ''] ?? [0, 0, 0])
    return Buffer.from([0, ...pixels.flat()])
  })
  const header = Buffer.alloc(13)
  header.writeUInt32BE(side, 0)
  header.writeUInt32BE(side, 4)
  header.set([8, 2, 0, 0, 0], 8)
  const signature = Buffer.from('89504e470d0a1a0a', 'hex')
  return Buffer.concat([
    signature,
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(Buffer.concat(rows))),
    chunk('IEND', Buffer.alloc(0)),
  ])
}
