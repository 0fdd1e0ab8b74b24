import { randomBytes } from 'node:crypto'
import { constants, copyFile, stat } from 'node:fs/promises'
import net from 'node:net'
import { join } from 'node:path'
import {
  decodeProperties,
  isOn,
  type Properties,
  parseProperties,
  portIn,
} from '../../game/sources/directory/server-properties.ts'
import { defaultPorts } from '../../util/address.ts'
import { writeAtomic } from '../../util/files.ts'
import { readProperties } from './find-servers.ts'

const maxBackups = 100
const passwordBytes = 24

/** Whether RCON is on, with a password. */
export const hasRcon = (properties: Properties): boolean =>
  isOn(properties, 'enable-rcon') && Boolean(properties.get('rcon.password'))

const isFree = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const server = net.createServer()
    server.once('error', () => resolve(false))
    server.listen(port, () => server.close(() => resolve(true)))
  })

/** A port for RCON: the given one unless something else listens there, or a server that was set up before has it. */
async function choosePort(first: number, used: Set<number>): Promise<number> {
  let port = first
  while (port < 65_535 && (used.has(port) || !(await isFree(port)))) port++
  used.add(port)
  return port
}

/** Copies a file beside itself, under a name that is not taken. */
async function backUp(path: string): Promise<string> {
  for (let count = 1; ; count++) {
    const backup = `${path}.backup${count === 1 ? '' : `-${count}`}`
    try {
      await copyFile(path, backup, constants.COPYFILE_EXCL)
      return backup
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST' || count >= maxBackups) throw error
    }
  }
}

/**
 * Replaces properties in the text of a file and keeps everything else, such as comments and line ends. One in an unusual form may
 * stay: the last value of a property counts, and the game writes the file anew.
 */
export function setProperties(text: string, values: Readonly<Record<string, string>>): string {
  const end = text.includes('\r\n') ? '\r\n' : '\n'
  const names = Object.keys(values).map((name) => name.replaceAll('.', '\\.'))
  // A line after a backslash belongs to the line before it.
  // recheck: alternatives of literal texts
  const property = new RegExp(
    `(?<![^\\r\\n]|\\\\\\r?\\n)[ \\t]*(?:${names.join('|')})[ \\t]*[=:](?:\\\\(?:\\r\\n|[^])|[^\\\\\\r\\n])*(?:\\r?\\n|$)`,
    'g',
  )
  const kept = text.replace(property, '')
  // An empty line ends one that continues after a backslash.
  const gap = kept === '' || /[^\\\r]\r?\n$/.test(kept) ? '' : end + end
  const added = Object.entries(values).map(([name, value]) => `${name}=${value}${end}`)
  return `${kept}${gap}${added.join('')}`
}

/**
 * Switches RCON on in the server.properties of a folder: with a random password unless there is one, on a free port.
 * @param used ports of servers that were set up before; the chosen one is added
 * @returns the path of the backup; undefined if RCON is on already
 * @throws Error of the system
 */
export async function enableRcon(folder: string, used: Set<number>): Promise<string | undefined> {
  const bytes = await readProperties(folder)
  if (bytes === undefined) throw new Error(`${join(folder, 'server.properties')} cannot be read`)
  const text = decodeProperties(bytes)
  const properties = parseProperties(text)
  if (hasRcon(properties)) {
    used.add(portIn(properties, 'rcon.port') ?? defaultPorts.rcon)
    return undefined
  }
  const path = join(folder, 'server.properties')
  const changed = setProperties(text, {
    'enable-rcon': 'true',
    'rcon.port': String(await choosePort(portIn(properties, 'rcon.port') ?? defaultPorts.rcon, used)),
    'rcon.password': properties.get('rcon.password') || randomBytes(passwordBytes).toString('base64url'),
    // Otherwise the operators would read every reply in their chat.
    'broadcast-rcon-to-ops': 'false',
  })
  const backup = await backUp(path)
  const isUtf8 = Buffer.from(text).equals(bytes)
  // It contains a password now, so that others must not read it; the owner and group stay, because the server may run as another user.
  const { mode } = await stat(path)
  await writeAtomic(path, Buffer.from(changed, isUtf8 ? 'utf8' : 'latin1'), { mode: mode & 0o770 })
  return backup
}
