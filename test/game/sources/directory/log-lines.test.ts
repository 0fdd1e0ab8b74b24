import { expect, it } from 'vitest'
import { parseLogLine } from '../../../../src/game/sources/directory/log-lines.ts'

const vanilla = '[12:34:56] [Server thread/INFO]: '

it.each([
  [`${vanilla}Starting minecraft server version 1.21.11`, { kind: 'version', version: '1.21.11' }],
  [`${vanilla}Starting minecraft server version 26.1 Snapshot 2`, { kind: 'version', version: '26.1 Snapshot 2' }],
  [
    '[12:34:56] [main/INFO]: Loading Minecraft 1.21.4 with Fabric Loader 0.16.9',
    { kind: 'loader', loader: 'Fabric', version: '0.16.9' },
  ],
  [
    '[12:34:56] [INFO]: Loading Minecraft 1.20.1 with Quilt Loader 0.20.0-beta.9',
    { kind: 'loader', loader: 'Quilt', version: '0.20.0-beta.9' },
  ],
  [
    '[12:34:56] [Server thread/INFO] [FML]: MinecraftForge v14.23.5.2860 Initialized',
    { kind: 'loader', loader: 'Forge', version: '14.23.5.2860' },
  ],
  [
    '[12Mar2025 12:34:56.789] [main/INFO] [cpw.mods.modlauncher.Launcher/MODLAUNCHER]: ModLauncher running: args [--launchTarget, forgeserver, --fml.forgeVersion, 47.2.0, --fml.mcVersion, 1.20.1]',
    { kind: 'loader', loader: 'Forge', version: '47.2.0' },
  ],
  [
    '[12Mar2025 12:34:56.789] [main/INFO] [cpw.mods.modlauncher.Launcher/MODLAUNCHER]: ModLauncher running: args [--launchTarget, forgeserver, --fml.forgeVersion, 47.1.106, --fml.mcVersion, 1.20.1, --fml.forgeGroup, net.neoforged]',
    { kind: 'loader', loader: 'NeoForge', version: '47.1.106' },
  ],
  [
    '[12Mar2025 12:34:56.789] [main/INFO] [cpw.mods.modlauncher.Launcher/MODLAUNCHER]: ModLauncher running: args [--fml.neoForgeVersion, 21.1.77, --fml.fmlVersion, 4.0.34]',
    { kind: 'loader', loader: 'NeoForge', version: '21.1.77' },
  ],
  [
    '[12:34:56 INFO]: This server is running Paper version 1.21.4-232-main@12d8fe0 (2025-06-09) (Implementing API version 1.21.4)',
    { kind: 'loader', loader: 'Paper', version: '232' },
  ],
  [
    '[12:34:56 INFO]: This server is running Purpur version git-Purpur-2062 (MC: 1.20.1) (Implementing API version 1.20.1)',
    { kind: 'loader', loader: 'Purpur', version: '2062' },
  ],
  ...[
    ['CraftBukkit', '4110-Spigot-3f9263b-5d34c0c', '4110'],
    ['CraftBukkit', 'git-Spigot-db6de12-18fbb24'],
    ['CraftBukkit', 'git-Bukkit-7019900'],
    ['CraftBukkit', 'git-Bukkit-1.7.2-R0.3-2-g85f5776-b3023jnks'],
    ['Mohist', '1.16.5-934', '934'],
    ['Mohist', '1.20.1-46ca7304'],
    ['Mohist', '1.18.2'],
    ['Paper', '26.1-15-main@12d8fe0', '15'],
    ['Arclight', 'arclight-1.20.1-1.0.6-4e94eb76', '1.0.6'],
  ].map(([loader, given, version]): [string, unknown] => [
    `${vanilla}This server is running ${loader} version ${given} (MC: 1.20.1) (Implementing API version 1.20.1-R0.1-SNAPSHOT)`,
    { kind: 'loader', loader, ...(version && { version }) },
  ]),
  [`${vanilla}Done (12.345s)! For help, type "help"`, { kind: 'started', seconds: 12.345 }],
  [`${vanilla}Done (12,345s)! For help, type "help"`, { kind: 'started', seconds: 12.345 }],
  [
    "[12:34:56] [Server thread/WARN]: Can't keep up! Is the server overloaded? Running 2034ms or 40 ticks behind",
    { kind: 'overload', ticks: 40 },
  ],
  [
    "[12:34:56] [Server thread/WARN]: Can't keep up! Did the system time change, or is the server overloaded? Running 2034ms behind, skipping 40 tick(s)",
    { kind: 'overload', ticks: 40 },
  ],
  [`${vanilla}Json-RPC Management connection listening on localhost:25585`, { kind: 'management', port: 25585 }],
  [`${vanilla}Alice joined the game\r`, { kind: 'joined', name: 'Alice' }],
  ['[12:34:56 INFO]: .BedrockBob left the game', { kind: 'left', name: '.BedrockBob' }],
  [`${vanilla}Bob (formerly known as Rob) joined the game`, { kind: 'joined', name: 'Bob' }],
  ['[12Mar2025 12:34:56.789] [Server thread/INFO] [minecraft/MinecraftServer]: Bob left the game', { kind: 'left', name: 'Bob' }],
  // Chat messages are not events.
  [`${vanilla}<Alice> Bob joined the game`, undefined],
  [`${vanilla}[Alice] Bob joined the game`, undefined],
  [`${vanilla}* Alice left the game`, undefined],
  [`${vanilla}<Alice> [12:34:56] [Server thread/INFO]: Bob left the game`, undefined],
  [`${vanilla}<Alice> Can't keep up! Is the server overloaded? Running 2034ms or 40 ticks behind`, undefined],
  [`${vanilla}<Alice> --fml.neoForgeVersion, 99.9.9`, undefined],
  [`${vanilla}<Alice> ModLauncher running: args [--fml.forgeVersion, 99.9.9]`, undefined],
  ['Bob joined the game', undefined],
  ['', undefined],
])('%s', (line, event) => {
  expect(parseLogLine(line)).toStrictEqual(event)
})
