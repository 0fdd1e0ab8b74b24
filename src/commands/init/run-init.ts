import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { parseEnv } from 'node:util'
import { loadConfig } from '../../config/config.ts'
import { settingsOfServer, slices } from '../../config/settings.ts'
import { duration, hostPort } from '../../settings/kinds/index.ts'
import type { Texts } from '../../settings/read.ts'
import { readText, type UnreadableFileError } from '../../settings/read-text.ts'
import { environmentOf } from '../../settings/setting.ts'
import { formatHostPort, formatServerAddress } from '../../util/address.ts'
import { escapeControls } from '../../util/escape-controls.ts'
import { writeAtomic } from '../../util/files.ts'
import { commandName } from '../../util/package.ts'
import { UsageError } from '../../util/usage-error.ts'
import { pollAll } from '../check/poll-all.ts'
import { type Call, flagValue } from '../command.ts'
import { secretsFor, serverOf } from '../status/full-look.ts'
import { parseTarget } from '../status/look.ts'
import { enableRcon, hasRcon } from './enable-rcon.ts'
import { canBeComposed, type Extra, filesFor, isSecretFile, type NewFile } from './files.ts'
import { findServers, foldersWithin, isFolder, nameServers, type PlannedServer, propertiesIn } from './find-servers.ts'
import { containerUser, hiddenFromContainer, pathsOf, pathsToRead } from './readable.ts'

type Questions = typeof import('./questions.ts')['questions']

const extras: readonly Extra[] = ['compose', 'systemd', 'prometheus']

/** The settings of a server that was named. @throws UsageError */
async function settingsOfNamed(text: string): Promise<readonly Texts[]> {
  if (await isFolder(text)) {
    const folders = await foldersWithin([text])
    if (folders.length === 0) throw new UsageError(`${JSON.stringify(text)} is a folder without server.properties`)
    return folders.map((folder) => ({ MC_DIRECTORY: folder }))
  }
  const target = parseTarget(text)
  if (target === undefined || text.includes('/') !== text.includes('://'))
    throw new UsageError(
      `${JSON.stringify(text)} is neither an address nor a folder; expected host or host:port, optionally after bedrock://`,
    )
  const [address] = target.addresses
  return [{ MC_SERVER: formatServerAddress(address) }]
}

/** The servers on the command line, those found, and those that the user names. */
async function chooseServers(call: Call, ask: Questions | undefined): Promise<readonly PlannedServer[]> {
  const named = (await Promise.all(call.args.map(settingsOfNamed))).flat()
  if (named.length > 0) return nameServers(named.map((one, index) => (index === 0 ? { ...one, ...call.settings } : one)))
  const found = await findServers(call.stop)
  if (ask === undefined) return found
  const chosen = found.length === 0 ? [] : await ask.chooseServers(found)
  const all = chosen.map(({ settings }) => settings)
  for (;;) {
    const check = (text: string) => {
      if (text === '') return all.length === 0 ? 'At least one server is needed' : undefined
      return parseTarget(text) === undefined && !existsSync(text) ? 'Neither an address nor a folder' : undefined
    }
    const text = await ask.askServer(check, all.length === 0)
    if (text === '') return nameServers(all)
    all.push(...(await settingsOfNamed(text)))
  }
}

const hostPortProblem = (text: string): string | undefined =>
  text === '' || hostPort(25575).parse(text) !== undefined ? undefined : 'Expected host or host:port'

/** Switches RCON on if it was told to, or adds the RCON that the user names. */
async function addRcon(
  server: PlannedServer,
  {
    call,
    ask,
    usedPorts,
    changed,
    print,
  }: {
    call: Call
    ask: Questions | undefined
    usedPorts: Set<number>
    /** Receives the files that were changed. */
    changed: string[]
    print: (text: string) => void
  },
): Promise<PlannedServer> {
  const folder = server.settings.MC_DIRECTORY
  if (folder !== undefined) {
    const file = join(folder, 'server.properties')
    if (hasRcon(await propertiesIn(folder))) return server
    if (!call.flags['enable-rcon'] && !(await ask?.mayEnableRcon(file))) return server
    const backup = await enableRcon(folder, usedPorts)
    if (backup === undefined) return server
    changed.push(`${file} (backup: ${backup})`)
    print(
      escapeControls(
        `RCON is on in ${file} (backup: ${backup}). Restart this Minecraft server; keep its RCON port behind the firewall.`,
      ),
    )
    return server
  }
  if (ask === undefined || server.settings.MC_RCON !== undefined || server.settings.MC_SERVER?.startsWith('bedrock://'))
    return server
  const address = await ask.askRcon(hostPortProblem)
  if (address === '') return server
  return { ...server, settings: { ...server.settings, MC_RCON: address, MC_RCON_PASSWORD: await ask.askPassword() } }
}

/** The variables about the first server and the service that are not written to .env: there, they take precedence over tickwarden.yaml. */
function variablesBefore(first: PlannedServer | undefined): readonly string[] {
  const others = settingsOfServer.filter(({ env, secret }) => !(secret && first?.settings[env] !== undefined))
  return [...others.flatMap(environmentOf), slices.listen.host.env, slices.listen.port.env]
}

/** More than all files together. */
const probeBytes = 64 * 1024

/** Checks that these files can be written to the working directory, before anything is changed. @throws Error if they cannot */
async function checkPlanned(names: readonly string[]): Promise<void> {
  for (const name of names) {
    if (await isFolder(name)) throw new Error(`${name} cannot be written: it is a folder.`)
    const parent = dirname(name)
    if (existsSync(parent) && !(await isFolder(parent))) throw new Error(`${name} cannot be written: ${parent} is a file.`)
  }
  let folder: string | undefined
  try {
    folder = await mkdtemp('.tickwarden-')
    await writeFile(join(folder, 'probe'), Buffer.alloc(probeBytes))
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    const reason = `files cannot be written to ${resolve('.')} (${code})`
    const advice = code === 'ENOSPC' ? 'The disk is full.' : 'Run the command in another folder.'
    throw new Error(`Nothing was changed: ${reason}. ${advice}`, { cause: error })
  } finally {
    if (folder !== undefined) await rm(folder, { recursive: true })
  }
}

/** The text of `.env`, empty if there is none: a folder of that name is often a Python virtual environment. @throws UsageError */
function readEnv(): string {
  try {
    return readText('.env')
  } catch (error) {
    const { code, message } = error as UnreadableFileError
    if (code === 'ENOENT' || code === 'EISDIR') return ''
    throw new UsageError(`.env cannot be read (${message})`)
  }
}

/** Writes the files, each as a whole. @throws Error of the system, with the name of the file */
async function write(files: readonly NewFile[]): Promise<void> {
  for (const { name, text, isSecret, isMounted } of files) {
    const folder = dirname(resolve(name))
    await mkdir(folder, { recursive: true, mode: isSecret ? 0o700 : 0o755 })
    // A folder that was there before may be for others too.
    const isClosed = isMounted && ((await stat(folder)).mode & 0o077) === 0
    await writeAtomic(name, text, { mode: isSecret && !isClosed ? 0o600 : 0o644 }).catch((error: Error) => {
      throw new Error(`${name} cannot be written: ${error.message}`, { cause: error })
    })
  }
}

/** The files of secrets that were written before and are not used now. @param used paths */
async function findUnusedSecrets(used: readonly string[]): Promise<readonly string[]> {
  const names = await readdir('secrets').catch(() => [])
  return names.flatMap((name) => {
    const file = join('secrets', name)
    return isSecretFile(name) && !used.includes(resolve(file)) ? [file] : []
  })
}

/**
 * `tickwarden init`: chooses servers, tests them and writes the configuration.
 * @returns 0 if every source of every server works; 1 if one fails, or no server was found
 * @throws UsageError, also for files that exist, before anything is changed; any error names the server.properties that were changed
 */
export async function runInit(call: Call): Promise<number> {
  const changed: string[] = []
  try {
    return await setUp(call, changed)
  } catch (error) {
    if (error instanceof Error && changed.length > 0)
      error.message += `${error.message.endsWith('.') ? '' : '.'} RCON stays on in ${escapeControls(changed.join(', '))}.`
    throw error
  }
}

/** @param changed receives the server.properties that were changed, with their backups */
async function setUp(call: Call, changed: string[]): Promise<number> {
  const isTerminal = process.stdin.isTTY === true && process.stdout.isTTY === true && !call.flags.yes
  const listen = flagValue(call, 'listen', hostPort(8080))
  const timeoutMs = flagValue(call, 'timeout', duration('50ms', '10m'))
  // A serial console has no size; without a width every character would have a line of its own.
  if (process.stdout.columns === 0) process.stdout.columns = 80
  const ask = isTerminal ? (await import('./questions.ts')).questions : undefined
  const print = ask?.print ?? ((text: string) => process.stdout.write(`${text}\n`))
  ask?.begin()
  const chosen = await chooseServers(call, ask)
  if (chosen.length === 0) {
    console.error(`No server was found on this machine. Name one: ${commandName} init mc.example.org`)
    return 1
  }
  const given = extras.filter((extra) => call.flags[extra])
  const [first, ...others] = chosen
  const withSecrets = first && { ...first, settings: { ...secretsFor(call.settings), ...first.settings } }
  const plan = withSecrets === undefined ? [] : [withSecrets, ...others]
  for (const server of plan) serverOf(server.settings)
  const refuse = async (files: readonly NewFile[]) => {
    const names = files.map(({ name }) => name).filter((name) => existsSync(name))
    if (names.length === 0 || call.flags.force) return
    if (ask === undefined) throw new UsageError(`already there: ${names.join(', ')}; --force replaces what exists`)
    if (!(await ask.mayReplace(names))) throw new Error('No configuration was written.')
  }
  const planned = filesFor(plan, { listen, extras: new Set(given), existingEnv: readEnv() })
  // Without questions all is known, so that nothing is changed if a file exists.
  if (ask === undefined) await refuse(planned)
  await checkPlanned(planned.map(({ name }) => name))

  const usedPorts = new Set<number>()
  const servers: PlannedServer[] = []
  let isOk = true
  for (const server of plan) {
    const complete = await addRcon(server, { call, ask, usedPorts, changed, print })
    servers.push(complete)
    const polled = { ...serverOf(complete.settings), name: server.name }
    isOk = (await pollAll([polled], { timeoutMs, stop: call.stop, print })) && isOk
  }
  const offered = extras.filter((extra) => extra !== 'compose' || canBeComposed())
  const wanted = new Set(ask === undefined || given.length > 0 ? given : await ask.chooseExtras(offered))
  const files = filesFor(servers, { listen, extras: wanted, existingEnv: readEnv() })
  if (ask !== undefined) await refuse(files)
  call.stop.throwIfAborted()
  await write(files)
  const env = parseEnv(readEnv())
  const overriding = variablesBefore(servers[0]).filter((name) => env[name])
  print(`Written: ${files.map(({ name }) => name).join(', ')}`)
  if (overriding.length > 0)
    print(`.env sets ${overriding.join(', ')} instead of tickwarden.yaml: remove from it what you do not want to keep.`)
  const unused = await findUnusedSecrets([...files.map(({ name }) => resolve(name)), ...servers.flatMap(pathsOf)])
  if (unused.length > 0) print(`Secrets that are not used any more: ${unused.join(', ')}. Delete them.`)
  const hidden = wanted.has('compose') ? hiddenFromContainer(pathsToRead(servers)) : []
  if (hidden.length > 0)
    print(
      `The user of the container (${containerUser}) cannot read ${escapeControls(hidden.join(', '))}: let it or a group, then run init again.`,
    )
  if (hiddenFromContainer(files.flatMap(({ name, isMounted }) => (isMounted ? [name] : []))).length > 0)
    print(
      'Others may use the folder secrets, so the container cannot read what is in it: chmod 700 secrets, then run init again.',
    )
  // What was written must be valid, whatever the environment of this shell is.
  const effective = formatHostPort(loadConfig({ file: 'tickwarden.yaml', env }))
  const next = `Next: ${commandName}, then open http://${effective.replace(/^(0\.0\.0\.0|\[::\]):/, 'localhost:')}`
  if (ask === undefined) print(next)
  else ask.end(next)
  return isOk ? 0 : 1
}
