import { dnsServer } from '../../test/helpers/dns-server.ts'

// A separate process, so that it does not delay the lookups. Every name has one IPv4 address.
const delayMs = 20
const { address } = await dnsServer((_, type) => (type === 'A' ? [{ ttl: 30, data: '192.0.2.1' }] : []), delayMs)
process.send?.({ address })
process.on('disconnect', () => process.exit())
