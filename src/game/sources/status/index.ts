import { systemNetwork } from '../../network.ts'
import { formatHostPort, type ServerAddress } from '../../protocol/address.ts'
import { createPolls } from '../polls.ts'
import type { Source, SourceContext } from '../source.ts'
import { createJavaReader } from './java-status.ts'
import { createRakNetReader } from './raknet.ts'

/** The status that a server gives to everyone: by the Server List Ping of Java servers, the unconnected ping of Bedrock ones. */
export function createStatusSource(address: ServerAddress, context: SourceContext): Source {
  const { clock, network = systemNetwork } = context
  const target = formatHostPort(address)
  const polls = createPolls(target)
  const createReader = address.edition === 'bedrock' ? createRakNetReader : createJavaReader
  const read = createReader(address, context, network, context.phases?.timer('status'))

  return {
    name: 'status',
    target,
    poll: (signal) =>
      polls.run(signal, async (own) => {
        const fields = await read(own)
        return { source: 'status', at: clock.now(), fields }
      }),
    close: polls.close,
  }
}
