import { flag, type ServerFamily } from './family.ts'

export const state: readonly ServerFamily[] = [
  {
    name: 'minecraft_up',
    type: 'gauge',
    help: '1 if the last poll reached the server, 0 if not.',
    labels: [],
    perPoll: true,
    read: ({ up }) => flag(up),
  },
  {
    name: 'minecraft_demo',
    type: 'gauge',
    help: 'Always 1, only of the built-in demo server: all values of the server are simulated.',
    labels: [],
    perPoll: true,
    read: ({ demo }) => flag(demo),
  },
  {
    name: 'minecraft_version_info',
    type: 'gauge',
    help: 'What the server runs, as labels; always 1, only while the server is up.',
    labels: ['version', 'protocol', 'software', 'loader', 'edition', 'transport'],
    perPoll: true,
    read({ up, fields }) {
      const { version, protocol, software, loader, edition, transport } = fields
      if (up !== true || (version ?? protocol ?? software ?? loader ?? edition) === undefined) return []
      const labels = [version, protocol, software, loader, edition, transport].map((field) => String(field?.value ?? ''))
      return [{ labels, value: 1 }]
    },
  },
]
