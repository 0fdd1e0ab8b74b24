import { drawIcon } from './icon.ts'
import type { DemoIdentity } from './identity.ts'
import { createRandom } from './random.ts'
import type { DemoPlayer } from './roster.ts'
import type { World } from './world.ts'

const sampleSize = 12
/** What the game shows of a player who does not want to be listed. */
const anonymous: DemoPlayer = { name: 'Anonymous Player', id: '00000000-0000-0000-0000-000000000000' }

/** Some of the players, in an order that says nothing: what the game lets into the status. */
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

/** The version as the software writes it into the status. */
export const versionName = ({ era, software }: DemoIdentity): string =>
  software === 'paper' ? `Paper ${era.version}` : era.version

/** Makes the status JSON, which lists the players of this moment. */
export function createStatusJson(world: World, identity: DemoIdentity): () => string {
  const favicon = `data:image/png;base64,${drawIcon().toString('base64')}`
  const { era, motd, hiddenPlayers } = identity
  return () => {
    const players = world.players()
    const shown = players.map((player, index) => (index < hiddenPlayers ? anonymous : player))
    return JSON.stringify({
      description: era.plainDescription ? motd : { text: motd },
      players: { max: world.maxPlayers, online: players.length, sample: sample(shown, world.gameTime()) },
      version: { name: versionName(identity), protocol: era.protocol },
      favicon,
      ...(era.secureChat && { enforcesSecureChat: true }),
      ...loaderPart(identity),
    })
  }
}
