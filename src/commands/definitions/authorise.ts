import { musicServices } from '../../data/scripts/names.ts'
import { type Command, wrongUsage } from '../command.ts'
import { settingsOf } from './settings.ts'

export const authorise: Command = {
  name: 'authorise',
  summary: 'get the Spotify refresh token or the Last.fm session key for likedsongs',
  args: [{ name: 'service', choices: musicServices }],
  ...settingsOf,
  codes: { 0: 'stored', 1: 'failed', ...wrongUsage, 4: 'not configured' },
  examples: [{ line: 'tickwarden authorise lastfm', meaning: 'asks in the terminal' }],
  async run(call) {
    const [{ runAuthorise }, { createPrompt }, { configOf }] = await Promise.all([
      import('../authorise.ts'),
      import('../prompt.ts'),
      import('../load-config.ts'),
    ])
    const service = musicServices.find((name) => name === call.args[0]) ?? musicServices[0]
    const { readLine, close } = createPrompt(process.stdin, process.stdout)
    try {
      const io = { print: console.log, readLine, signal: call.stop }
      return await runAuthorise(service, configOf(call, { watches: false }), io)
    } finally {
      close()
    }
  },
}
