import { expect, it } from 'vitest'
import { parseVersionName } from '../../../src/game/protocol/version-name.ts'

it.each([
  ['1.21.11', { version: '1.21.11' }],
  ['1.8', { version: '1.8' }],
  ['26.1', { version: '26.1' }],
  ['26.1.2', { version: '26.1.2' }],
  ['26.1-snapshot-3', { version: '26.1-snapshot-3' }],
  ['1.21.11-pre3', { version: '1.21.11-pre3' }],
  ['1.21-rc1', { version: '1.21-rc1' }],
  ['1.19.4 Pre-release 1', { version: '1.19.4 Pre-release 1' }],
  ['1.21.11 Pre-Release 3', { version: '1.21.11 Pre-Release 3' }],
  ['Paper 1.21.11 Release Candidate 1', { version: '1.21.11 Release Candidate 1', software: 'Paper' }],
  ['26.1 Snapshot 10', { version: '26.1 Snapshot 10' }],
  ['25w14a', { version: '25w14a' }],
  ['Paper 1.21.11', { version: '1.21.11', software: 'Paper' }],
  ['Spigot 1.8.8', { version: '1.8.8', software: 'Spigot' }],
  ['CraftBukkit 1.7.10', { version: '1.7.10', software: 'CraftBukkit' }],
  ['Purpur 26.1', { version: '26.1', software: 'Purpur' }],
  ['Velocity 1.7.2-1.21.11', { software: 'Velocity', proxy: true, acceptedVersions: '1.7.2-1.21.11' }],
  ['BungeeCord 1.8.x-1.21.x', { software: 'BungeeCord', proxy: true, acceptedVersions: '1.8.x-1.21.x' }],
  ['Waterfall 1.8.x, 1.9.x, 1.21.x', { software: 'Waterfall', proxy: true, acceptedVersions: '1.8.x, 1.9.x, 1.21.x' }],
  ['Folia 1.21.11', { version: '1.21.11', software: 'Folia' }],
  ['Pumpkin 26.1', { version: '26.1', software: 'Pumpkin' }],
  ['Cuberite 1.12.2', { version: '1.12.2', software: 'Cuberite' }],
  ['Waterfall 1.20', { version: '1.20', software: 'Waterfall', proxy: true }],
  ['Requires MC 1.8 / 1.21', {}],
  ['Requires 1.21.4', { version: '1.21.4' }],
  ['1.8.x, 1.9.x', {}],
  ['1.8, 1.9, 1.20', {}],
  ['Velocity 3.4.0', { software: 'Velocity', proxy: true }],
  ['Join us at 10.30.20.1', {}],
  ['Maintenance', {}],
  ['', {}],
])('%j', (name, expected) => {
  expect(parseVersionName(name)).toEqual(expected)
})
