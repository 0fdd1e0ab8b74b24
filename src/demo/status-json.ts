import type { DemoIdentity, Game } from './identity.ts'
import { createRandom } from './random.ts'
import type { DemoPlayer } from './roster.ts'

/** The icon of the demo server as base64: a watchtower with a clock on grass, a PNG of 64x64 pixels. */
const icon =
  'iVBORw0KGgoAAAANSUhEUgAAAEAAAABACAMAAACdt4HsAAAAGFBMVEVfqD3ouTw7O0V4p//38+OGYENra3jEMivO9RHBAAAACXBIWXMAAAsSAAALEgHS3X78AAAA' +
  'YUlEQVRYw+3VMRKAIAxE0aAi97+xMpOMwhgbut39DUnBK8H2xUwAJLB5fzMLkMUClCQGIC4fSV8IOtB3AQL63jxWgPE90L/wAKcXH+p7F4AJKLN6F2fM8z7Pw10Q' +
  'YCUA4AJaGC0xJSIyLgAAAABJRU5ErkJggg=='

const sampleSize = 12

/** Returns a random sample of the players in random order, like the game. */
function sample(players: readonly DemoPlayer[], seed: number): readonly DemoPlayer[] {
  const random = createRandom(seed)
  const rest = [...players]
  return Array.from({ length: Math.min(sampleSize, rest.length) }, () =>
    rest.splice(random.between(0, rest.length - 1), 1),
  ).flat()
}

function loaderPart({ era, software }: DemoIdentity): object {
  if (software === 'neoforge') return { isModded: true }
  if (software !== 'forge') return {}
  if (era.version === '1.12.2') return { modinfo: { type: 'FML', modList: [{ modid: 'minecraft', version: era.version }] } }
  const mods = [{ modId: 'minecraft', modmarker: era.version }]
  return { forgeData: { channels: [], mods, fmlNetworkVersion: 3, truncated: false } }
}

/** Returns the version name that the software sends in the status. */
const versionName = ({ era, software }: DemoIdentity): string => (software === 'paper' ? `Paper ${era.version}` : era.version)

/** Returns a function that creates the status JSON with the current players. */
export function createStatusJson({ world, identity }: Game): () => string {
  const favicon = `data:image/png;base64,${icon}`
  const { era, motd } = identity
  return () => {
    const players = world.players()
    return JSON.stringify({
      description: era.plainDescription ? motd : { text: motd },
      players: { max: world.maxPlayers, online: players.length, sample: sample(players, world.gameTime()) },
      version: { name: versionName(identity), protocol: era.protocol },
      favicon,
      ...(era.secureChat && { enforcesSecureChat: true }),
      ...loaderPart(identity),
    })
  }
}
