import type { DemoIdentity } from './identity.ts'
import type { World } from './world.ts'

const dayLength = 24_000
/** Protocol of 1.16.5: older versions of Paper have no `/mspt`. */
const paperMsptSince = 754
/** Protocol of 1.20.6: before that, Bukkit replied to unknown commands with its own message. */
const paperVanillaErrors = 766

/**
 * Implements the read-only commands as in the given version and software. Any other command is unknown. The texts are those of
 * `TickCommand`, of `/tps` and `/mspt` in Paper, and of `/forge tps` and `/neoforge tps`.
 * @returns a function that returns the reply to a command: all its messages, joined without a separator
 */
export function createCommandLine(world: World, identity: DemoIdentity): (command: string) => string {
  const { era, software, decimalComma } = identity
  const decimals = (value: number, digits: number) => value.toFixed(digits).replace('.', decimalComma ? ',' : '.')

  function list(uuids: boolean): string {
    const players = world.players()
    const names = players.map(({ name, id }) => (uuids ? `${name} (${id})` : name)).join(', ')
    return era.list(players.length, world.maxPlayers, names)
  }

  function tickQuery(texts: NonNullable<typeof era.tick>): string {
    const { frozen, sprinting } = world.state()
    const times = world.tickTimes()
    const mean = times.summary(100).mean
    const target = 1000 / world.targetRate
    const sorted = times.sorted()
    const percentile = (part: number) => decimals(sorted[Math.floor(sorted.length * part)] ?? 0, 1)
    const tail = `Percentiles: P50: ${percentile(0.5)}ms P95: ${percentile(0.95)}ms P99: ${percentile(0.99)}ms${texts.sample}${sorted.length}`
    const rate = decimals(world.targetRate, 1)
    const average = `Average time per tick: ${decimals(mean, 1)}ms`
    if (sprinting)
      return `The game is sprintingTarget tick rate: ${rate} per second (ignored, reference only).\n${average}${tail}`
    const running = mean > target ? "The game is running, but can't keep up with the target tick rate" : texts.running
    const state = frozen ? 'The game is frozen' : running
    return `${state}Target tick rate: ${rate} per second.\n${average} (Target: ${decimals(target, 1)}ms)${tail}`
  }

  function time(command: string): string {
    const subject = command.slice('time query '.length)
    const day = Math.floor(world.dayTime() / dayLength)
    const timeOfDay = world.dayTime() % dayLength
    if (!era.clocks) {
      const values = { gametime: world.gameTime(), daytime: timeOfDay, day }
      const value = Object.hasOwn(values, subject) ? values[subject as keyof typeof values] : undefined
      return value === undefined ? era.wrongArgument(command, 'time query '.length) : era.time(value)
    }
    if (subject === 'gametime') return `The game time is ${world.gameTime()} tick(s)`
    if (subject === 'time') return `Clock minecraft:overworld is at ${world.dayTime()} tick(s)`
    if (subject === 'day') return `Timeline minecraft:day is at ${timeOfDay} tick(s)`
    if (subject === 'day repetition') return `Timeline minecraft:day has passed ${day} repetition(s)`
    return era.wrongArgument(command, 'time query '.length)
  }

  function version(pack: NonNullable<typeof era.pack>): string {
    const { version: name, data, protocol } = era
    const lines = [
      `id = ${name}`,
      `name = ${name}`,
      `data = ${data}`,
      'series = main',
      `protocol = ${protocol} (0x${protocol.toString(16)})`,
      `build_time = ${pack.built}`,
      `pack_resource = ${pack.resource}`,
      `pack_data = ${pack.data}`,
      'stable = yes',
    ]
    return `Server version info:${lines.join('')}`
  }

  function paperTps(): string {
    const rates = [60, 300, 900].map((seconds) => {
      const rate = world.rate(seconds)
      const colour = rate > 18 ? '§a' : rate > 16 ? '§e' : '§c'
      const shown = Math.min(Math.round(rate * 100) / 100, 20)
      return `${colour}${rate > 21 ? '*' : ''}${Number.isInteger(shown) ? shown.toFixed(1) : shown}`
    })
    return `§6TPS from last 1m, 5m, 15m: ${rates.join('§r, ')}\n`
  }

  function paperMspt(): string {
    const windows = [100, 200, 1200].map((ticks) => {
      const { mean, min, max } = world.tickTimes().summary(ticks)
      const shown = [mean, min, max].map((value) => `${value >= 50 ? '§c' : value >= 40 ? '§e' : '§a'}${decimals(value, 1)}`)
      return shown.join('§7/')
    })
    return `§6Server tick times §e(§7avg§e/§7min§e/§7max§e)§6 from last 5s§7,§6 10s§7,§6 1m§e:\n§6◴ ${windows.join('§e, ')}\n`
  }

  /** As in a real world, the overworld takes most of the tick time. */
  function dimensions(): readonly { name: string; id: string; old: string; mean: number }[] {
    const { mean } = world.tickTimes().summary(100)
    return [
      { name: 'Overworld', id: 'minecraft:overworld', old: '0 (overworld)', mean: mean * 0.7 },
      { name: 'The Nether', id: 'minecraft:the_nether', old: '-1 (the_nether)', mean: mean * 0.2 },
      { name: 'The End', id: 'minecraft:the_end', old: '1 (the_end)', mean: mean * 0.05 },
    ]
  }

  const cappedRate = (mean: number) => decimals(Math.min(world.targetRate, 1000 / Math.max(mean, 0.001)), 3)

  function forgeTps(): string {
    const line = (name: string, mean: number) => `${name}: Mean tick time: ${decimals(mean, 3)} ms. Mean TPS: ${cappedRate(mean)}`
    const each = dimensions().map(({ id, old, mean }) => line(`Dim ${era.version === '1.12.2' ? old : `${id} (${id})`}`, mean))
    return [...each, line('Overall', world.tickTimes().summary(100).mean)].join('')
  }

  function neoforgeTps(): string {
    const line = (name: string, mean: number) => `${name}: ${cappedRate(mean)} TPS (${decimals(mean, 3)} ms/tick)`
    const each = dimensions().map(({ name, mean }) => line(name, mean))
    return [...each, line('Overall', world.tickTimes().summary(100).mean)].join('')
  }

  const paperVersion = `This server is running Paper version ${era.version} (MC: ${era.version}) (Implementing API version ${era.version}-R0.1-SNAPSHOT)\n`

  return (line) => {
    const given = line.trim().replace(/^\//, '')
    const command = software === 'paper' ? given.replace(/^minecraft:/, '') : given
    if (command === 'list' || command === 'list uuids') return list(command !== 'list')
    if (command.startsWith('list ')) return era.wrongArgument(command, 5)
    if (command === 'tick query' && era.tick) return tickQuery(era.tick)
    if (command.startsWith('time query ')) return time(command)
    if (command === 'difficulty' && era.reportsDifficulty) return 'The difficulty is Normal'
    if (command === 'difficulty') return 'Usage: /difficulty <new difficulty>'
    if (software === 'paper' && given === 'version') return paperVersion
    if (command === 'version' && era.pack) return version(era.pack)
    if (software === 'paper' && command === 'tps') return paperTps()
    if (software === 'paper' && command === 'mspt' && era.protocol >= paperMsptSince) return paperMspt()
    if (software === 'forge' && command === 'forge tps') return forgeTps()
    if (software === 'neoforge' && command === 'neoforge tps') return neoforgeTps()
    if (software === 'paper' && era.protocol < paperVanillaErrors) return 'Unknown command. Type "/help" for help.\n'
    return era.unknown(command)
  }
}
