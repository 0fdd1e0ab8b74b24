import type { Era } from './eras.ts'
import type { DemoIdentity } from './identity.ts'
import type { World } from './world.ts'

const settings = 'minecraft:serversettings/'

/** The result of the status method. Like the game, it omits `players` if no players are online. */
function serverStatus(world: World, { era }: DemoIdentity) {
  const players = world.players()
  return {
    ...(players.length > 0 && { players: players.map(({ name, id }) => ({ id, name })) }),
    started: true,
    version: { name: era.version, protocol: era.protocol },
  }
}

/** In API 1.0.0 rules are strings with camel-case names, since 2.0.0 typed values with namespaced names. */
function gameRules(api: NonNullable<Era['management']>) {
  if (api === '1.0.0') {
    return [
      { key: 'doDaylightCycle', value: 'true', type: 'boolean' },
      { key: 'randomTickSpeed', value: '3', type: 'integer' },
    ]
  }
  return [
    { key: 'minecraft:advance_time', value: true, type: 'boolean' },
    { key: 'minecraft:random_tick_speed', value: 3, type: 'integer' },
  ]
}

/**
 * The read-only methods of the management API, each with the name of its result in the API description. Methods that change something
 * are not implemented, so that the demo is the same for every client.
 * @see https://minecraft.wiki/w/Minecraft_Server_Management_Protocol
 */
export function managementMethods(
  world: World,
  identity: DemoIdentity,
  api: NonNullable<Era['management']>,
): ReadonlyMap<string, readonly [result: string, run: () => unknown]> {
  const methods = new Map<string, readonly [result: string, run: () => unknown]>([
    ['minecraft:allowlist', ['allowlist', () => []]],
    ['minecraft:bans', ['banlist', () => []]],
    ['minecraft:ip_bans', ['banlist', () => []]],
    ['minecraft:operators', ['operators', () => []]],
    ['minecraft:gamerules', ['gamerules', () => gameRules(api)]],
    [`${settings}autosave`, ['enabled', () => true]],
    [`${settings}difficulty`, ['difficulty', () => identity.difficulty.toLowerCase()]],
    [`${settings}enforce_allowlist`, ['enforced', () => false]],
    [`${settings}use_allowlist`, ['used', () => false]],
    [`${settings}max_players`, ['max', () => world.maxPlayers]],
    [`${settings}pause_when_empty_seconds`, ['seconds', () => world.pauseWhenEmpty]],
    [`${settings}player_idle_timeout`, ['seconds', () => 0]],
    [`${settings}allow_flight`, ['allowed', () => false]],
    [`${settings}motd`, ['message', () => identity.motd]],
    [`${settings}spawn_protection_radius`, ['radius', () => 16]],
    [`${settings}force_game_mode`, ['forced', () => false]],
    [`${settings}game_mode`, ['mode', () => 'survival']],
    [`${settings}view_distance`, ['distance', () => 10]],
    [`${settings}simulation_distance`, ['distance', () => 10]],
    [`${settings}accept_transfers`, ['accepted', () => false]],
    [`${settings}status_heartbeat_interval`, ['seconds', () => 0]],
    [`${settings}operator_user_permission_level`, ['level', () => 4]],
    [`${settings}hide_online_players`, ['hidden', () => false]],
    [`${settings}status_replies`, ['enabled', () => true]],
    [`${settings}entity_broadcast_range`, ['percentage_points', () => 100]],
    ['minecraft:players', ['players', () => world.players().map(({ name, id }) => ({ id, name }))]],
    ['minecraft:server/status', ['status', () => serverStatus(world, identity)]],
    ['rpc.discover', ['OpenRPC Schema', describe]],
  ])
  function describe() {
    const described = [...methods].map(([name, [result]]) => ({ name, params: [], result: { name: result, schema: {} } }))
    const info = { title: 'Minecraft Server JSON-RPC', version: api }
    return { openrpc: '1.3.2', info, methods: described, components: { schemas: {} } }
  }
  return methods
}
