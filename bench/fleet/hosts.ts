/** The address of a simulated server: every address of 127.0.0.0/8 is local (on Linux), so that one socket serves them all. */
export const hostOf = (index: number): string => `127.${1 + (index >> 16)}.${(index >> 8) & 255}.${index & 255}`

/** The number of the server that a client has connected to. */
export function indexOf(host: string): number {
  const [, a = 1, b = 0, c = 0] = host.split('.').map(Number)
  return ((a - 1) << 16) | (b << 8) | c
}
