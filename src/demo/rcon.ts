import { createServer, type Socket } from 'node:net'
import { createCommandLine } from './commands.ts'
import type { DemoOptions, Game } from './identity.ts'
import { type Listener, listen } from './listen.ts'

const types = { reply: 0, command: 2, login: 3 } as const
/** The game reads this many bytes at a time, and expects exactly one packet in them. */
const readSize = 1_460
const pieceSize = 4_096
/** A client that has not logged in within this many milliseconds is disconnected. */
const loginTimeoutMs = 15_000

function packet(id: number, type: number, body: string): Buffer {
  const text = Buffer.from(body)
  const bytes = Buffer.alloc(14 + text.length)
  bytes.writeInt32LE(10 + text.length, 0)
  bytes.writeInt32LE(id, 4)
  bytes.writeInt32LE(type, 8)
  text.copy(bytes, 12)
  return bytes
}

/** Splits a reply into pieces of 4,096 UTF-16 units. An exact multiple is not followed by an empty piece. */
function pieces(id: number, text: string): readonly Buffer[] {
  const count = Math.max(1, Math.ceil(text.length / pieceSize))
  return Array.from({ length: count }, (_, index) =>
    packet(id, types.reply, text.slice(index * pieceSize, (index + 1) * pieceSize)),
  )
}

/**
 * Serves RCON with the quirks of the game's own server (`RconClient`): a read that is not exactly one packet closes the connection,
 * packets of an unknown type are answered with their type, and commands wait for the main thread.
 * @see https://minecraft.wiki/w/RCON
 */
export function listenRcon(
  host: string,
  port: number,
  { world, identity, clock }: Game,
  password: string,
  onCommand: DemoOptions['onCommand'],
): Promise<Listener> {
  const commandLine = createCommandLine(world, identity)

  function answer(socket: Socket): void {
    let loggedIn = false

    function run(id: number, command: string): void {
      // The game reads the next packet after it has answered this one. Two packets that arrive in between are one read.
      socket.pause()
      world.whenFree(() => {
        if (socket.destroyed) return
        socket.resume()
        onCommand?.(command)
        for (const piece of pieces(id, commandLine(command))) socket.write(piece)
      })
    }

    const cancel = clock.after(loginTimeoutMs, () => {
      if (!loggedIn) socket.destroy()
    })
    socket.on('close', cancel)
    socket.on('data', (chunk) => {
      if (chunk.length < 10 || chunk.length > readSize || chunk.readInt32LE(0) !== chunk.length - 4) {
        socket.destroy()
        return
      }
      const id = chunk.readInt32LE(4)
      const type = chunk.readInt32LE(8)
      const end = chunk.indexOf(0, 12)
      const body = chunk.toString('utf8', 12, end === -1 ? chunk.length : end)
      if (type === types.login) {
        loggedIn = body !== '' && body === password
        socket.write(packet(loggedIn ? id : -1, types.command, ''))
      } else if (type !== types.command) {
        socket.write(packet(id, types.reply, `Unknown request ${(type >>> 0).toString(16)}`))
      } else if (loggedIn) {
        run(id, body)
      } else {
        socket.write(packet(-1, types.command, ''))
      }
    })
  }

  return listen(createServer({ noDelay: true }, answer), host, port)
}
