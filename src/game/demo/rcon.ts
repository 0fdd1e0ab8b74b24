import type { Socket } from 'node:net'
import type { Clock } from '../../clock.ts'
import type { CommandLine } from './commands.ts'
import { type Listener, listenTcp } from './tcp.ts'
import type { World } from './world.ts'

const types = { reply: 0, command: 2, login: 3 } as const
/** What the game reads at once, and wants to be exactly one packet. */
const readSize = 1_460
const pieceSize = 4_096
/** For a client that has not logged in; one that has may stay as long as it likes. */
const patience = 15_000

function packet(id: number, type: number, body: string): Buffer {
  const text = Buffer.from(body)
  const bytes = Buffer.alloc(14 + text.length)
  bytes.writeInt32LE(10 + text.length, 0)
  bytes.writeInt32LE(id, 4)
  bytes.writeInt32LE(type, 8)
  text.copy(bytes, 12)
  return bytes
}

/** A reply in pieces of 4,096 UTF-16 units; one that is an exact multiple has no empty piece after it. */
function pieces(id: number, text: string): readonly Buffer[] {
  const count = Math.max(1, Math.ceil(text.length / pieceSize))
  return Array.from({ length: count }, (_, index) =>
    packet(id, types.reply, text.slice(index * pieceSize, (index + 1) * pieceSize)),
  )
}

export interface RconOptions {
  readonly password: string
  readonly world: World
  readonly clock: Clock
  readonly commandLine: CommandLine
  /** Told each command that is run. */
  readonly onCommand?: ((command: string) => void) | undefined
}

/**
 * RCON with the habits of the game's own server (`RconClient`), the awkward ones too: a read that is not exactly one
 * packet ends the connection, packets of an unknown type are answered by name, commands wait for the main thread.
 * @see https://minecraft.wiki/w/RCON
 */
export function listenRcon(
  host: string,
  port: number,
  { password, world, clock, commandLine, onCommand }: RconOptions,
): Promise<Listener> {
  function answer(socket: Socket): void {
    let loggedIn = false

    function run(id: number, command: string): void {
      // The game reads the next packet when it has answered this one; two that came meanwhile arrive as one read.
      socket.pause()
      world.whenFree(() => {
        if (socket.destroyed) return
        socket.resume()
        onCommand?.(command)
        for (const piece of pieces(id, commandLine(command))) socket.write(piece)
      })
    }

    const cancel = clock.after(patience, () => {
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

  return listenTcp(host, port, answer)
}
