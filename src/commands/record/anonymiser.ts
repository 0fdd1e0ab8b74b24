import { isIP } from 'node:net'
import type { Player } from '../../game/protocol/player.ts'
import { normaliseUuid } from '../../game/protocol/uuid.ts'

/** Texts that must not be in a recording. */
export interface Identifying {
  readonly players: readonly Player[]
  /** Names and addresses of the server itself. */
  readonly hosts: readonly string[]
  readonly secrets: readonly string[]
}

const escaped = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')
/** A word, also one after a sign that may make its first letters a colour or style: `§a`, and `&a` and `#12ab34` of plugins. */
const word = /[§&#]?[\p{L}\p{N}_]+/gu
/** The start of a word, or the end of a colour code. */
const atStart = '(?:(?<=[§&].|#[0-9a-f]{6})|(?<![\\p{L}\\p{N}_]))'
/** What may stand before a name: nothing or one sign, or a whole colour code. Tried in this order. */
const starts = [/^[§&#]?/, /^(?:[§&].|#[0-9a-f]{6})/isu]
const isWord = (text: string): boolean => /^[\p{L}\p{N}_]+$/u.test(text)
/** A colour or style of a terminal, which ends with a letter: `ESC[31m`. Not after a line break, where `[m` may begin a name. */
const terminalStyle = /(\x1b\[[\d;:]*m)/

/**
 * Replaces each occurrence of the texts that is not part of a longer word, ignoring case, by the result of `found`. Single words are
 * looked up in a set, so that ten thousand names take no longer than ten.
 */
function createFinder(texts: readonly string[]): (text: string, found: (match: string) => string) => string {
  const given = [...new Set(texts)].filter((text) => text !== '')
  const words = new Set(given.filter(isWord).map((text) => text.toLowerCase()))
  const others = given.filter((text) => !isWord(text)).toSorted((a, b) => b.length - a.length)
  const alternatives = others.map(escaped).join('|')
  // recheck: alternatives of literal texts, for a recording that the user makes
  const other = others.length > 0 && new RegExp(`${atStart}(?:${alternatives})(?![\\p{L}\\p{N}_])`, 'giu')
  return (text, found) => {
    const rest = other ? text.replaceAll(other, found) : text
    if (words.size === 0) return rest
    return rest.replaceAll(word, (token) => {
      for (const start of starts) {
        const length = start.exec(token)?.[0].length ?? 0
        const own = token.slice(length)
        if (words.has(own.toLowerCase())) return token.slice(0, length) + found(own)
      }
      return token
    })
  }
}

const uuid = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/gi
const plainUuid = /(?:(?<=[§&].|#[0-9a-f]{6})|(?<![0-9a-f]))[0-9a-f]{32}(?![0-9a-f])/gi
/** Four integers of 32 bits, as a UUID is written in NBT. */
const intUuid = /\[I;\s*-?\d{1,10}(?:\s*,\s*-?\d{1,10}){3}\s*\]/gi
const nilUuid = '00000000-0000-0000-0000-000000000000'
const ipv4 = /(?:(?<=[§&].|#[0-9a-f]{6})|(?<![\d.]))\d{1,3}(?:\.\d{1,3}){3}(?!\.?\d)/gi
const ipv6 = /(?:(?<=[§&].|#[0-9a-f]{6})|(?<![\w:]))(?:[0-9a-f]{0,4}:){2,7}[0-9a-f]{0,4}(?![\w:])/gi
const domain =
  /(?:(?<=[§&].|#[0-9a-f]{6})|(?<![\p{L}\p{N}_.§-]))(?:[\p{L}\p{N}_-]+\.)+(?:\p{L}{2,}|xn--[a-z0-9-]+)(?![\p{L}\p{N}_-])/giu

/** Whether a text is not identifying: a reserved example name, a loopback address or the nil UUID. */
const isHarmless = (text: string): boolean =>
  /(^|\.)example\.(org|com|net)$/i.test(text) || ['127.0.0.1', '0.0.0.0', '::1', '::', nilUuid].includes(text)

/** Replaces texts by numbered ones in order of appearance, so that the result is reproducible. */
function numbered(format: (number: number) => string): (text: string) => string {
  const given = new Map<string, string>()
  return (text) => {
    const key = text.toLowerCase()
    if (isHarmless(key)) return text
    const before = given.get(key)
    if (before !== undefined) return before
    const replacement = format(given.size + 1)
    given.set(key, replacement)
    return replacement
  }
}

/** The name that a server sends for hidden players. */
const anonymous = 'Anonymous Player'

/** Host names of the server. Without its IP addresses, which are found by their form. */
const ownNames = (hosts: readonly string[]): readonly string[] =>
  hosts.filter((host) => isIP(host) === 0 && !isHarmless(host) && host !== 'localhost')

const padded = (number: number): string => String(number).padStart(12, '0')

/**
 * Replaces player names, UUIDs, host names, IP addresses and secrets in a text, consistently across texts. Favicons are
 * not changed.
 */
export function createAnonymiser({ players, hosts, secrets }: Identifying): (text: string) => string {
  const names = [...new Set(players.map(({ name }) => name))].filter((name) => name !== anonymous).toSorted()
  const byName = new Map(names.map((name, index) => [name.toLowerCase(), `Player${index + 1}`]))
  const replaceSecrets = createFinder(secrets)
  const replaceNames = createFinder(names)
  const replaceHosts = createFinder(ownNames(hosts))
  const toUuid = numbered((number) => `00000000-0000-4000-8000-${padded(number)}`)
  const toHost = numbered((number) => `host${number}.example.org`)
  const toAddress = numbered((number) => `192.0.2.${number}`)
  const toAddress6 = numbered((number) => `2001:db8::${number.toString(16)}`)
  const plainId = (text: string): string => toUuid(normaliseUuid(text) ?? nilUuid).replaceAll('-', '')
  const intId = (text: string): string => {
    const bytes = Buffer.alloc(16)
    for (const [index, [digits]] of [...text.matchAll(/-?\d+/g)].entries()) bytes.writeInt32BE(Number(digits) | 0, 4 * index)
    const replaced = Buffer.from(plainId(bytes.toString('hex')), 'hex')
    return `[I; ${[0, 4, 8, 12].map((at) => replaced.readInt32BE(at)).join(', ')}]`
  }
  const replacePart = (text: string): string => {
    let result = replaceSecrets(text, () => 'secret')
      .replaceAll(plainUuid, plainId)
      .replaceAll(uuid, toUuid)
      .replaceAll(intUuid, intId)
    result = replaceHosts(result, () => 'mc.example.org')
    result = result.replaceAll(ipv4, (address) => (isIP(address) === 4 ? toAddress(address) : address))
    result = result.replaceAll(ipv6, (address) => (isIP(address) === 6 ? toAddress6(address) : address))
    result = replaceNames(result, (name) => byName.get(name.toLowerCase()) ?? 'Player')
    return result.replaceAll(domain, toHost)
  }
  return (text) => {
    if (text.startsWith('data:image/')) return text
    // Each second part is a style.
    const parts = text.split(terminalStyle)
    return parts.map((part, index) => (index % 2 === 0 ? replacePart(part) : part)).join('')
  }
}

/** Replaces each string of a JSON document; all other bytes stay the same. @throws SyntaxError if it is not valid JSON */
export const replaceInJson = (json: string, replace: (text: string) => string): string =>
  json.replaceAll(/"(?:\\.|[^"\\])*"?/g, (literal) => {
    const text = JSON.parse(literal) as string
    const replaced = replace(text)
    return replaced === text ? literal : JSON.stringify(replaced)
  })

/**
 * Finds identifying texts that remain in bytes, in each encoding that servers use.
 * @returns a function that lists the secrets, hosts and names in them
 */
export function createLeakFinder({ players, hosts, secrets }: Identifying): (bytes: Buffer) => readonly string[] {
  const ids = players.flatMap(({ id }) => (id === undefined || id === nilUuid ? [] : [id, id.replaceAll('-', '')]))
  // Without names of one or two letters, which also match ordinary words.
  const names = players.map(({ name }) => name).filter((name) => name !== anonymous && name.length > 2)
  const addresses = hosts.filter((host) => isIP(host) !== 0 && !isHarmless(host))
  const find = createFinder([...secrets, ...ids, ...names, ...ownNames(hosts), ...addresses])
  return (bytes) => {
    const swapped = bytes.length % 2 === 0 ? Buffer.from(bytes).swap16().toString('utf16le') : ''
    const found: string[] = []
    for (const text of [bytes.toString('utf8'), bytes.toString('latin1'), swapped]) {
      find(text.split(terminalStyle).join(' '), (match) => {
        found.push(match)
        return match
      })
    }
    return found
  }
}
